package tui

import (
	"time"

	tea "charm.land/bubbletea/v2"
)

// frameTime is how long one frame of an animation lasts, and calmTime where
// nothing is to move but the seconds that something takes.
const (
	frameTime = 100 * time.Millisecond
	calmTime  = time.Second
)

// tickMsg is one beat of the clock, with the time it came at.
type tickMsg time.Time

// clock is the one clock behind every animation on the screen. It beats only
// while something spins; otherwise no message is under way and nothing is drawn.
//
// What it shows is the time of the events: the newest event's own, moved on by
// as much as has passed since that event arrived. So a replayed run shows its
// own durations.
type clock struct {
	calm    bool // beats once a second
	beating bool
	event   time.Time // of the newest event
	arrived time.Time // when that one was taken in
	wall    time.Time // of the newest beat
}

// start sets the clock going, if it is not.
func (c *clock) start() tea.Cmd {
	if c.beating {
		return nil
	}
	c.beating = true
	return c.beat()
}

// frame is how long a frame lasts.
func (c *clock) frame() time.Duration {
	if c.calm {
		return calmTime
	}
	return frameTime
}

func (c *clock) beat() tea.Cmd {
	return tea.Tick(c.frame(), func(t time.Time) tea.Msg { return tickMsg(t) })
}

// tick takes a beat and asks for the next one while something spins.
func (c *clock) tick(t tickMsg, spinning bool) tea.Cmd {
	c.wall = time.Time(t)
	c.beating = spinning
	if spinning {
		return c.beat()
	}
	return nil
}

// heard notes when an event happened and when it arrived.
func (c *clock) heard(event, arrived time.Time) {
	if !event.IsZero() {
		c.event, c.arrived = event, arrived
	}
}

// now is the present as the events count it.
func (c *clock) now() time.Time {
	if since := c.wall.Sub(c.arrived); since > 0 && !c.arrived.IsZero() {
		return c.event.Add(since)
	}
	return c.event
}
