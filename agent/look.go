package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// briefOfGoal returns what the planner of the goal learns, with the calls that look at
// what the goal names. Where nothing may start before the plan is whole, nothing is
// looked at.
func (r *Run) briefOfGoal() prompt.Brief {
	b := r.brief()
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

// looks returns the steps that the planner wants carried out before it asks a model; none
// if it wants nothing, or has been told their results.
func (r *Run) looks() []plan.Step {
	if looker, ok := r.planner.(planning.Looker); ok && r.Revision == 0 {
		return looker.Looks()
	}
	return nil
}

// nextLooks starts the steps that the planner waits for.
func (r decision) nextLooks(looks []plan.Step) []Action {
	var out []Action
	for _, step := range looks {
		if r.Step(step.Index) == nil {
			out = append(out, Action{Record: event.PlanDrafting{Step: step}})
		}
	}
	if len(out) > 0 {
		return out
	}
	return r.startDrafts(true)
}

// settleLooks tells the planner the results of the steps that it waits for, once all of
// them have ended or cannot start.
func (r fold) settleLooks() {
	looks := r.looks()
	if len(looks) == 0 || !r.quiet() {
		return
	}
	free := decision{r.Run}.freeSlots()
	spent := free.left.steps <= 0 || free.left.calls <= 0 || free.left.discovery <= 0
	for _, step := range looks {
		if s := r.Step(step.Index); s == nil || s.Status == StepPending && s.startable && !spent || s.Status == StepRunning {
			return
		}
	}
	var items []plan.HistoryItem
	for _, item := range r.History {
		if item.Status == plan.ItemCompleted && slices.ContainsFunc(looks, func(s plan.Step) bool { return s.Index == item.Index }) {
			items = append(items, item)
		}
	}
	r.planner.(planning.Looker).Looked(items)
}
