package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// applyDrafting adds a step that arrived while the plan was streaming in.
func (r *arranger) applyDrafting(d event.PlanDrafting) {
	if r.board.Revision > 0 || r.steps.Step(d.Step.Index) != nil {
		return // the plan cannot use a second step with the same index
	}
	r.tools.learn(d.Step.Tool)
	r.board.addDraft(newDraft(d.Step, r.board.attemptsBefore(d.Step.Index)))
	r.tracker.readyDrafts()
}

// dropUnstartedDrafts drops draft steps that were not started, because another reply
// is coming. It keeps started ones, since the plan may use their work.
func (r *arranger) dropUnstartedDrafts() {
	if r.board.Revision == 0 {
		r.board.dropIdleDrafts()
	}
}

// adopt reuses the work done for drafts in steps of the plan. Steps with
// dependencies come after those dependencies, because they must have seen what
// they would see now.
func (r *arranger) adopt(drafts []*StepState, early []plan.HistoryItem) {
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
func (r *arranger) adoptable(drafts []*StepState, step plan.Step, needs []string, found map[string]any, served map[*StepState]bool) *StepState {
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
func (r *arranger) keepEarly(early []plan.HistoryItem, draft *StepState, step plan.Step) {
	for _, item := range early {
		if item.Index == draft.Step.Index && item.Attempt == draft.Attempt {
			item.Index, item.Title, item.ExpectedOutcome = step.Index, step.Title, step.ExpectedOutcome
			r.ledger.add(item)
		}
	}
}

// settleLooks tells the planner the results of the steps that it waits for, once all of
// them have ended or cannot start.
func (r *arranger) settleLooks() {
	looks := r.planning.looks()
	if !r.flight.quiet() {
		return
	}
	free := r.guards.freeSlots()
	spent := free.discoverySpent()
	for _, step := range looks {
		if s := r.steps.Step(step.Index); s == nil || s.Status == StepPending && s.startable() && !spent || s.Status == StepRunning {
			return
		}
	}
	var items []plan.HistoryItem
	for _, item := range r.ledger.History {
		if item.Status == plan.ItemCompleted && slices.ContainsFunc(looks, func(s plan.Step) bool { return s.Index == item.Index }) {
			items = append(items, item)
		}
	}
	r.planning.looked(items)
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
