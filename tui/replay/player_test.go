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

// Hours until a run was resumed, and until its files were restored, are no time of the run.
func TestTimeOfAReplayIsThatOfTheRun(t *testing.T) {
	begun := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	after := func(d time.Duration, data event.Data) event.Event {
		return event.Event{Run: "r-1", Time: begun.Add(d), Data: data}
	}
	inner := after(3*time.Second, event.RunCompleted{})
	inner.Run = "r-1.1"
	p := replay.New([]event.Event{
		after(0, event.RunStarted{Goal: "a goal"}),
		after(2*time.Second, event.StepStarted{Index: "1"}),
		inner,
		after(5*time.Second, event.RunCompleted{}),
		after(time.Hour, event.RunResumed{}),
		after(time.Hour+7*time.Second, event.RunCompleted{}),
		after(2*time.Hour, event.RunUndone{}),
	}, replay.Options{Speed: 1}, func(*replay.Player, replay.PlayedScreen) replay.PlayedScreen { return nil })
	for at, want := range []string{"0:00/0:12", "0:00/0:12", "0:02/0:12", "0:03/0:12", "0:05/0:12", "0:05/0:12", "0:12/0:12", "0:12/0:12"} {
		p.At = at
		if got := panetest.Stripped([]string{p.Line(panetest.DarkLook(), "", 100)}); !strings.Contains(got, want) {
			t.Errorf("event %d: got %q, want %s", at, got, want)
		}
	}
}
