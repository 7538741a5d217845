package draw_test

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/panetest"
)

func TestFailedStepSaysWhatRefusedIt(t *testing.T) {
	for failure, want := range map[event.FailureKind]string{event.FailureDenied: "denied", event.FailureCheck: "refuted", event.FailureTool: "failed"} {
		if got, _ := draw.StateWord(panetest.DarkLook(), &agent.Run{}, &agent.StepState{Status: agent.StepFailed, Failure: failure}); got != want {
			t.Errorf("after %s it says %q, want %q", failure, got, want)
		}
	}
}
