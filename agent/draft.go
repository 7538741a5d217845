package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// applyDrafting adds a step that arrived while the plan was streaming in.
func (r *Run) applyDrafting(d event.PlanDrafting) {
	if r.Revision > 0 || r.Step(d.Step.Index) != nil {
		return // the plan cannot use a second step with the same index
	}
	r.Board.addDraft(newDraft(d.Step, r.attemptsBefore(d.Step.Index)))
	r.readyDrafts()
}

// undraft drops draft steps that were not started, because another reply is
// coming. It keeps started ones, since the plan may use their work.
func (r *Run) undraft() {
	if r.Revision == 0 {
		r.Board.dropIdleDrafts()
	}
}

// readyDrafts finds the draft steps that can start on their own, and stores their
// calls. Such a step waits for nothing that is still to come, and its args fit
// its tool.
func (r *Run) readyDrafts() {
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
		if !s.Draft || s.startable() || s.Status != StepPending {
			continue
		}
		if call, ok := r.draftCall(s.Step, done, found); ok {
			s.canStart(r.caller().fit(r.facts(s.Step.Tool), call))
		}
	}
}

// draftCall returns the call of a draft step, if it can already be made.
func (r *Run) draftCall(step plan.Step, done map[string]bool, found map[string]any) (map[string]any, bool) {
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
	facts := r.facts(step.Tool)
	if facts.Err != nil || !facts.Tool.ReadOnly {
		return nil, false
	}
	alone := step
	alone.DependsOn = nil
	call, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil, false
	}
	probe := StepState{Step: step}
	probe.call.set(call)
	probe.author.readBefore(r.origins().authorRead(step))
	if r.caller().ruleFor(&probe, facts).Verdict != rule.VerdictRun {
		return nil, false // it waits for its gate until the plan is complete
	}
	alone.Args = call
	faults, _ := plan.Validate(
		plan.Plan{Title: step.Title, Steps: []plan.Step{alone}},
		plan.Rules{Catalogue: r.Catalogue, CheckTools: true, Strict: r.strict, Named: true},
	)
	return call, len(faults) == 0
}

// adopt reuses the work done for drafts in steps of the plan. Steps with
// dependencies come after those dependencies, because they must have seen what
// they would see now.
func (r *Run) adopt(drafts []*StepState, early []plan.HistoryItem) {
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
		if s.Step.Gate || s.Step.When != "" || s.Step.ForEach != nil || slices.ContainsFunc(needs, func(d string) bool { return states[d].Status != StepCompleted }) {
			continue
		}
		draft := r.adoptable(drafts, s.Step, needs, found, served)
		if draft == nil {
			continue
		}
		served[draft] = true
		s.takePlace(draft)
		r.recorder().takenOver(s)
		if s.Status == StepCompleted && s.Step.ResultVariable != "" {
			found[s.Step.ResultVariable] = s.Result
		}
		r.keepEarly(early, draft, s.Step)
	}
}

// adoptable returns the draft whose work a step may reuse. The draft must have
// started with the args that the step has now. It must have the same index,
// unless it is done and waited for nobody.
func (r *Run) adoptable(drafts []*StepState, step plan.Step, needs []string, found map[string]any, served map[*StepState]bool) *StepState {
	if step.Executor != plan.ExecutorTool {
		return nil
	}
	args, err := plan.ResolveArgs(step.Args, found)
	if err != nil {
		return nil
	}
	args, _ = r.caller().fit(r.facts(step.Tool), args)
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

// keepEarly moves the history of a draft to the step that now uses its work. Work
// that no step uses is not part of the plan's history.
func (r *Run) keepEarly(early []plan.HistoryItem, draft *StepState, step plan.Step) {
	for _, item := range early {
		if item.Index == draft.Step.Index && item.Attempt == draft.Attempt {
			item.Index, item.Title, item.ExpectedOutcome = step.Index, step.Title, step.ExpectedOutcome
			r.Ledger.add(item)
		}
	}
}

// briefOfGoal returns what the planner of the goal learns, with the calls that look at
// what the goal names. Where nothing may start before the plan is whole, nothing is
// looked at.
func (r *Run) briefOfGoal() prompt.Brief {
	b := r.briefing().brief()
	if r.Model == "" || r.dryRun || r.reviewPlans || r.prompting.Patient {
		return b
	}
	looks := r.surveyed.Look(prompt.Unmentioned(b.Goal, b.Prompting.Mentions), b.Catalogue)
	if most := r.mayPropose(); most > 0 && len(looks.Steps) >= most {
		return b // the plan would have no room for other steps
	}
	b.Looks, b.LooksSuffice = owned(plan.Plan{Steps: looks.Steps}, b.Catalogue).Steps, looks.Whole
	return b
}

// settleLooks tells the planner the results of the steps that it waits for, once all of
// them have ended or cannot start.
func (r *Run) settleLooks() {
	looks := r.Planning.looks()
	if len(looks) == 0 || !r.quiet() {
		return
	}
	free := r.guards().freeSlots()
	spent := free.left.steps <= 0 || free.left.calls <= 0 || free.left.discovery <= 0
	for _, step := range looks {
		if s := r.Step(step.Index); s == nil || s.Status == StepPending && s.startable() && !spent || s.Status == StepRunning {
			return
		}
	}
	var items []plan.HistoryItem
	for _, item := range r.History {
		if item.Status == plan.ItemCompleted && slices.ContainsFunc(looks, func(s plan.Step) bool { return s.Index == item.Index }) {
			items = append(items, item)
		}
	}
	r.Planning.looked(items)
}
