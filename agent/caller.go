package agent

import (
	"fmt"
	"maps"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// caller prepares the calls of steps, and knows which rule decides about each.
type caller struct {
	origins
	*Permissions
}

// prepare resolves the call of a step and checks it against the tool's schema.
func (r caller) prepare(s *StepState, facts *toolFacts) error {
	args := s.args()
	if len(args) > 0 && !s.byModel() && !s.author.edited() { // text written by a model in a call, or by the user at a gate, is no reference
		var err error
		if args, err = plan.ResolveArgs(args, r.valuesFor(s)); err != nil {
			return err
		}
	}
	if len(s.fill.written()) > 0 {
		args = merge(args, s.fill.written())
	}
	args, fitted := r.fit(facts, args)
	s.call.fit(fitted)
	check := facts.Signature.Check
	if r.strict {
		check = facts.Signature.CheckStrict
	}
	if err := check(args); err != nil {
		return fmt.Errorf("the args of %s do not fit: %w", s.Step.Tool, err)
	}
	s.call.set(args)
	return nil
}

// fit fits args to the schema of the tool, if nothing is lost and the run is not
// strict. What a dry run does not know stays as it is.
func (r caller) fit(facts *toolFacts, args map[string]any) (map[string]any, []plan.Coercion) {
	if r.strict {
		return args, nil
	}
	var unknown []plan.Placeholder
	if r.dryRun {
		for _, value := range r.values() {
			if text, ok := value.(plan.Placeholder); ok && text != "" {
				unknown = append(unknown, text)
			}
		}
	}
	return facts.Signature.Fit(args, unknown...)
}

// prepareDry resolves the call of a step, with placeholders for unknown results.
func (r caller) prepareDry(s *StepState) *flaw {
	if s.Step.Executor == plan.ExecutorTool && len(r.Catalogue) > 0 {
		facts := r.facts(s.Step.Tool)
		if facts.Err != nil {
			return &flaw{event.FailureArgs, facts.Err.Error()}
		}
		if facts.blocked() {
			return &flaw{event.FailureDenied, "would be " + deniedBy(facts.Rules[0])}
		}
	}
	s.call.set(s.args())
	if !s.byModel() { // text written by a model in a call is no reference
		args, err := plan.ResolveArgs(s.call.arguments(), r.valuesFor(s))
		if err != nil {
			return &flaw{event.FailureArgs, err.Error()}
		}
		s.call.set(args)
	}
	if s.Step.Executor == plan.ExecutorTool && len(r.Catalogue) > 0 {
		args, fitted := r.fit(r.facts(s.Step.Tool), s.call.arguments())
		s.call.set(args)
		s.call.fit(fitted)
		if matched := r.ruleFor(s, r.facts(s.Step.Tool)); matched.Verdict == rule.VerdictBlock {
			return &flaw{event.FailureDenied, "would be " + deniedBy(matched)}
		}
	}
	return nil
}

// takes reports whether the condition of a step that could start takes it. A condition
// without an answer is a flaw of the step, which is taken and fails.
func (r caller) takes(s *StepState) bool {
	if s.Step.When == "" || s.expands() && ownCondition(s.Step) {
		return true
	}
	names := expression.NamesOf(s.Step.When)
	values := r.checkValues(s, names)
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
			s.call.decide(saw, holds)
			return holds
		}
	}
	s.call.fail(event.FailureArgs, "its condition has no answer: "+s.Step.When+" ("+err.Error()+")")
	return false
}

// repeatable reports whether running a step again has no second effect.
func (r caller) repeatable(s *StepState) bool {
	if s.Step.Executor != plan.ExecutorTool {
		return true
	}
	facts := r.facts(s.Step.Tool)
	return facts.Err == nil && (facts.Tool.Repeatable() || prompt.IsPlanTool(facts.Tool)) // a resume continues the run of a plan tool
}

// valuesFor returns the variables that the args of a step may refer to.
func (r caller) valuesFor(s *StepState) map[string]any {
	if s.item.values == nil {
		return r.values()
	}
	values := make(map[string]any, len(s.itemValues()))
	for _, reference := range plan.References(s.args()) {
		if v, ok := r.value(reference.Name); ok {
			values[reference.Name] = v
		}
	}
	for name, v := range s.itemValues() {
		values[name] = v
	}
	return values
}

// missingArgs returns the args of a step that a model must write: those that its
// tool requires and the plan lacks. If none is required, and a model planned the
// step without mentioning args at all, it returns all args of the tool. In that
// case only the title says what the call is about.
func (r caller) missingArgs(s *StepState, step plan.Step, facts *toolFacts) []string {
	missing := facts.Signature.Missing(step.Args)
	if len(missing) == 0 && step.Args == nil && r.modelPlanned(s) && r.Model != "" && !r.dryRun {
		return facts.Signature.Names()
	}
	return missing
}

// modelPlanned reports whether a model planned a step, in this run or earlier
// when it wrote the plan given to this run.
func (r caller) modelPlanned(s *StepState) bool {
	if s.byReplan() {
		return !r.hasOwn()
	}
	return r.modelPlans() || r.givenPlan != nil && r.givenPlan.PlannedBy != ""
}

// findMissingArgs finds the missing args of a step's call, and marks its tool as
// gated if the plan asks for a gate.
func (r caller) findMissingArgs(s *StepState) {
	s.fill.lacks(nil)
	if s.Step.Executor != plan.ExecutorTool {
		return
	}
	facts := r.facts(s.Step.Tool)
	if facts.Err != nil {
		return
	}
	if !s.author.byUser() {
		s.fill.lacks(r.missingArgs(s, s.Step, facts))
	}
	if s.Step.Gate {
		r.Permissions.gateTool(facts.Tool)
	}
}

// checkValues returns the values of names, as the checks of a step see them.
func (r caller) checkValues(s *StepState, names []string) map[string]any {
	values := make(map[string]any, len(names)+1)
	for _, name := range names {
		if v, ok := r.value(name); ok {
			values[name] = v
		}
		if s == nil {
			continue
		}
		if v, ok := s.itemValues()[name]; ok {
			values[name] = v
			continue
		}
		switch name {
		case s.Step.ResultVariable, "result":
			values[name] = s.Result
		case "args":
			values[name] = s.Args
		}
	}
	return values
}

// bound reports whether the call of a step is still the one that its newest gate showed.
func (r caller) bound(s *StepState) bool {
	facts := r.facts(s.Step.Tool)
	return facts.Err == nil && r.prepare(s, facts) == nil && s.gate.shows(callHash(facts.Tool, s.call.arguments()))
}

// merge adds filled to given; values in given take precedence.
func merge(given, filled map[string]any) map[string]any {
	out := maps.Clone(filled)
	if out == nil {
		out = map[string]any{}
	}
	maps.Copy(out, given)
	return out
}
