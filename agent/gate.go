package agent

import (
	"fmt"

	"replan/agent/rule"
	"replan/internal/untrusted"
)

// RemovalRule returns the rule for a call that would remove most of a file. No
// grant lifts it, and no rule that names only a tool.
func RemovalRule(tool, removes string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: untrusted.Text("it " + removes)}
}

// Edited reports whether the user has edited the call of an open gate, and has yet to see
// what it would do now.
func Edited(r *Run, g *Gate) bool {
	s := r.Step(g.Step)
	return s != nil && s.author.edited()
}

// gatedByPlan returns the rule for a step whose plan asks for a gate.
func gatedByPlan(tool string) rule.Rule {
	return rule.Rule{Tool: tool, Verdict: rule.VerdictAsk, Source: rule.SourcePlan, Why: "the plan asks for a gate here"}
}

// EditCheck returns a function that checks replacement arguments for an open
// gate. The function returns an error if they do not fit, else nil. It is safe to
// call from any goroutine, whatever becomes of the run.
func (r *Run) EditCheck(gate string) func(args map[string]any) error {
	for _, g := range r.Gates {
		s := r.Step(g.Step)
		if g.Gate != gate || s == nil {
			continue
		}
		signature := r.facts(s.Step.Tool).Signature
		return func(args map[string]any) error {
			if err := signature.Check(args); err != nil {
				return fmt.Errorf("the args of %s do not fit: %w", g.Tool, err)
			}
			return nil
		}
	}
	return func(map[string]any) error { return fmt.Errorf("no gate %s is open", gate) }
}
