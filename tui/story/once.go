package story

import (
	"slices"

	"replan/planning/prompt"
)

// Once holds what the readers of a session are told a single time, whichever run says it.
type Once struct {
	untyped map[string]bool   // tools without typed arguments
	cuts    map[offerCut]bool // offers that had no room for all tools
}

// offerCut tells the cuts of offers apart. Which tools are left out depends on the goal,
// so that the next turn of the same chat often has another number.
type offerCut struct{ tools, window int }

// NewOnce returns an empty memory for a session.
func NewOnce() *Once { return &Once{untyped: map[string]bool{}, cuts: map[offerCut]bool{}} }

// freshUntyped returns those of the tools without typed arguments that were not mentioned
// yet, and remembers them.
func (o *Once) freshUntyped(tools []string) []string {
	tools = slices.DeleteFunc(slices.Clone(tools), func(tool string) bool { return o.untyped[tool] })
	for _, tool := range tools {
		o.untyped[tool] = true
	}
	return tools
}

// isNewCut reports whether an offer without room for all tools was not mentioned yet, and
// remembers it.
func (o *Once) isNewCut(u prompt.Unoffered) bool {
	cut := offerCut{u.Of, u.Window}
	before := o.cuts[cut]
	o.cuts[cut] = true
	return !before
}
