package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Sentences that several places say in the same words.
const (
	NothingCalled = "dry run: nothing was called"
	ReviewWaits   = "the plan waits for review"
	PlanGate      = "the plan asks for a gate here too"
	UndoHint      = "; /undo restores the files that a run changed" // after agent.WithoutModel
)

// FailedWords says that a step failed, or that its call was denied, and why.
func FailedWords(step string, failure event.FailureKind, why untrusted.Text) string {
	verb := " failed: "
	if failure == event.FailureDenied {
		verb = " was "
	}
	return StepWords(step) + verb + Cause(why)
}

// CompactedWords says that old messages were summed up or shortened, or are back in
// the conversation.
func CompactedWords(d event.ChatCompacted) string {
	messages := english.Count(d.Turns, "message")
	switch {
	case d.Undone:
		return messages + " are back in the conversation"
	case d.ByRule:
		return messages + " shortened"
	default:
		return messages + " summarized"
	}
}

// ServerReady says that a server is ready, and how many tools it has.
func ServerReady(name string, tools int) string {
	return "the server " + untrusted.Line(name) + " is ready: " + english.Count(tools, "tool")
}

// ReasonWords explains why a run ended without success, or without a result.
func ReasonWords(r event.Reason) string {
	switch r {
	case event.ReasonStepFailed:
		return "a step did not succeed"
	case event.ReasonDenied:
		return "a call was denied"
	case event.ReasonRefuted:
		return "the plan's acceptance does not hold"
	case event.ReasonUnverified:
		return "not everything is verified"
	default:
		return strings.ReplaceAll(untrusted.Line(string(r)), "_", " ")
	}
}

// FailureReason says why a run failed. That is the line of the compiler, the test or the
// tool of the step that ended it, or that a step needs a model. It is "" if no step ended
// the run, or if the step's call was denied. The run may be nil.
func FailureReason(run *agent.Run, r event.Result) string {
	if before, rest, found := strings.Cut(r.Error.Line(), ") needs a model"); found {
		step, _, _ := strings.Cut(before, " (")
		return step + " needs a model" + rest
	}
	step, why, found := strings.Cut(r.Error.Line(), ") failed: ")
	if !found || r.Reason == event.ReasonDenied {
		return ""
	}
	if run != nil { // the result has only the first line of the step's error
		index, _, _ := strings.Cut(strings.TrimPrefix(step, "step "), " (")
		if s := run.Step(index); s != nil && s.Error != "" {
			return ShortCause(s.Error)
		}
	}
	return strings.TrimRight(why, " ….")
}

// EndWords says how a run ended and how long it took: Done in 2.6s.
func EndWords(run *agent.Run, r event.Result) string {
	words := map[event.Status]string{event.StatusCompleted: "Done", event.StatusCanceled: "Stopped"}[r.Status]
	duration := Milliseconds(r.DurationMS)
	at := DeclinedStep(run, true)
	switch {
	case at != "":
		return "Stopped after " + duration + ": " + at
	case words == "":
		return "Failed after " + duration + ": " + cmp.Or(FailureReason(run, r), ReasonWords(r.Reason))
	case r.Status == event.StatusCompleted && r.Reason == event.ReasonPartial:
		return words + " in " + duration + ": " + PartialWords(run, r)
	case r.Status == event.StatusCompleted && r.Reason != event.ReasonGoalMet && r.Reason != event.ReasonDirect:
		return words + " in " + duration + ": " + ReasonWords(r.Reason)
	case r.Status == event.StatusCompleted:
		return words + " in " + duration
	default:
		return words + " after " + duration
	}
}

// DeclinedStep says which step the user declined, if that ended the run: "you declined step 4,
// Apply the change", with the reason if because is set the reason. It returns "" if it ended otherwise; the run
// may be nil.
func DeclinedStep(run *agent.Run, because bool) string {
	if run == nil {
		return ""
	}
	at := run.DeclinedAt()
	if at == nil {
		return ""
	}
	words := "you declined " + StepWords(at.Step.Index) + ", " + at.Step.Title.Line()
	if why, _ := at.Declined(); because {
		words += ReasonGiven(why)
	}
	return words
}

