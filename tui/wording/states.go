package wording

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// StepClass is the state of a step as the plan shows it.
type StepClass uint8

// The states of a step that the screen distinguishes.
const (
	ClassWaits StepClass = iota // for other steps
	ClassDraft
	ClassReady // waits only for a free slot
	ClassHeld  // ready, but blocked until a question is answered
	ClassRetry
	ClassRuns
	ClassGate
	ClassDoubt
	ClassFailed
	ClassDeclined // the user said no to its call
	ClassStopped  // started, but not finished when its run ended
	ClassDone
	ClassSkipped
	stepClasses
)

// Quiet reports whether the step needs no attention now.
func (c StepClass) Quiet() bool {
	switch c {
	case ClassWaits, ClassDraft, ClassReady, ClassHeld, ClassDone, ClassSkipped:
		return true
	default:
		return false
	}
}

// Over reports whether the step is finished without a problem.
func (c StepClass) Over() bool { return c == ClassDone || c == ClassSkipped }

// Counts holds the number of steps in each state.
type Counts [stepClasses]int

// HeldWords says in a few cells what blocks all ready steps: a plan review, or a
// step that needs the user's decision. It returns "" if nothing does.
func HeldWords(run *agent.Run) string {
	if run.AwaitsReview() {
		return "review"
	}
	if step := run.Asking(); step != "" {
		return "held: " + untrusted.Line(step)
	}
	return ""
}

// ClassOf returns the state of a step that waits for the given number of other
// steps.
func ClassOf(run *agent.Run, s *agent.StepState, waits int) StepClass {
	switch {
	case Halted(run, s):
		return ClassStopped
	case s.Status == agent.StepCompleted && Fruitless(s) != "":
		return ClassFailed
	}
	switch s.Status {
	case agent.StepCompleted:
		return ClassDone
	case agent.StepRunning, agent.StepChecking:
		return ClassRuns
	case agent.StepWaiting:
		return ClassGate
	case agent.StepFailed:
		if IsDeclined(s) {
			return ClassDeclined
		}
		return ClassFailed
	case agent.StepInDoubt:
		return ClassDoubt
	case agent.StepSkipped:
		return ClassSkipped
	}
	switch {
	case s.Draft:
		return ClassDraft
	case run.Result != nil:
		return ClassWaits
	case !s.RetryAt.IsZero():
		return ClassRetry
	case waits == 0 && run.Revision > 0 && !run.Paused && run.Replanning == nil:
		return ClassReady
	default:
		return ClassWaits
	}
}

// Steps of a plan and calls of a model have the same sign and word for a state
// everywhere. run is their run, or nil if a revision has removed the step.

// Halted reports whether a step had started but not finished when its run ended.
// Either its outcome is unknown, or a resumed run continues it.
func Halted(run *agent.Run, s *agent.StepState) bool {
	if run == nil || run.Result == nil {
		return false
	}
	switch s.Status {
	case agent.StepRunning, agent.StepChecking:
		return true
	case agent.StepFailed:
		return s.Failure == event.FailureInterrupted && run.Result.Reason == event.ReasonInterrupted
	default:
		return s.Status == agent.StepPending && s.Attempt > 0
	}
}

// IsDeclined reports whether the user said no to the call of a step.
func IsDeclined(s *agent.StepState) bool {
	_, declined := s.Declined()
	return declined
}

// IsDeclinedAt reports whether the user said no to the call of the step with an index.
func IsDeclinedAt(run *agent.Run, index string) bool {
	s := run.Step(index)
	return s != nil && IsDeclined(s)
}

// DeclinedState is the state of a declined step, with the reason if the user gave one:
// "declined: only the tests".
func DeclinedState(why untrusted.Text) string { return "declined" + ReasonGiven(why) }

// ReasonGiven returns the user's reason for use after the statement that it explains; "" for none.
func ReasonGiven(why untrusted.Text) string {
	if why.Line() == "" {
		return ""
	}
	return ": " + why.Line()
}

// FailureOf says why an ended step produced nothing, or returns "" if it did not
// fail.
func FailureOf(s *agent.StepState) untrusted.Text {
	if why, declined := s.Declined(); declined {
		return untrusted.Text(DeclinedState(why))
	}
	if s.Error != "" && s.Status.Ended() {
		return s.Error
	}
	return Fruitless(s)
}

// Fruitless returns why a call that returned still produced nothing: the run it
// started did not complete. It returns "" if that run completed.
func Fruitless(s *agent.StepState) untrusted.Text {
	if s.Status != agent.StepCompleted || s.Run == "" {
		return ""
	}
	result, _ := s.Result.(map[string]any)
	word := func(name string) string { text, _ := result[name].(string); return text }
	status := word("status")
	if status == "" || status == string(event.StatusCompleted) {
		return ""
	}
	return untrusted.Text(cmp.Or(word("error"), strings.ReplaceAll(word("reason"), "_", " "), status))
}

// EvidenceOf returns how far an ended step is shown to have done its work. It is "" in
// plans without checks, whose steps are all claimed.
func EvidenceOf(run *agent.Run, s *agent.StepState) plan.EvidenceState {
	if run == nil || !run.Checks() || isCall(s) || s.Status != agent.StepCompleted && s.Failure != event.FailureCheck {
		return ""
	}
	if state := run.StateOf(s); run.Undone == nil || state != plan.StateVerified {
		return state
	}
	return plan.StateClaimed // what the check saw is gone
}

