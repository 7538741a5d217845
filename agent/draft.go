package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// applyDrafting takes a step that came while the plan was streaming in.
func (r fold) applyDrafting(d event.PlanDrafting) {
	if r.Revision > 0 || r.Step(d.Step.Index) != nil {
		return // of two with one index the plan will have to do without
	}
	r.Steps = append(r.Steps, &StepState{Step: d.Step, Status: StepPending, Draft: true, attempts: r.attemptsBefore(d.Step.Index)})
	r.readyDrafts()
}

// undraft drops what was drafted and not started: another reply is on its way.
// What was started is kept, for the plan may be served by it.
func (r fold) undraft() {
	if r.Revision == 0 {
		r.Steps = slices.DeleteFunc(r.Steps, func(s *StepState) bool { return s.Attempt == 0 })
	}
}

// readyDrafts finds out which drafted steps stand on their own, and keeps their
// calls: nothing that they need is still to come, and their args fit their tool.
func (r fold) readyDrafts() {
	found := map[string]any{}
	done := map[string]bool{}
	for _, s := range r.Steps {
		if s.Draft && s.Status == StepCompleted {
			done[s.Step.Index] = true
			if s.Step.ResultVariable != "" {
				found[s.Step.ResultVariable] = s.Result
			}
		}
	}
	for _, s := range r.Steps {
		if !s.Draft || s.startable || s.Status != StepPending {
			continue
		}
		if call, ok := r.draftCall(s.Step, done, found); ok {
			s.call.args, s.call.fitted = r.fit(r.facts(s.Step.Tool), call)
			s.startable = true
		}
	}
}

// draftCall is the call of a drafted step, where it can be made already.
func (r fold) draftCall(step plan.Step, done map[string]bool, found map[string]any) (map[string]any, bool) {
	if step.Executor != plan.ExecutorTool || step.Args == nil || step.Gate {
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
	facts := r.facts(step.Tool)
	if facts.err != nil || !facts.tool.ReadOnly {
		return nil, false
	}
	alone := step
	alone.DependsOn = nil
	call, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil, false
	}
	probe := StepState{Step: step, call: readyCall{args: call}, author: authorship{read: r.mentions()}}
	if r.ruleFor(&probe, facts).Verdict != rule.VerdictRun {
		return nil, false // it waits for its gate until the plan is whole
	}
	alone.Args = call
	faults, _ := plan.Validate(
		plan.Plan{Title: step.Title, Steps: []plan.Step{alone}},
		plan.Rules{Catalogue: r.Catalogue, CheckTools: true, Strict: r.strict},
	)
	return call, len(faults) == 0
}

// nextDrafts starts what is ready while the plan is still streaming in.
func (r decision) nextDrafts() []Action {
	if r.Revision > 0 || r.planOnly || r.dryRun || r.reviewPlans || r.prompting.Patient {
		return nil
	}
	free := r.freeSlots()
	var out []Action
	for i, s := range r.Steps {
		if most := r.mayPropose(); most > 0 && i >= most {
			break // a plan as long as that will be refused
		}
		if free.tools <= 0 || free.left.steps <= 0 || free.left.calls <= 0 || free.left.discovery <= 0 {
			break
		}
		if s.startable && s.Status == StepPending && s.Attempt == 0 {
			out = r.startTool(out, s, &free)
		}
	}
	return out
}

// adopt has steps of the plan served by what was done for drafts. Steps that
// wait for others come after those, since what they saw has to be what they
// would see now.
func (r fold) adopt(drafts []*StepState, early []plan.HistoryItem) {
	graph := plan.NewGraph(r.Plan)
	states := make(map[string]*StepState, len(r.Steps))
	for _, s := range r.Steps {
		states[s.Step.Index] = s
	}
	served := map[*StepState]bool{}
	found := map[string]any{}
	for _, index := range graph.Order() {
		s := states[index]
		needs := graph.Dependencies(index)
		if s.Step.Gate || slices.ContainsFunc(needs, func(d string) bool { return states[d].Status != StepCompleted }) {
			continue
		}
		draft := r.adoptable(drafts, s.Step, needs, found, served)
		if draft == nil {
			continue
		}
		served[draft] = true
		step := s.Step
		*s = *draft
		s.Step, s.Draft = step, false
		if a := r.newestOf(s); a != nil {
			a.Step = step.Index // a draft may have gone by another
		}
		if s.Status == StepCompleted && step.ResultVariable != "" {
			found[step.ResultVariable] = s.Result
		}
		r.keepEarly(early, draft, step)
	}
}

// adoptable finds the draft whose work may serve a step: started with the args
// that the step has now, and under the same index unless it is done and waited
// for nobody.
func (r fold) adoptable(drafts []*StepState, step plan.Step, needs []string, found map[string]any, served map[*StepState]bool) *StepState {
	if step.Executor != plan.ExecutorTool {
		return nil
	}
	args, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil
	}
	args, _ = r.fit(r.facts(step.Tool), args)
	for _, d := range drafts {
		if d.Attempt == 0 || served[d] || d.Step.Tool != step.Tool || !plan.EqualValues(d.Args, args) {
			continue
		}
		same := d.Step.Index == step.Index
		if len(needs) > 0 && (!same || !waitedFor(drafts, d.Step, needs)) {
			continue
		}
		if same && d.Status != StepPending || d.Status == StepCompleted {
			return d
		}
	}
	return nil
}

// waitedFor reports whether a draft had waited for all of these.
func waitedFor(drafts []*StepState, step plan.Step, needs []string) bool {
	waited := map[string]bool{}
	for _, d := range step.DependsOn {
		waited[d] = true
	}
	for _, ref := range plan.References(step.Args) {
		for _, d := range drafts {
			if d.Step.ResultVariable == ref.Name {
				waited[d.Step.Index] = true
			}
		}
	}
	return !slices.ContainsFunc(needs, func(index string) bool { return !waited[index] })
}

// keepEarly takes over what was done for a draft under the step that it serves
// now. What no step of the plan is served by is no history of the plan.
func (r fold) keepEarly(early []plan.HistoryItem, draft *StepState, step plan.Step) {
	for _, item := range early {
		if item.Index == draft.Step.Index && item.Attempt == draft.Attempt {
			item.Index, item.Title, item.ExpectedOutcome = step.Index, step.Title, step.ExpectedOutcome
			r.History = append(r.History, item)
		}
	}
}
