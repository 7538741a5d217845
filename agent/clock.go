package agent

import "time"

// Clock is the time of a run, as its events tell it.
type Clock struct {
	Seq       uint64    // of the last event applied
	StartedAt time.Time // of run.started
	Now       time.Time // of the last event applied
	Breaks    []Break   // times between an end and a resume

	elapsedBefore time.Duration // time the run was active before it was resumed
	resumedAt     time.Time     // of the start or the last resume
	firedTimers   map[string]bool
}

// Break is a time in which the run was stopped: from its end to its resume.
type Break struct{ From, To time.Time }

// tick moves the clock to an event, and returns the time of the one before.
func (c *Clock) tick(seq uint64, at time.Time) (last time.Time) {
	last = c.Now
	c.Seq, c.Now = seq, at
	return last
}

// start starts the clock of a run that begins now.
func (c *Clock) start() {
	c.StartedAt, c.resumedAt, c.firedTimers = c.Now, c.Now, map[string]bool{}
}

// resume continues the clock of a run whose last event was at the time last.
func (c *Clock) resume(last time.Time) {
	c.elapsedBefore += last.Sub(c.resumedAt)
	c.Breaks = append(c.Breaks, Break{From: last, To: c.Now})
	c.resumedAt = c.Now
}

// Elapsed returns the active time of the run, without the time between an end and
// a resume.
func (c *Clock) Elapsed() time.Duration {
	if c.resumedAt.IsZero() {
		return 0
	}
	return c.elapsedBefore + c.Now.Sub(c.resumedAt)
}

// now returns the time of the last event applied.
func (c *Clock) now() time.Time { return c.Now }

// reaches returns when the active time of the run reaches a limit, if it goes on.
func (c *Clock) reaches(limit time.Duration) time.Time {
	return c.resumedAt.Add(limit - c.elapsedBefore)
}

// fire records that a timer fired.
func (c *Clock) fire(timer string) { c.firedTimers[timer] = true }

// unfire records that a timer is wanted again.
func (c *Clock) unfire(timer string) { delete(c.firedTimers, timer) }

// fired reports whether a timer fired.
func (c *Clock) fired(timer string) bool { return c.firedTimers[timer] }