// isCall reports whether a model makes the step as a call. So it is neither part of the
// plan nor an item of such a step.
func isCall(s *agent.StepState) bool {
	_, item := s.Item()
	return s.Parent != "" && !item
}

// EvidenceWords counts what is verified, and what is not as it should be: "3 verified, 1 refuted".
// What is only claimed counts where the run must be verified. It is "" in plans without checks,
// before the first one is evaluated, where nothing is to be said, and once the run is undone.
func EvidenceWords(run *agent.Run) string {
	if run == nil || !run.Checks() || run.DryRun() || run.DeclinedAt() != nil || run.Undone != nil {
		return ""
	}
	evidence := run.Evidence()
	if run.Result == nil && !slices.ContainsFunc(evidence, func(e plan.Evidence) bool { return len(e.Saw) > 0 }) {
		return ""
	}
	counts := map[string]int{}
	done := run.Result != nil && run.Result.Status == event.StatusCompleted // else the checks are still to come, or will not
	for _, e := range evidence {
		switch {
		case e.State == plan.StateUnchecked && e.Reason != plan.NoTests && !done:
		case e.State == plan.StateUnchecked && e.Reason == plan.NoTests:
			counts["without tests"]++
		case e.State != plan.StateClaimed || run.RequiresVerified():
			counts[string(e.State)]++
		}
	}
	var words []string
	for _, state := range []string{string(plan.StateVerified), string(plan.StateRefuted), string(plan.StateUnchecked), "without tests", string(plan.StateClaimed)} {
		if n := counts[state]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, state))
		}
	}
	return strings.Join(words, ", ")
}

// EvidenceLine says what is known of one claim: "claimed: step 2, Change the file".
func EvidenceLine(e plan.Evidence) string {
	words := string(e.State) + ": "
	if e.Step != "" {
		words += StepWords(e.Step) + ", "
	}
	words += e.Title.Line()
	if why := cmp.Or(e.Reason.Line(), plan.SawWords(e.Saw)); why != "" {
		words += " (" + why + ")"
	}
	return words
}

// StateSentence describes the state of a step in full. removedBy is the revision
// that removed it, 0 for none; elapsed is how long it has been running.
func StateSentence(run *agent.Run, s *agent.StepState, removedBy int, elapsed time.Duration) string {
	words := map[agent.StepStatus]string{
		agent.StepPending:   "waits for a slot",
		agent.StepWaiting:   "waits for your answer",
		agent.StepRunning:   "running",
		agent.StepChecking:  "done in " + DoneIn(s.MS) + "; its checks are being evaluated",
		agent.StepCompleted: "done in " + DoneIn(s.MS),
		agent.StepFailed:    "failed after " + DoneIn(s.MS),
		agent.StepSkipped:   "skipped",
		agent.StepInDoubt:   "in doubt: it may have taken effect",
	}[s.Status]
	switch why, declined := s.Declined(); {
	case declined:
		words = DeclinedState(why)
	case s.Status == agent.StepFailed && s.Failure == event.FailureDenied:
		words = "denied: it was not called"
	}
	if s.NotTaken {
		words = s.Error.Line()
	}
	if state := EvidenceOf(run, s); state != "" {
		words += ", " + string(state)
	}
	switch {
	case s.DryRun:
		return NothingCalled
	case removedBy > 0 && s.Status == agent.StepPending:
		words = fmt.Sprintf("removed by revision %d before it ran", removedBy)
	case removedBy > 0:
		words += fmt.Sprintf("; removed by revision %d", removedBy)
	case s.Draft:
		words = "planned; the plan is not complete yet"
	case Halted(run, s):
		words = "stopped before it was done"
	case s.Status == agent.StepPending:
		words = pendingWords(run, s)
	case s.Status == agent.StepRunning:
		words += " for " + Ticking(elapsed)
		if usual := run.UsualDuration(s); usual >= time.Second {
			words += ", usually " + Ticking(usual)
		}
	}
	return words + attemptWords(s)
}

// pendingWords describes what a pending step waits for.
func pendingWords(run *agent.Run, s *agent.StepState) string {
	asking := run.Asking()
	switch {
	case run.Result != nil:
		return "not run: the run ended before it"
	case run.AwaitsReview():
		return "held: " + ReviewWaits
	case asking != "" && !isCall(s):
		return "held: nothing starts before you decide about " + StepWords(asking)
	default:
		return "waits for a slot"
	}
}

// StateSummary describes the state of a step in a few words, for a transcript.
func StateSummary(s *agent.StepState) string {
	words := map[agent.StepStatus]string{
		agent.StepPending: "not run", agent.StepWaiting: "waits at a gate", agent.StepRunning: "running", agent.StepChecking: "not checked yet", agent.StepCompleted: "done",
		agent.StepFailed: "failed", agent.StepSkipped: "skipped", agent.StepInDoubt: "in doubt",
	}[s.Status]
	if s.DryRun {
		return NothingCalled
	}
	switch why, declined := s.Declined(); {
	case declined:
		words = DeclinedState(why)
	case s.Status == agent.StepCompleted || s.Status == agent.StepFailed:
		words += fmt.Sprintf(" in %.1f s", float64(s.MS)/1000)
	}
	if s.Items != nil {
		words += ", " + ItemsWords(s)
	}
	return words + attemptWords(s)
}

// attemptWords counts the attempts of a step from the second on.
func attemptWords(s *agent.StepState) string {
	if s.Attempt < 2 {
		return ""
	}
	return fmt.Sprintf(", attempt %d", s.Attempt)
}
