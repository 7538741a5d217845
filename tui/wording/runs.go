package wording

import (
	"fmt"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
)

// RunWords names the state of a run in a word or two: done, nothing to commit, failed.
func RunWords(s agent.Summary) string {
	switch {
	case s.Undone:
		return "undone"
	case s.Status == event.StatusCanceled:
		return "stopped"
	case s.Declined:
		return "declined"
	case s.Status != event.StatusCompleted:
		return untrusted.Line(string(s.Status))
	case s.Reason == event.ReasonPartial:
		return "partial"
	case s.Reason.Nothing():
		return ReasonWords(s.Reason)
	default:
		return "done"
	}
}

// RunEnd says how a run ended, how long it took, and what an undo restored. The run
// is over.
func RunEnd(r *agent.Run) string {
	words := EndWords(r, *r.Result)
	if r.Undone != nil {
		words += ", then " + UndoneWords(*r.Undone)
	}
	return words
}

// RunState names the state of a run, with the reason of a failure, what it waits for or
// what an undo restored.
func RunState(s agent.Summary) string {
	if s.Why != "" {
		return RunWords(s) + ": " + Excerpt(s.Why, 80)
	}
	if s.Status == agent.StatusWaiting {
		return "waiting for a worker"
	}
	if s.Restored > 0 {
		return RunWords(s) + ": " + english.Count(s.Restored, "file") + " restored"
	}
	if s.Status == event.StatusFailed && s.Reason != "" && !s.Undone && !s.Declined {
		return RunWords(s) + ": " + ReasonWords(s.Reason)
	}
	return RunWords(s)
}

// Interrupted says how far the newest run of a folder came before its program was killed,
// and which key resumes it. It is "" unless it can be resumed. The newest of runs comes
// first.
func Interrupted(runs []agent.Summary, folder untrusted.Text, key string) string {
	at := slices.IndexFunc(runs, func(s agent.Summary) bool { return s.Outer == "" && untrusted.Text(s.Workspace) == folder })
	if at < 0 {
		return ""
	}
	s := runs[at]
	if s.Status != agent.StatusUnfinished || !s.Resumable || s.Undone {
		return ""
	}
	when := "before its first step was done"
	if s.Done > 0 {
		when = fmt.Sprintf("after %d of %s", s.Done, english.Count(s.Steps, "step"))
	}
	return fmt.Sprintf("Run %s was interrupted %s. %s resumes it.", ShortID(s.Run), when, key)
}
