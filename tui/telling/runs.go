package telling

import (
	"replan/agent"
	"replan/agent/event"
	"replan/internal/untrusted"
)

// RunWords names the state of a run in a word or two: done, nothing found, failed.
func RunWords(s agent.Summary) string {
	switch {
	case s.Status == event.StatusCancelled:
		return "stopped"
	case s.Status != event.StatusCompleted:
		return untrusted.Line(string(s.Status))
	case s.Reason == event.ReasonPartial:
		return "in part"
	case s.Reason == event.ReasonNothingFound:
		return "nothing found"
	default:
		return "done"
	}
}

// RunState names the state of a run, with the reason of a failure.
func RunState(s agent.Summary) string {
	if s.Status == event.StatusFailed && s.Reason != "" {
		return RunWords(s) + ": " + ReasonWords(s.Reason)
	}
	return RunWords(s)
}
