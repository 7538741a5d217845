package tui

import (
	"replan/agent"
	"replan/tui/plain"
	"replan/tui/untrusted"
)

// stepClass is how a step stands, as the plan tells them apart.
type stepClass uint8

const (
	classWaits stepClass = iota // for other steps
	classDraft
	classReady // nothing keeps it but a free slot
	classHeld  // it would be ready, but nothing new starts before somebody has answered
	classRetry
	classRuns
	classGate
	classDoubt
	classFailed
	classStopped // it had begun when its run ended
	classDone
	classSkipped
	stepClasses
)

// quiet reports whether nothing about such a step asks to be looked at now.
func (c stepClass) quiet() bool {
	switch c {
	case classWaits, classDraft, classReady, classHeld, classDone, classSkipped:
		return true
	default:
		return false
	}
}

// over reports whether such a step needs nothing more and went as it should.
func (c stepClass) over() bool { return c == classDone || c == classSkipped }

// counts is how many steps stand how.
type counts [stepClasses]int

// heldWords says what keeps everything that is ready from starting, in few cells:
// a plan that is to be looked over, or the step of which only the user can say how
// to go on. "" is nothing.
func heldWords(run *agent.Run) string {
	if run.Held() {
		return "review"
	}
	if step := run.Asking(); step != "" {
		return "held: " + untrusted.Line(step)
	}
	return ""
}

// classOf is how a step stands that waits for so many others.
func classOf(run *agent.Run, s *agent.StepState, waits int) stepClass {
	switch {
	case halted(run, s):
		return classStopped
	case s.Status == agent.StepDone && plain.Fruitless(s) != "":
		return classFailed
	}
	switch s.Status {
	case agent.StepDone:
		return classDone
	case agent.StepActive:
		return classRuns
	case agent.StepWaiting:
		return classGate
	case agent.StepBroken:
		return classFailed
	case agent.StepUncertain:
		return classDoubt
	case agent.StepLeftOut:
		return classSkipped
	}
	switch {
	case s.Draft:
		return classDraft
	case run.Result != nil:
		return classWaits
	case !s.RetryAt.IsZero():
		return classRetry
	case waits == 0 && run.Revision > 0 && !run.Paused && run.Replanning == nil:
		return classReady
	default:
		return classWaits
	}
}
