package session_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/session"
)

func TestReplayOfABrokenOffRunSaysWhetherItCanBeContinued(t *testing.T) {
	started := event.Event{Seq: 1, Run: "r-1", Data: event.RunStarted{Goal: "g"}}
	undone := event.Event{Seq: 2, Run: "r-1", Data: event.RunUndone{}}
	for want, events := range map[string][]event.Event{
		"unfinished; to continue it: replan plan resume r-1": {started},
		"undone since, so it cannot be continued":            {started, undone},
	} {
		all := session.ReplayEvents("r-1", events)
		reply, ok := all[len(all)-1].Data.(event.ChatReply)
		if !ok || !strings.Contains(string(reply.Text), want) {
			t.Errorf("got %+v, want it to contain %q", all[len(all)-1], want)
		}
	}
}
