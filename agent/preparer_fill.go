package agent

import (
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// applyArgs takes the reply of a model that was asked for the arguments of a step.
func (r *preparer) applyArgs(s *StepState, d event.ModelReplied) {
	s.request().stop()
	if d.Error != "" {
		s.request().fail(string(d.Error))
		return
	}
	r.fill(s, d.Reply.Text)
}

// fill takes the arguments that a model wrote for a step if the resulting call
// fits its tool.
func (r *preparer) fill(s *StepState, text string) {
	args, err := reply.ParseArgs(text)
	if err != nil {
		s.request().fail(err.Error())
		return
	}
	signature := r.tools.facts(s.Step.Tool).Signature
	if !slices.Contains(signature.Names(), prompt.ReasonArg) {
		delete(args, prompt.ReasonArg)
	}
	args = signature.Settle(args)
	if why := faultyText(string(r.terms.Goal), s.Step.Args, args); why != "" {
		s.request().refuse(args, why)
		return
	}
	call := s.Step
	call.Args, call.DependsOn, call.Checks = merge(s.Step.Args, args), nil, nil
	faults, _ := plan.Validate(plan.Plan{Title: call.Title, Steps: []plan.Step{call}}, plan.Rules{Catalog: r.tools.Catalog, CheckTools: true, Strict: r.terms.strict(), Named: true})
	for _, f := range faults {
		if f.Code == plan.CodeBadArgs {
			s.request().fail(f.Message)
			return
		}
	}
	s.request().take(args)
}

// faultyText says why a text that a model wrote cannot be meant, "" if it can: it is the goal
// itself, or see [planning.FaultyRewrite].
func faultyText(goal string, given, written map[string]any) string {
	plain := func(text string) string {
		return strings.ToLower(strings.Trim(strings.Join(strings.Fields(text), " "), "."))
	}
	for _, name := range []string{"new", "text"} {
		if text, _ := written[name].(string); text != "" && plain(text) == plain(goal) {
			return name + " repeats the goal; write what it asks for"
		}
	}
	before, _ := merge(given, written)["old"].(string)
	after, _ := written["new"].(string)
	if before != "" && after != "" {
		return planning.FaultyRewrite(before, after)
	}
	return ""
}
