package telling

import (
	"replan/agent"
	"replan/tui/plain"
)

// How a step of a plan or a call of a model stands is said in the same sign and
// the same word everywhere. run is the one it belongs to, nil where a revision
// has taken it out.

// Halted reports whether a step had begun and was not done when its run ended:
// nobody told what became of it, or a run that is taken up goes on with it.
func Halted(run *agent.Run, s *agent.StepState) bool {
	return run != nil && run.Result != nil && (s.Status == agent.StepRunning || s.Status == agent.StepPending && s.Attempt > 0)
}

// FailureOf says why a step that has ended came to nothing, "" where it did not.
func FailureOf(s *agent.StepState) string {
	if s.Error != "" && s.Status.Ended() {
		return s.Error
	}
	return plain.Fruitless(s)
}
