package story

import (
	"fmt"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/wording"
)

// Moment names a moment of a run that users recognize in a replay, in a few words. ok
// reports whether the event is one; the words are "" if those of the moment before it still
// hold.
func Moment(data event.Data) (words string, ok bool) {
	switch d := data.(type) {
	case event.PhaseStarted:
		return untrusted.Line(d.Label), true
	case event.PlanCreated:
		return "the plan is there", true
	case event.PlanDiff:
		return fmt.Sprintf("revision %d", d.Revision), true
	case event.StepStarted:
		return wording.StepWords(d.Index) + " starts", true
	case event.StepCompleted:
		return wording.StepWords(d.Index) + " done", true
	case event.StepFailed:
		if d.Removes != "" || d.Outdated != "" {
			return wording.StepWords(d.Index) + " is held", true
		}
		return wording.StepWords(d.Index) + " failed", true
	case event.GateRequested:
		if d.Nothing {
			return wording.StepWords(d.Step) + " would change nothing", true
		}
		return "a gate opens", true
	case event.GateResolved:
		return "the gate is answered", true
	case event.ElicitationRequested:
		return "a server asks", true
	case event.ElicitationResolved:
		return "the server is answered", true
	case event.ReplanStarted:
		return "replanning", true
	case event.SynthesisStarted:
		return "answering", true
	case event.RunResumed:
		return "the run is resumed", true
	case event.RunCompleted:
		return "the end", true
	case event.PhaseCompleted, event.PlanChosen, event.StepSkipped, event.StepInDoubt, event.SynthesisCompleted:
		return "", true
	default:
		return "", false
	}
}
