package agent

import "replan/planning/reply"

// innerCall holds what a loop's call has in addition to a plan step. It is nil for a step of the
// plan.
type innerCall struct {
	loop     *Loop         // that made the call
	use      reply.ToolUse // the call as requested by the model
	unknown  error         // why the tool does not exist
	counted  bool          // as a call of the model, for the runaway guard
	finds    bool          // it calls [prompt.FindTool]
	answered bool          // the model knows the outcome, or gets it with its next turn
}

// newInnerCall returns the call that a loop makes. finds says that it is one of
// [prompt.FindTool], and unknown why its tool does not exist; nil if it does.
func newInnerCall(l *Loop, use reply.ToolUse, finds bool, unknown error) *innerCall {
	return &innerCall{loop: l, use: use, finds: finds, unknown: unknown}
}

// conversation returns the loop in which a model made the call; nil for a step of the plan.
func (c *innerCall) conversation() *Loop {
	if c == nil {
		return nil
	}
	return c.loop
}

// requested returns the call as the model requested it.
func (c *innerCall) requested() reply.ToolUse { return c.use }

// unknownTool returns why the tool of a call does not exist; nil if it does.
func (c *innerCall) unknownTool() error {
	if c == nil {
		return nil
	}
	return c.unknown
}

// findsTools reports whether the call is one of [prompt.FindTool].
func (c *innerCall) findsTools() bool { return c != nil && c.finds }

// markAnswered notes that the model knows the outcome of its call, or gets it with its next turn.
func (c *innerCall) markAnswered() { c.answered = true }

// isAnswered reports whether the model knows the outcome of its call, or gets it with its next
// turn.
func (c *innerCall) isAnswered() bool { return c != nil && c.answered }

// count counts the call for the runaway guard, once: another attempt, after a kill, is no other
// call.
func (c *innerCall) count(tool string, args map[string]any) {
	if !c.counted {
		c.counted = true
		c.loop.countCall(tool, args)
	}
}

// uncount takes the count of the call back.
func (c *innerCall) uncount(tool string, args map[string]any) {
	c.counted = false
	c.loop.uncountCall(tool, args)
}

// copied returns a copy of the call.
func (c *innerCall) copied() *innerCall {
	call := *c
	return &call
}
