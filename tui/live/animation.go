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
	if state.Replanning != nil || len(r.requests) > 0 {
		return true
	}
	for i := range state.Phases {
		if state.Phases[i].Status == agent.PhaseRunning {
			return true
		}
	}
	for _, step := range state.Steps {
		if step.Status == agent.StepRunning && (step.Loop == nil || s.calling(step.Loop, true)) {
			return true
		}
	}
	return state.Chat != nil && s.calling(state.Chat, false)
}

// calling reports whether a call of the loop is running. Without running or
// waiting calls, it returns idle. A call that waits for its own run does not
// count: that run is animated itself.
func (s *Runs) calling(l *agent.Loop, idle bool) bool {
	for _, c := range l.Calls {
		switch {
		case c.Status == agent.StepRunning && !s.Live(c.Run):
			return true
		case c.Status == agent.StepRunning, c.Status == agent.StepWaiting, c.Status == agent.StepInDoubt:
			idle = false
		}
	}
	return idle
}
