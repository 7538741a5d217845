package telling

import (
	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/plain"
)

// StepClass is the state of a step as the plan shows it.
type StepClass uint8

// The states of a step that the screen distinguishes.
const (
	ClassWaits StepClass = iota // for other steps
	ClassDraft
	ClassReady // waits only for a free slot
	ClassHeld  // ready, but blocked until somebody answers
	ClassRetry
	ClassRuns
	ClassGate
	ClassDoubt
	ClassFailed
	ClassStopped // started, but not finished when its run ended
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
	if run.Held() {
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
	case s.Status == agent.StepCompleted && plain.Fruitless(s) != "":
		return ClassFailed
	}
	switch s.Status {
	case agent.StepCompleted:
		return ClassDone
	case agent.StepRunning:
		return ClassRuns
	case agent.StepWaiting:
		return ClassGate
	case agent.StepFailed:
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
