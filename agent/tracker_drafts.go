package agent

import (
	"replan/agent/rule"
	"replan/planning/plan"
)

// readyDrafts finds the draft steps that can start on their own, and stores their
// calls. Such a step waits for nothing that is still to come, and its args fit
// its tool.
func (r *tracker) readyDrafts() {
	found := map[string]any{}
	done := map[string]bool{}
	for _, s := range r.board.Steps {
		if s.Draft && s.Status == StepCompleted {
			done[s.Step.Index] = true
			if s.Step.ResultVariable != "" {
				found[s.Step.ResultVariable] = s.Result
			}
		}
	}
	for _, s := range r.board.Steps {
		if !s.Draft || s.startable() || s.Status != StepPending {
			continue
		}
		if call, ok := r.draftCall(s.Step, done, found); ok {
			s.canStart(r.caller.coerce(r.tools.facts(s.Step.Tool), call))
		}
	}
}

// draftCall returns the call of a draft step, if it can already be made.
func (r *tracker) draftCall(step plan.Step, done map[string]bool, found map[string]any) (map[string]any, bool) {
	if step.Executor != plan.ExecutorTool || step.Args == nil || step.Gate || len(ChecksOf(step)) > 0 || step.When != "" || step.ForEach != nil {
		return nil, false
	}
	for _, d := range step.DependsOn {
		if !done[d] {
			return nil, false
		}
	}
	for _, ref := range plan.References(step.Args) {
		if _, ok := found[ref.Name]; !ok {
			return nil, false
		}
	}
	facts := r.tools.facts(step.Tool)
	if facts.Err != nil || !facts.Tool.ReadOnly {
		return nil, false
	}
	alone := step
	alone.DependsOn = nil
	call, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil, false
	}
	if r.caller.ruleFor(newProbe(step, call, r.origins.authorRead(step)), facts).Verdict != rule.VerdictRun {
		return nil, false // it waits for its gate until the plan is complete
	}
	alone.Args = call
	faults, _ := plan.Validate(
		plan.Plan{Title: step.Title, Steps: []plan.Step{alone}},
		plan.Rules{Catalog: r.tools.Catalog, CheckTools: true, Strict: r.terms.strict(), Named: true},
	)
	return call, len(faults) == 0
}
