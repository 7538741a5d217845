package telling

import (
	"replan/agent"
	"replan/tui/plain"
)

// Steps of a plan and calls of a model have the same sign and word for a state
// everywhere. run is their run, or nil if a revision has removed the step.

// Halted reports whether a step had started but not finished when its run ended.
// Either its outcome is unknown, or a resumed run continues it.
func Halted(run *agent.Run, s *agent.StepState) bool {
	return run != nil && run.Result != nil && (s.Status == agent.StepRunning || s.Status == agent.StepPending && s.Attempt > 0)
}

// FailureOf says why an ended step produced nothing, or returns "" if it did not
// fail.
func FailureOf(s *agent.StepState) string {
	if s.Error != "" && s.Status.Ended() {
		return s.Error
	}
	return plain.Fruitless(s)
}
