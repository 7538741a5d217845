package host

import (
	"testing"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
)

func TestRemarksAndStopsAreSigned(t *testing.T) {
	for command, want := range map[session.Command]session.Command{
		session.Steer{Text: "hurry"}: session.Steer{Text: "hurry", By: "ann@laptop"},
		session.Stop{}:               session.Stop{By: "ann@laptop"},
	} {
		if got := signed(remote.Input{Command: command, By: "ann@laptop"}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestAnswerReachesAGateThatAKilledWorkerLeftOpen(t *testing.T) {
	var h held
	h.forget(event.Event{Run: "r-1", Data: event.GateRequested{Gate: "1.1.1"}})
	h.commands = []remote.Input{{Command: session.Resolve{Run: "r-1", Gate: "1.1.1"}}}
	if len(h.ready()) > 0 {
		t.Error("the answer is not held until the run is resumed")
	}
	h.see(event.Event{Run: "r-1", Data: event.RunResumed{}}, "r-1")
	if len(h.ready()) != 1 {
		t.Error("the answer is held although the gate is open")
	}
}
