package agent

import (
	"maps"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// caller knows the values of a step's call, and which rule decides about it.
type caller struct {
	origins     *origins
	terms       termsView
	tools       toolsView
	planning    planningView
	board       boardView
	permissions permissionsView
}

// coerce coerces args to the schema of the tool, if nothing is lost and the run is not
// strict. What a dry run does not know stays as it is.
func (r *caller) coerce(facts toolFacts, args map[string]any) (map[string]any, []plan.Coercion) {
	if r.terms.strict() {
		return args, nil
	}
	var unknown []plan.Placeholder
	if r.terms.DryRun() {
		for _, value := range r.board.values() {
			if text, ok := value.(plan.Placeholder); ok && text != "" {
				unknown = append(unknown, text)
			}
		}
	}
	return facts.Signature.Coerce(args, unknown...)
}

// repeatable reports whether running a step again has no second effect.
func (r *caller) repeatable(s stepView) bool {
	if s.executor() != plan.ExecutorTool {
		return true
	}
	facts := r.tools.facts(s.tool())
	return facts.Err == nil && (facts.Tool.Repeatable() || prompt.IsPlanTool(facts.Tool)) // a resume continues the run of a plan tool
}

// valuesFor returns the variables that the args of a step may refer to.
func (r *caller) valuesFor(s stepView) map[string]any {
	if s.itemState().values() == nil {
		return r.board.values()
	}
	values := make(map[string]any, len(s.itemState().values()))
	for _, reference := range plan.References(s.args()) {
		if v, ok := r.board.value(reference.Name); ok {
			values[reference.Name] = v
		}
	}
	for name, v := range s.itemState().values() {
		values[name] = v
	}
	return values
}

// missingArgs returns the args of a step that a model must write: those that its
// tool requires and the plan lacks. If none is required, and a model planned the
// step without mentioning args at all, it returns all args of the tool. In that
// case only the title says what the call is about.
func (r *caller) missingArgs(s stepView, step plan.Step, facts toolFacts) []string {
	missing := facts.Signature.Missing(step.Args)
	if len(missing) == 0 && step.Args == nil && r.modelPlanned(s) && r.terms.model() != "" && !r.terms.DryRun() {
		return facts.Signature.Names()
	}
	return missing
}

// modelPlanned reports whether a model planned a step, in this run or earlier
// when it wrote the plan given to this run.
func (r *caller) modelPlanned(s stepView) bool {
	if s.authorState().byReplan() {
		return !r.planning.hasOwn()
	}
	return r.origins.modelPlans() || r.terms.givenBy() != ""
}

// checkValues returns the values of names, as the checks of a step see them.
func (r *caller) checkValues(s stepView, names []string) map[string]any {
	values := make(map[string]any, len(names)+1)
	for _, name := range names {
		if v, ok := r.board.value(name); ok {
			values[name] = v
		}
		if s == nil {
			continue
		}
		if v, ok := s.itemState().values()[name]; ok {
			values[name] = v
			continue
		}
		switch name {
		case s.planned().ResultVariable, "result":
			values[name] = s.result()
		case "args":
			values[name] = s.startedWith()
		}
	}
	return values
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