// PartialWords says what a run left out that ended as partial.
func PartialWords(run *agent.Run, r event.Result) string {
	if words := failedWords(run); words != "" {
		return words
	}
	if words := leftOutWords(run); words != "" {
		return words
	}
	skipped := func(i plan.HistoryItem) bool { return i.Status == plan.ItemSkipped || i.Status == plan.ItemFailed }
	switch all := len(r.History) > 0 && !slices.ContainsFunc(r.History, skipped); {
	case all && r.Unanswered != "":
		return "the steps are done, the answer is missing"
	case all:
		return "no tests were run"
	}
	return "some steps were skipped"
}

// failedWords counts the steps of a run that did not succeed, and names those that failed.
// It says "7 of 8 done, 1 failed: Build (exit status 1)". It returns "" if none failed.
func failedWords(run *agent.Run) string {
	const most = 3
	if run == nil {
		return ""
	}
	skipped := 0
	var failed []string
	for _, s := range run.Steps {
		switch s.Status {
		case agent.StepSkipped:
			skipped++
		case agent.StepFailed:
			failed = append(failed, s.Step.Title.Line()+" ("+Excerpt(untrusted.Text(ShortCause(s.Error)), 80)+")")
		}
	}
	if len(failed) == 0 {
		return ""
	}
	words := fmt.Sprintf("%d of %d done", run.Done(), len(run.Steps))
	if skipped > 0 {
		words += fmt.Sprintf(", %d skipped", skipped)
	}
	return fmt.Sprintf("%s, %d failed: %s", words, len(failed), english.Some(failed, most, "step"))
}

// UndoneWords says that a run is undone, and what was restored, or that it is redone.
func UndoneWords(d event.RunUndone) string {
	if d.Redo {
		return strings.TrimSuffix("redone: "+Undone(d.Files)+" brought back", ": no files brought back")
	}
	if len(d.Files) == 0 {
		return "undone"
	}
	return "undone: " + Undone(d.Files) + " restored"
}

// UsageParts lists what a run used, without zeros. Calls count only if they are not
// the steps.
func UsageParts(r event.Result) (parts []string) {
	u := r.Usage
	calls := u.ToolCalls
	if calls == u.Steps {
		calls = 0
	}
	for _, part := range []struct {
		n    int
		noun string
	}{{u.Steps, "step"}, {calls, "tool call"}, {u.Replans, "replan"}, {u.PromptTokens + u.CompletionTokens, "token"}} {
		if part.n > 0 {
			parts = append(parts, english.Count(part.n, part.noun))
		}
	}
	return parts
}

// NotesWords precedes the name of the file with the project's instructions.
const NotesWords = "notes of this project: "

// RevisionPart is what a revision did to some steps: removed, added or revised them.
type RevisionPart struct{ Name, Steps string }

// RevisionParts names the steps that a revision changed, by kind of change.
func RevisionParts(removed, added, revised []string) []RevisionPart {
	var out []RevisionPart
	add := func(name string, steps []string) {
		if len(steps) > 0 {
			out = append(out, RevisionPart{name, untrusted.Line(strings.Join(steps, ", "))})
		}
	}
	add("removed", removed)
	add("added", added)
	add("revised", revised)
	return out
}

// ReviewedSteps returns the steps that a review removed from a plan and those that
// it edited.
func ReviewedSteps(run *agent.Run, d event.PlanReviewed) (removed, edited []plan.Step) {
	if n := len(run.Reviews); n > 0 {
		for _, s := range run.Reviews[n-1].Out {
			removed = append(removed, s.Step)
		}
	}
	for _, index := range d.Edited {
		if s, ok := run.Plan.Step(index); ok {
			edited = append(edited, s)
		}
	}
	return removed, edited
}
