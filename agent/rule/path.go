package rule

import (
	"maps"
	"slices"

	"replan/planning/plan"
)

// JudgesPaths reports whether a rule has a condition on a file or folder.
func (r Rule) JudgesPaths() bool {
	return slices.ContainsFunc(plan.PathArgs, func(name string) bool { return r.Args[name] != "" })
}

// linkedPath is a path that leads to another one through links.
type linkedPath struct{ written, real string }

// Linked returns args for a decision in which paths lead to other ones. A rule that
// allows the call must match both, and one that asks or denies either.
func Linked(args map[string]any, real map[string]string) map[string]any {
	if len(real) == 0 {
		return args
	}
	out := maps.Clone(args)
	for name, at := range real {
		if text, ok := args[name].(string); ok {
			out[name] = linkedPath{text, at}
		}
	}
	return out
}
