package telling

import (
	"replan/agent"
	"replan/internal/untrusted"
	"replan/tui/plain"
)

// StepClass is how a step stands, as the plan tells them apart.
type StepClass uint8

// The states of a step, as the screen tells them apart.
const (
	ClassWaits StepClass = iota // for other steps
	ClassDraft
	ClassReady // nothing keeps it but a free slot
	ClassHeld  // it would be ready, but nothing new starts before somebody has answered
	ClassRetry
	ClassRuns
	ClassGate
	ClassDoubt
	ClassFailed
	ClassStopped // it had begun when its run ended
	ClassDone
	ClassSkipped
	stepClasses
)

// Quiet reports whether nothing about such a step asks to be looked at now.
func (c StepClass) Quiet() bool {
	switch c {
	case ClassWaits, ClassDraft, ClassReady, ClassHeld, ClassDone, ClassSkipped:
		return true
	default:
		return false
	}
}

// Over reports whether such a step needs nothing more and went as it should.
func (c StepClass) Over() bool { return c == ClassDone || c == ClassSkipped }

// Counts is how many steps stand how.
type Counts [stepClasses]int

// HeldWords says what keeps everything that is ready from starting, in few cells:
// a plan that is to be looked over, or the step of which only the user can say how
// to go on. "" is nothing.
func HeldWords(run *agent.Run) string {
	if run.Held() {
		return "review"
	}
	if step := run.Asking(); step != "" {
		return "held: " + untrusted.Line(step)
	}
	return ""
}

// ClassOf is how a step stands that waits for so many others.
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
