package dag

import (
	"replan/agent"
	"replan/agent/event"
	"replan/tui/draw"
	"replan/tui/wording"
)

// shownPlan is the plan of the run that the pane shows: its steps as a graph, where each of
// them stands, and what is expanded. Events mark what they may have changed; refresh brings
// it up to date.
type shownPlan struct {
	Run    *agent.Run
	Chart  *chart      // nil before the first refresh
	Counts *stepCounts // of Chart
	Folds  *folds

	styles   *draw.Styles
	lost     *lostTools
	revision int  // of Chart
	replan   bool // an event may have changed the plan itself
}

// another returns the plan of another run. v is nil if there was none before.
func (v *shownPlan) another(l *draw.Styles, run *agent.Run) *shownPlan {
	lost := &lostTools{}
	if v != nil {
		lost = v.lost.again()
	}
	return &shownPlan{styles: l, Run: run, Folds: newFolds(), lost: lost, replan: true}
}

// lose stores the names of the servers that were lost, sorted. It reports whether they are
// others than before.
func (v *shownPlan) lose(servers []string) (changed bool) { return v.lost.setServers(servers) }

// apply marks what an event may have changed.
func (v *shownPlan) apply(data event.Data) {
	if v.Counts != nil {
		index, _ := event.StepOf(data)
		v.Counts.mark(index)
	}
	switch data.(type) {
	case event.PlanDrafting, event.PlanCreated, event.PlanChosen, event.PlanDiff, event.PlanReviewed, event.RunResumed:
		v.replan = true
	}
}

// resume goes on with another state of the same run, which is resumed.
func (v *shownPlan) resume(run *agent.Run) { v.Run, v.replan = run, v.replan || run != v.Run }

// refresh brings the steps and their states up to date. It reports which of the two have
// changed.
func (v *shownPlan) refresh() (steps, states bool) {
	if v.Chart == nil || v.replan || v.Run.Revision != v.revision || !v.Chart.stands(v.Run) {
		v.Chart, v.revision, v.replan = newChart(v.Run), v.Run.Revision, false
		v.Counts = newStepCounts(v.Run, v.Chart)
		steps = true
	}
	return steps, v.Counts.refresh()
}

// groups reports whether the states of the steps decide which of them are grouped.
func (v *shownPlan) groups() bool { return v.Folds.groups(len(v.Chart.Steps)) }

// empty reports whether there is nothing to list: no step, and no call of the chat.
func (v *shownPlan) empty() bool {
	return v.Run == nil || len(v.Run.Steps) == 0 && (v.Run.Chat == nil || len(v.Run.Chat.Calls) == 0)
}

// ofChat reports whether there is no plan, and the calls of the chat are listed.
func (v *shownPlan) ofChat() bool { return len(v.Run.Steps) == 0 && v.Run.Chat != nil }

// chartHas reports whether a key is that of a step of the chart.
func (v *shownPlan) chartHas(key string) bool {
	if v.Chart == nil {
		return false
	}
	_, known := v.Chart.position(key)
	return known
}

// keyOf returns the key of the row that represents a step. For a collapsed call or
// item, this is the line of all.
func (v *shownPlan) keyOf(s *agent.StepState) string {
	key := s.Step.Index
	for of := v.Run.Step(s.Parent); of != nil; of = v.Run.Step(of.Parent) {
		if !v.Folds.showsCalls(of.Step.Index) {
			key = callsKey(of.Step.Index)
		}
	}
	return key
}

// followed returns the key of the row that a selection follows, "" for none. It is that of
// the step asked about, if any, else of the current one.
func (v *shownPlan) followed(asked string) string {
	s := v.Run.Step(asked)
	if asked == "" || s == nil {
		s = wording.CurrentStep(v.Run)
	}
	if s == nil {
		return ""
	}
	return v.keyOf(s)
}

// keyOfStep returns the key of a step of the plan, or of its last version if a revision removed
// it. The rows of that revision are expanded then, which it reports.
func (v *shownPlan) keyOfStep(index string) (key string, expanded bool) {
	key = index
	if v.Run.Step(index) != nil {
		return key, false
	}
	for i := range v.Run.Revisions {
		r := &v.Run.Revisions[i]
		for j := range r.Removed {
			if r.Removed[j].Step.Index == index {
				v.Folds.showRevision(r, true)
				key, expanded = removedKey(r, index), true
			}
		}
	}
	return key, expanded
}

// dry reports whether the run is a dry run, which calls nothing.
func (v *shownPlan) dry() bool {
	for _, s := range v.Run.Steps {
		if s.Status == agent.StepCompleted {
			return s.DryRun // all steps are, or none
		}
	}
	return false
}
