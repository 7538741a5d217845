package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// drafter starts what can start of a plan that is still being written, and hands that work over
// to the plan.
type drafter struct {
	steps    *roster
	terms    *Terms
	tools    *Toolbox
	board    *Board
	ledger   *Ledger
	origins  *origins
	caller   *caller
	recorder *recorder
}

// applyDrafting adds a step that arrived while the plan was streaming in.
func (r *drafter) applyDrafting(d event.PlanDrafting) {
	if r.board.Revision > 0 || r.steps.step(d.Step.Index) != nil {
		return // the plan cannot use a second step with the same index
	}
	r.tools.learn(d.Step.Tool)
	r.board.addDraft(newDraft(d.Step, r.board.attemptsBefore(d.Step.Index)))
	r.readyDrafts()
}

// readyDrafts finds the draft steps that can start on their own, and stores their
// calls. Such a step waits for nothing that is still to come, and its args fit
// its tool.
func (r *drafter) readyDrafts() {
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
func (r *drafter) draftCall(step plan.Step, done map[string]bool, found map[string]any) (map[string]any, bool) {
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

// adopt reuses the work done for drafts in steps of the plan. Steps with
// dependencies come after those dependencies, because they must have seen what
// they would see now.
func (r *drafter) adopt(drafts []*StepState, early []plan.HistoryItem) {
	graph := plan.NewGraph(r.board.Plan)
	states := make(map[string]*StepState, len(r.board.Steps))
	for _, s := range r.board.Steps {
		states[s.Step.Index] = s
	}
	served := map[*StepState]bool{}
	found := map[string]any{}
	for _, index := range graph.Order() {
		s := states[index]
		needs := graph.Dependencies(index)
		if s.Step.Gate || s.Step.When != "" || s.Step.ForEach != nil || slices.ContainsFunc(needs, func(d string) bool { return states[d].Status != StepCompleted }) {
			continue
		}
		draft := r.adoptable(drafts, s.Step, needs, found, served)
		if draft == nil {
			continue
		}
		served[draft] = true
		s.takePlace(draft)
		r.recorder.takenOver(s)
		if s.Status == StepCompleted && s.Step.ResultVariable != "" {
			found[s.Step.ResultVariable] = s.Result
		}
		r.keepEarly(early, draft, s.Step)
	}
}

// adoptable returns the draft whose work a step may reuse. The draft must have
// started with the args that the step has now. It must have the same index,
// unless it is done and waited for no other step.
func (r *drafter) adoptable(drafts []*StepState, step plan.Step, needs []string, found map[string]any, served map[*StepState]bool) *StepState {
	if step.Executor != plan.ExecutorTool {
		return nil
	}
	args, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil
	}
	args, _ = r.caller.coerce(r.tools.facts(step.Tool), args)
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

// keepEarly moves the history of a draft to the step that now uses its work. Work
// that no step uses is not part of the plan's history.
func (r *drafter) keepEarly(early []plan.HistoryItem, draft *StepState, step plan.Step) {
	for _, item := range early {
		if item.Index == draft.Step.Index && item.Attempt == draft.Attempt {
			item.Index, item.Title, item.ExpectedOutcome = step.Index, step.Title, step.ExpectedOutcome
			r.ledger.add(item)
		}
	}
}

// waitedFor reports whether a draft had waited for all of needs.
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
