package runner

import (
	"slices"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/intent"
	"replan/planning/plan"
)

// rulebook holds the rules of a session: those it was configured with, and those that
// the user adds at gates.
type rulebook struct {
	workspace string
	trusted   bool                     // the user trusts the workspace, so its tests may run
	delegated bool                     // goals and plans come from another program
	saves     func(event.Always) error // nil saves none

	rules []rule.Rule // flags first; the built-in ones follow
}

// all returns the rules in force, except for what a goal or plan adds.
func (b *rulebook) all() []rule.Rule {
	return slices.Concat(b.rules, policy.BuiltIn(policy.Trust{Workspace: b.trusted}))
}

// of returns the gate rules of a run. Tests may run only if the user's own words, or
// the plan that the user gave, ask for them. Those of another program do not count.
//
// Flags of an earlier start still apply unless the flags of this one override
// them. If the tests were not asked for then, they are not now: the goal or plan may
// come from a model.
func (b *rulebook) of(goal string, given *plan.Plan, earlier ...rule.Rule) []rule.Rule {
	trust := policy.Trust{Workspace: b.trusted, Tests: policy.AsksForTests(goal) || policy.PlansTests(given) || intent.Parse(goal).AsksForTests()}
	if b.delegated {
		trust.Tests = false
	} else if len(earlier) > 0 {
		trust.Tests = trust.Tests && slices.ContainsFunc(earlier, testsRun)
	}
	flags, others := split(b.rules)
	earlier, _ = split(earlier)
	for _, rule := range earlier {
		if !slices.ContainsFunc(flags, rule.Equal) {
			flags = append(flags, rule)
		}
	}
	return slices.Concat(flags, others, policy.BuiltIn(trust))
}

// offer adds the rules that answers of always would save to a gate, or the reason why
// there are none. It is safe for concurrent use.
func (b *rulebook) offer(g event.GateRequested, t plan.Tool) event.GateRequested {
	if b.saves == nil {
		g.NoAlways = "no rules are kept here"
		return g
	}
	g.Always, g.NoAlways = policy.Offer(g, t, b.workspace)
	g.AlwaysTool = policy.OfferTool(g, b.workspace)
	return g
}

// add saves a rule, which then holds for later runs too.
func (b *rulebook) add(always event.Always) error {
	if err := b.saves(always); err != nil {
		return err
	}
	flags, others := split(b.rules)
	b.rules = slices.Concat(flags, []rule.Rule{always.Rule}, others)
	return nil
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
