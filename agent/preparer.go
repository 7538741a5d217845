package agent

import (
	"fmt"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
)

// preparer prepares the calls of steps, after the events that change them.
type preparer struct {
	caller      *caller
	terms       *Terms
	tools       *Toolbox
	permissions *Permissions
}

// prepare resolves the call of a step and checks it against the tool's schema.
func (r *preparer) prepare(s *StepState, facts toolFacts) error {
	args := s.args()
	if len(args) > 0 && !s.byModel() && s.author().edits() == 0 { // text written by a model in a call, or by the user at a gate, is no reference
		var err error
		if args, err = plan.ResolveArgs(args, r.caller.valuesFor(s)); err != nil {
			return err
		}
	}
	if written := s.request().written(); len(written) > 0 {
		args = merge(args, written)
	}
	args, fitted := r.caller.coerce(facts, args)
	check := facts.Signature.Check
	if r.terms.strict() {
		check = facts.Signature.CheckStrict
	}
	if err := check(args); err != nil {
		s.call().prepare(nil, fitted)
		return fmt.Errorf("the args of %s do not fit: %w", s.Step.Tool, err)
	}
	s.call().prepare(args, fitted)
	return nil
}

// prepareDry resolves the call of a step, with placeholders for unknown results.
func (r *preparer) prepareDry(s *StepState) *flaw {
	if s.Step.Executor == plan.ExecutorTool && len(r.tools.catalog()) > 0 {
		facts := r.tools.facts(s.Step.Tool)
		if facts.Err != nil {
			return &flaw{event.FailureArgs, facts.Err.Error()}
		}
		if facts.blocked() {
			return &flaw{event.FailureDenied, "would be " + deniedBy(facts.Rules[0])}
		}
	}
	args := s.args()
	if !s.byModel() { // text written by a model in a call is no reference
		var err error
		if args, err = plan.ResolveArgs(args, r.caller.valuesFor(s)); err != nil {
			return &flaw{event.FailureArgs, err.Error()}
		}
	}
	s.call().prepare(args, nil)
	if s.Step.Executor == plan.ExecutorTool && len(r.tools.catalog()) > 0 {
		s.call().prepare(r.caller.coerce(r.tools.facts(s.Step.Tool), args))
		if matched := r.caller.ruleFor(s, r.tools.facts(s.Step.Tool)); matched.Verdict == rule.VerdictBlock {
			return &flaw{event.FailureDenied, "would be " + deniedBy(matched)}
		}
	}
	return nil
}

// conditionHolds reports whether the condition of a step that could start takes it. A condition
// without an answer is a flaw of the step, which is taken and fails.
func (r *preparer) conditionHolds(s *StepState) bool {
	if s.Step.When == "" || s.expands() && ownCondition(s.Step) {
		return true
	}
	names := expression.NamesOf(s.Step.When)
	values := r.caller.checkValues(s, names)
	for _, v := range values {
		if _, unknown := v.(plan.Placeholder); unknown {
			return true // of a dry run
		}
	}
	compiled, err := expression.Compile(s.Step.When, nil)
	if err == nil {
		var holds bool
		var saw []expression.Sight
		if holds, saw, err = compiled.Holds(values); err == nil {
			if !holds {
				s.call().leaveOut(saw)
			}
			return holds
		}
	}
	s.call().cannotStart(event.FailureArgs, "its condition has no answer: "+s.Step.When+" ("+err.Error()+")")
	return false
}

// findMissingArgs finds the missing args of a step's call, and marks its tool as
// gated if the plan asks for a gate.
func (r *preparer) findMissingArgs(s *StepState) {
	r.learnTools(s.Step.Tool, s.Step.Checks)
	s.request().lacks(nil)
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	facts := r.tools.facts(s.Step.Tool)
	if facts.Err != nil {
		return
	}
	if !s.author().byUser() {
		s.request().lacks(r.caller.missingArgs(s, s.Step, facts))
	}
	if s.Step.Gate {
		r.permissions.gateTool(facts.Tool)
	}
}

// learnTools looks up the tool of a step and those of checks.
func (r *preparer) learnTools(tool string, checks []plan.Check) {
	if tool != "" {
		r.tools.learn(tool)
	}
	for _, c := range checks {
		if c.Tool != "" {
			r.tools.learn(c.Tool)
		}
	}
}

// bound reports whether the call of a step is still the one that its newest gate showed.
func (r *preparer) bound(s *StepState) bool {
	facts := r.tools.facts(s.Step.Tool)
	return facts.Err == nil && r.prepare(s, facts) == nil && s.gate().binds(facts.Tool, s.call().args())
}
