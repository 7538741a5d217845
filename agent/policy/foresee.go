package policy

import (
	"maps"

	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
)

// Foreseen is the expected decision of the rules about a step's call.
type Foreseen struct {
	Step     string // its index
	Position int    // among the steps of the plan
	Rule     rule.Rule
	Asks     bool // its call waits at a gate
}

// Foresee returns, in execution order, the expected decision about each call of a
// plan before it runs. If the decision depends on unknown values, the call asks.
func Foresee(rules []rule.Rule, p plan.Plan, graph *plan.Graph, catalog plan.Catalog) []Foreseen {
	values := maps.Clone(p.Variables)
	if values == nil {
		values = map[string]any{}
	}
	for _, step := range p.Steps {
		if step.ResultVariable != "" {
			values[step.ResultVariable] = plan.Placeholder("<" + step.Tool + " result>")
		}
	}
	var out []Foreseen
	for _, index := range graph.Order() {
		at, _ := graph.Position(index)
		step := p.Steps[at]
		if step.Executor != plan.ExecutorTool {
			continue
		}
		decided := rule.Rule{Verdict: rule.VerdictRun} // for an unknown tool only the plan decides
		if tool, err := catalog.Find(step.Tool); err == nil {
			decided = foreseen(rules, tool, step, values, carriedBy(p, step), catalog)
			if tool.Changed != "" && decided.Verdict != rule.VerdictBlock {
				decided = rule.ChangedTool(tool)
			}
		}
		out = append(out, Foreseen{Step: index, Position: at, Rule: decided, Asks: decided.Verdict == rule.VerdictAsk || step.Gate})
	}
	return out
}

// carriedBy returns the results that a step's references put into its call, those that
// decide whether it is made. It adds what the author of the plan had read.
func carriedBy(p plan.Plan, step plan.Step) []rule.Provenance {
	var out []rule.Provenance
	carry := func(name string, as rule.Provenance) {
		for _, other := range p.Steps {
			if other.ResultVariable == name {
				as.Step, as.Tool = other.Index, other.Tool
				out = append(out, as)
			}
		}
	}
	for arg, value := range step.Args {
		for _, ref := range plan.References(value) {
			carry(ref.Name, rule.Provenance{Arg: arg, Exact: true})
		}
	}
	decides := rule.Provenance{Decides: true}
	for _, name := range expression.NamesOf(step.When) {
		carry(name, decides)
	}
	if step.ForEach != nil {
		for _, ref := range plan.References(step.ForEach.Items) {
			carry(ref.Name, decides)
		}
	}
	if len(step.Args) > 0 {
		out = append(out, p.Provenance...)
	}
	return out
}

// foreseen returns the rule that will decide about a step's call, from what is
// known before the plan runs. If it depends on unknown values, the call asks.
func foreseen(rules []rule.Rule, tool plan.Tool, step plan.Step, values map[string]any, carried []rule.Provenance, catalog plan.Catalog) rule.Rule {
	asks := rule.Rule{Verdict: rule.VerdictAsk}
	origin := func(p rule.Provenance) (plan.Tool, bool) {
		source, err := catalog.Find(p.Tool)
		return source, err == nil
	}
	speaking := rule.Matching(rules, tool)
	args, err := plan.ResolveArgs(step.Args, values)
	var decided rule.Rule
	if err != nil || step.Args == nil {
		for _, r := range speaking[1:] {
			if r.Verdict != speaking[0].Verdict {
				return asks
			}
		}
		decided, args = speaking[0], step.Args
	} else {
		decided = rule.Decide(speaking, tool, args)
	}
	if decided.Verdict == rule.VerdictRun && len(rule.Uncovered(decided, tool, args, carried, origin)) > 0 {
		return asks // it carries text from a result
	}
	return decided
}
