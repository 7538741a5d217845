package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameTime is the length of an animation frame; calmTime, that of a frame with
// reduced motion, where only elapsed seconds change.
const (
	frameTime = 100 * time.Millisecond
	calmTime  = time.Second
)

// tickMsg is one beat of the clock, with its time.
type tickMsg time.Time

// clock drives every animation on the screen. It beats only while something
// spins; otherwise no message is pending and nothing is drawn.
//
// It shows event time: the newest event's time plus the time since that event
// arrived. So a replayed run shows its own durations.
type clock struct {
	calm    bool // beats once a second
	beating bool
	event   time.Time // time of the newest event
	arrived time.Time // when that event arrived
	wall    time.Time // time of the newest beat
}

// start starts the clock if it is stopped.
func (c *clock) start() tea.Cmd {
	if c.beating {
		return nil
	}
	c.beating = true
	return c.beat()
}

// frame returns the length of a frame.
func (c *clock) frame() time.Duration {
	if c.calm {
		return calmTime
	}
	return frameTime
}

func (c *clock) beat() tea.Cmd {
	return tea.Tick(c.frame(), func(t time.Time) tea.Msg { return tickMsg(t) })
}

// tick handles a beat and requests the next one while something spins.
func (c *clock) tick(t tickMsg, spinning bool) tea.Cmd {
	c.wall = time.Time(t)
	c.beating = spinning
	if spinning {
		return c.beat()
	}
	return nil
}

// heard records when an event happened and when it arrived.
func (c *clock) heard(event, arrived time.Time) {
	if !event.IsZero() {
		c.event, c.arrived = event, arrived
	}
}

// now returns the current event time.
func (c *clock) now() time.Time {
	if since := c.wall.Sub(c.arrived); since > 0 && !c.arrived.IsZero() {
		return c.event.Add(since)
	}
	return c.event
}
