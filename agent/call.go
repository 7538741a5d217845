package agent

import (
	"replan/agent/event"
	"replan/planning/expression"
	"replan/planning/plan"
)

// stepCall is the call of a step that could start, or the reason why it cannot.
type stepCall struct {
	arguments map[string]any
	fitted    []plan.Coercion // of the scalars in arguments
	flaw      flaw
	saw       []expression.Sight // what its condition looked at
	out       bool               // its condition takes the step out

	expanded bool  // it begins with its items
	items    []any // those
}

// flaw is the reason why a step cannot start although its dependencies are
// completed.
type flaw struct {
	kind     event.FailureKind // "" if it can start
	sentence string
}

// forget forgets the call, which is prepared anew.
func (c *stepCall) forget() { *c = stepCall{} }

// prepare sets the arguments; fitted are the scalars among them that were fitted to the schema of
// the tool.
func (c *stepCall) prepare(args map[string]any, fitted []plan.Coercion) {
	*c = stepCall{arguments: args, fitted: fitted}
}

// args returns the arguments.
func (c *stepCall) args() map[string]any { return c.arguments }

// coerced returns the scalars among the arguments that were fitted.
func (c *stepCall) coerced() []plan.Coercion { return c.fitted }

// leaveOut notes that the condition of the step takes it out, and what it looked at.
func (c *stepCall) leaveOut(saw []expression.Sight) { *c = stepCall{saw: saw, out: true} }

// leftOut returns whether the condition of the step takes it out, and what it looked at.
func (c *stepCall) leftOut() (saw []expression.Sight, isOut bool) { return c.saw, c.out }

// beginWith notes the items with which the step begins.
func (c *stepCall) beginWith(items []any) { *c = stepCall{items: items, expanded: true} }

// expansion returns the items with which the step begins, and whether it begins with items.
func (c *stepCall) expansion() (items []any, with bool) { return c.items, c.expanded }

// cannotStart notes why the step cannot start.
func (c *stepCall) cannotStart(kind event.FailureKind, sentence string) {
	c.flaw = flaw{kind, sentence}
}

// startFlaw returns why the step cannot start.
func (c *stepCall) startFlaw() flaw { return c.flaw }
