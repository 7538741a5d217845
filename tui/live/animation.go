package live

import (
	"slices"

	"replan/agent"
)

// Animated reports whether any run on the screen shows progress that moves.
func (s *Runs) Animated() bool {
	return s.Active() != "" && slices.ContainsFunc(s.all, s.animated)
}

// animated reports whether the run shows progress that moves.
func (s *Runs) animated(r *Run) bool {
	if !r.Active() {
		return false
	}
	state := r.State
	if state.Replanning != nil || r.waitsForModel() {
		return true
	}
	for i := range state.Phases {
		if state.Phases[i].Status == agent.PhaseRunning {
			return true
		}
	}
	for _, step := range state.Steps {
		if step.Status == agent.StepRunning && s.working(step) {
			return true
		}
	}
	return state.Chat != nil && s.calling(state.Chat.Calls, false)
}

// working reports whether a running step does something, and does not only wait with its
// items or calls for the user.
func (s *Runs) working(step *agent.StepState) bool {
	switch {
	case step.Items != nil:
		return s.calling(step.Items, true)
	case step.Loop != nil:
		return s.calling(step.Loop.Calls, true)
	default:
		return true
	}
}

// calling reports whether one of the calls or items is running. Without running or
// waiting ones, it returns idle. A call that waits for its own run does not
// count: that run is animated itself.
func (s *Runs) calling(calls []*agent.StepState, idle bool) bool {
	for _, c := range calls {
		switch {
		case c.Status == agent.StepRunning && !s.Live(c.Run) && s.working(c):
			return true
		case c.Status == agent.StepRunning, c.Status == agent.StepWaiting, c.Status == agent.StepInDoubt:
			idle = false
		}
	}
	return idle
}
