package clock

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

// BeatMsg is one beat of the clock, with its time.
type BeatMsg time.Time

// Clock drives every animation on the screen. It beats only while something is
// animated; otherwise no message is pending and nothing is drawn.
//
// It shows event time: the newest event's time plus the time since that event
// arrived. So a replayed run shows its own durations.
type Clock struct {
	calm bool // beat once a second

	beating bool
	event   time.Time // time of the newest event
	arrived time.Time // when that event arrived
	wall    time.Time // time of the newest beat
}

// New returns a clock that has not started. A calm one beats once a second.
func New(calm bool) Clock { return Clock{calm: calm} }

// SetCalm has the clock beat once a second, or as before.
func (c *Clock) SetCalm(calm bool) { c.calm = calm }

// Start starts the clock if it is stopped.
func (c *Clock) Start() tea.Cmd {
	if c.beating {
		return nil
	}
	c.beating = true
	return c.next()
}

// Frame returns the time between two beats.
func (c *Clock) Frame() time.Duration {
	if c.calm {
		return calmTime
	}
	return frameTime
}

// next requests the next beat.
func (c *Clock) next() tea.Cmd {
	return tea.Tick(c.Frame(), func(t time.Time) tea.Msg { return BeatMsg(t) })
}

// Beat handles a beat and requests the next one while something is animated.
func (c *Clock) Beat(msg BeatMsg, animated bool) tea.Cmd {
	c.wall = time.Time(msg)
	c.beating = animated
	if animated {
		return c.next()
	}
	return nil
}

// Record records when an event happened and when it arrived.
func (c *Clock) Record(event, arrived time.Time) {
	if !event.IsZero() {
		c.event, c.arrived = event, arrived
	}
}

// Now returns the current event time.
func (c *Clock) Now() time.Time {
	if since := c.wall.Sub(c.arrived); since > 0 && !c.arrived.IsZero() {
		return c.event.Add(since)
	}
	return c.event
}
