package wording_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/wording"
)

func TestGateOfAContainedCallSaysWhatStaysOpen(t *testing.T) {
	for contained, open := range map[plan.Containment]bool{plan.ContainedFiles: true, plan.ContainedOffline: false} {
		said := wording.GateReason(event.GateRequested{Contained: contained})
		if strings.Contains(said, "can use the network and read your files") != open || strings.Contains(said, "no network") == open {
			t.Errorf("%s: got %q", contained, said)
		}
	}
	if said := wording.GateReason(event.GateRequested{}); strings.Contains(said, "contained") {
		t.Errorf("got %q", said)
	}
}
