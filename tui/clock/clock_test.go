package clock

import (
	"testing"
	"time"
)

func TestNowIsEventTime(t *testing.T) {
	event := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	arrived := event.Add(24 * time.Hour) // a replay
	var c Clock
	c.Record(event, arrived)
	if got := c.Now(); got != event {
		t.Errorf("without a beat it is %v, want %v", got, event)
	}
	c.Beat(BeatMsg(arrived.Add(3*time.Second)), true)
	if got, want := c.Now(), event.Add(3*time.Second); got != want {
		t.Errorf("it is %v, want %v", got, want)
	}
	c.Record(time.Time{}, arrived.Add(time.Hour))
	if got, want := c.Now(), event.Add(3*time.Second); got != want {
		t.Errorf("an event without a time sets it to %v, want %v", got, want)
	}
}

func TestClockBeatsOnlyWhileSomethingIsAnimated(t *testing.T) {
	var c Clock
	if c.Start() == nil || c.Start() != nil {
		t.Error("Start does not start exactly one clock")
	}
	if c.Beat(BeatMsg{}, true) == nil || !c.beating {
		t.Error("the clock stops during an animation")
	}
	if c.Beat(BeatMsg{}, false) != nil || c.beating {
		t.Error("the clock beats without an animation")
	}
}
