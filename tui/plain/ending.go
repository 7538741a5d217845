package plain

import (
	"strings"

	"replan/agent/event"
	"replan/internal/english"
	"replan/tui/telling"
)

// completed prints how a run ended, with its answer.
func (l *Log) completed(r event.Result) {
	if r.Answer != "" {
		l.line("")
		l.block("", r.Answer.Visible(), 0)
		if cut := telling.CutOffWords(l.run); cut != "" {
			l.line("%s %s", l.marks.note, cut)
		}
		l.line("")
	} else if r.Status == event.StatusCompleted && l.inset() == "" {
		l.results(r) // the answer covers the results of a run started by a call
	}
	if r.Unanswered != "" {
		l.line("%s the answer is missing; ask for it again: replan plan resume %s", l.marks.note, l.run.ID)
	}
	if r.Error != "" && r.Error != l.blocked {
		l.line("%s %s", l.marks.failed, r.Error.Line())
	}
	parts := []string{
		telling.Milliseconds(r.DurationMS), english.Count(r.Usage.Steps, "step"), english.Count(r.Usage.ToolCalls, "tool call"),
		english.Count(r.Usage.Replans, "replan"), english.Count(r.Usage.PromptTokens+r.Usage.CompletionTokens, "token"),
	}
	if l.run != nil && l.run.DryRun() {
		parts = append(parts, telling.NothingCalled)
	}
	l.line("%s: %s in %s", r.Status, r.Reason, strings.Join(parts, l.marks.between))
}

// results prints the results of a plan without a written answer: those that no
// other step used.
func (l *Log) results(r event.Result) {
	if r.Plan == nil {
		return
	}
	for _, s := range telling.UnusedResults(l.run) {
		l.line("%s result of %s %s", l.marks.started, s.Step.Index, s.Step.Title.Line())
		l.block("    ", indented(s.Result), outputShown)
	}
}
