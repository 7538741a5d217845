package agent

import (
	"slices"

	"replan/planning"
)

// applyPlan takes the first plan. A step that was started while the plan
// streamed in is adopted where tool and args are still the same.
func (r *Run) applyPlan(d PlanCreated) {
	drafts := r.Steps
	r.countAttempts()
	r.Plan, r.Revision, r.planner = d.Plan, d.Revision, nil
	r.firstLength = len(d.Plan.Steps)
	for name, value := range d.Plan.Variables {
		r.variables[name] = value
	}
	served := map[*StepState]bool{}
	early := r.History
	r.History = nil
	var graph *planning.Graph
	if len(drafts) > 0 {
		graph = planning.NewGraph(d.Plan)
	}
	r.Steps = make([]*StepState, 0, len(d.Plan.Steps))
	states := make([]StepState, len(d.Plan.Steps)) // in one piece, since plans can be long
	for i, step := range d.Plan.Steps {
		state := &states[i]
		state.Step, state.Status, state.tries, state.tried = step, StepPending, r.attempts[step.Index], r.attempts[step.Index]
		if draft := adoptable(drafts, step); draft != nil && !served[draft] && !step.Gate && len(graph.Dependencies(step.Index)) == 0 {
			served[draft] = true
			*state = *draft
			state.Step, state.Draft = step, false
			r.keepEarly(early, draft, step)
		}
		r.Steps = append(r.Steps, state)
	}
	for _, s := range r.Steps {
		if s.Status == StepDone {
			r.bind(s)
		}
	}
	r.replot()
	for _, s := range r.Steps {
		if s.Status == StepBroken {
			r.deal(s)
		}
	}
}

// keepEarly takes over what was done for a draft under the step that it serves
// now. What no step of the plan is served by is no history of the plan.
func (r *Run) keepEarly(early []planning.HistoryItem, draft *StepState, step planning.Step) {
	for _, item := range early {
		if item.Index == draft.Step.Index && item.Attempt == draft.Attempt {
			item.Index, item.Title, item.ExpectedOutcome = step.Index, step.Title, step.ExpectedOutcome
			r.History = append(r.History, item)
		}
	}
}

// countAttempts notes how often the steps were tried that another plan takes the
// place of.
func (r *Run) countAttempts() {
	for _, s := range r.Steps {
		if s.tries > 0 {
			r.attempts[s.Step.Index] = s.tries
		}
	}
}

// adoptable finds the draft whose work may serve step: started, with equal tool
// and args, and under the same index unless it is done. What a step that waits
// for another would see is not known before, so only one that waits for none
// is served.
func adoptable(drafts []*StepState, step planning.Step) *StepState {
	for _, d := range drafts {
		serves := d.Step.Index == step.Index && d.Status != StepPending || d.Status == StepDone
		if serves && step.Executor == planning.ExecutorTool && d.Step.Tool == step.Tool && planning.EqualValues(d.Step.Args, step.Args) {
			return d
		}
	}
	return nil
}

func (r *Run) applyReplan(d ReplanStarted) {
	r.Usage.Replans++
	r.Replanning = &Replanning{Attempt: d.Attempt, Step: d.Step, Error: d.Error, StartedAt: r.Now}
	r.planner = r.planners().Replan(r.brief(), planning.Situation{
		Plan:        r.Plan,
		History:     r.History,
		Finished:    r.finished(),
		Remaining:   r.remaining(),
		Attempt:     d.Attempt,
		Failed:      d.Step,
		Error:       d.Error,
		StepsLeft:   r.stepsLeft(),
		ReplansLeft: r.replansLeft(),
	})
}

// finished holds the steps that are frozen in a replan.
func (r *Run) finished() map[string]bool {
	done := map[string]bool{}
	for _, s := range r.Steps {
		if s.Status == StepDone {
			done[s.Step.Index] = true
		}
	}
	return done
}

// remaining returns the steps that a replan may change, in the plan's order.
func (r *Run) remaining() []planning.Step {
	var out []planning.Step
	for _, s := range r.Steps {
		if s.Status != StepDone {
			out = append(out, s.Step)
		}
	}
	return out
}

// applyDiff takes a new plan for the steps that remained.
func (r *Run) applyDiff(d PlanDiff) {
	revision := Revision{Number: d.Revision, Reason: d.Reason, Added: d.Added, Revised: d.Revised}
	old := map[string]*StepState{}
	last := ""
	for _, s := range r.Steps {
		old[s.Step.Index] = s
		s.Change = ChangeNone
		switch {
		case slices.Contains(d.Removed, s.Step.Index):
			revision.Removed = append(revision.Removed, *s)
			revision.After = append(revision.After, last)
		case slices.Contains(d.Revised, s.Step.Index):
			revision.Before = append(revision.Before, *s)
		}
		last = s.Step.Index
	}
	r.closeRevision()
	r.countAttempts()
	r.Revisions = append(r.Revisions, revision)
	r.Plan, r.Revision = d.Plan, d.Revision
	r.planner, r.Replanning, r.failure = nil, nil, nil

	r.Steps = make([]*StepState, 0, len(d.Plan.Steps))
	for _, step := range d.Plan.Steps {
		state := &StepState{Step: step, Status: StepPending, tries: r.attempts[step.Index], tried: r.attempts[step.Index]}
		before, stays := old[step.Index]
		switch {
		case slices.Contains(d.Added, step.Index):
			state.Change, state.replanned = ChangeAdded, true
		case slices.Contains(d.Revised, step.Index):
			state.Change, state.replanned = ChangeRevised, true
		case stays && before.Status == StepDone:
			// Only what is done stays as it was: a reference may mean another
			// result now, so an approval of what was to come holds no longer.
			*state = *before
			state.Step = step
			r.bind(state) // the result may go by another name now
		case stays:
			state.replanned = before.replanned
		}
		r.Steps = append(r.Steps, state)
	}
	r.Gates = nil
	r.replot()
}
