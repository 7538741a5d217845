package runner

import (
	"slices"

	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/intent"
	"replan/planning/plan"
)

// rules returns the gate rules of a run. Tests may run only if the user's own
// words, or the plan that the user gave, ask for them. Those of another program do
// not count.
//
// Flags of an earlier start still apply unless the flags of this one override
// them. If nobody asked for the tests then, nobody does now: the goal or plan may
// come from a model.
func (s *Session) rules(goal string, given *plan.Plan, earlier ...rule.Rule) []rule.Rule {
	trust := policy.Trust{Workspace: s.cfg.Trusted, Tests: policy.AsksForTests(goal) || policy.PlansTests(given) || intent.Parse(goal).AsksForTests()}
	if s.cfg.Delegated {
		trust.Tests = false
	} else if len(earlier) > 0 {
		trust.Tests = trust.Tests && slices.ContainsFunc(earlier, testsRun)
	}
	flags, others := split(s.cfg.Rules)
	earlier, _ = split(earlier)
	for _, rule := range earlier {
		if !slices.ContainsFunc(flags, rule.Equal) {
			flags = append(flags, rule)
		}
	}
	return slices.Concat(flags, others, policy.BuiltIn(trust))
}

// testsRun reports whether a rule is the built-in one that lets tests run.
func testsRun(rule rule.Rule) bool {
	asked := policy.BuiltIn(policy.Trust{Tests: true})[0]
	rule.Why = asked.Why
	return rule.Equal(asked)
}

// split separates the rules of flags from all others.
func split(rules []rule.Rule) (flags, others []rule.Rule) {
	for _, r := range rules {
		if r.Source == rule.SourceFlag {
			flags = append(flags, r)
		} else {
			others = append(others, r)
		}
	}
	return flags, others
}
