package replay_test

import (
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/tui/panetest"
	"replan/tui/replay"
)

func TestLineShowsEveryPartWhole(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	p := replay.New([]event.Event{
		{Time: begun, Data: event.RunStarted{Goal: "a goal"}},
		{Time: begun.Add(time.Second), Data: event.StepStarted{Index: "1"}},
	}, replay.Options{Speed: 1}, func(*replay.Player, replay.PlayedScreen) replay.PlayedScreen { return nil })
	p.At = 2
	for width := 70; width <= 140; width++ {
		if got := panetest.Stripped([]string{p.Line(panetest.DarkLook(), "", width)}); !strings.HasSuffix(strings.TrimSpace(got), "step 1 starts · event 2/2") {
			t.Fatalf("%d columns: got %q", width, got)
		}
	}
}
