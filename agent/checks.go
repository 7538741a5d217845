package agent

// checkProgress tracks the checks of a step whose work is done.
type checkProgress struct {
	begun   int    // how often they began
	after   uint64 // the event after which the next one may be evaluated
	unknown bool   // the user says that the work is done, and its result is unknown
}

// begin begins with the first check, and evaluated notes that one was evaluated. at is the number
// of the event. round returns how often they began, and since the event after which the next
// one may be evaluated.
func (c *checkProgress) begin(at uint64) {
	c.begun++
	c.after = at
}
func (c *checkProgress) evaluated(at uint64) { c.after = at }
func (c *checkProgress) round() int          { return c.begun }
func (c *checkProgress) since() uint64       { return c.after }

// loseResult notes that the result of the step is unknown, and lostResult reports that. An
// attempt has one.
func (c *checkProgress) loseResult()      { c.unknown = true }
func (c *checkProgress) lostResult() bool { return c.unknown }
func (c *checkProgress) attempted()       { c.unknown = false }
