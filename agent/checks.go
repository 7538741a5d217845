package agent

// checkProgress tracks the checks of a step whose work is done.
type checkProgress struct {
	begun   int    // how often they began
	after   uint64 // the event after which the next one may be evaluated
	unknown bool   // the user says that the work is done, and its result is unknown
}

// begin begins with the first check. at is the number of the event.
func (c *checkProgress) begin(at uint64) {
	c.begun++
	c.after = at
}

// evaluated notes that a check was evaluated. at is the number of the event.
func (c *checkProgress) evaluated(at uint64) { c.after = at }

// round returns how often the checks began.
func (c *checkProgress) round() int { return c.begun }

// since returns the event after which the next check may be evaluated.
func (c *checkProgress) since() uint64 { return c.after }

// loseResult notes that the result of the step is unknown.
func (c *checkProgress) loseResult() { c.unknown = true }

// lostResult reports whether the result of the step is unknown.
func (c *checkProgress) lostResult() bool { return c.unknown }

// attempted notes that an attempt starts, which will have a result.
func (c *checkProgress) attempted() { c.unknown = false }
