package agent

import (
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// uncovered returns what the rule does not cover of the untrusted text in the call
// of a step.
func (r *Run) uncovered(s *StepState, tool plan.Tool, matched rule.Rule, args map[string]any) []rule.Provenance {
	if prompt.IsPlanTool(tool) || tool.Trusted && tool.ReadOnly {
		return nil
	}
	return rule.Uncovered(matched, tool, args, r.provenance(s), r.toolOf)
}

// toolOf is the tool whose result a text comes from.
func (r *Run) toolOf(p rule.Provenance) (plan.Tool, bool) {
	if p.Tool == "" {
		return plan.Tool{}, false
	}
	facts := r.facts(p.Tool)
	return facts.tool, facts.err == nil
}
