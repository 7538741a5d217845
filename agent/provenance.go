package agent

import (
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/expression"
	"replan/planning/plan"
)

// before returns the texts that the models of a run have read when it begins: what came
// up in the conversation before, or was read by whoever asked for the run, and the
// mentions in the user's message.
func (r *Run) before() []rule.Provenance {
	out := slices.Clone(r.readBefore)
	if r.givenPlan != nil {
		out = append(out, r.givenPlan.Provenance...)
	}
	for _, m := range r.prompting.Mentions {
		out = append(out, rule.Provenance{Mention: m.Name, Written: true})
	}
	return plan.Newest(out)
}

// authorRead returns the texts that the author of a step of the first plan had read. A
// person had read none, nor do rules that make a plan of the user's own words. What the
// planner looked at is in files that the goal names: it counts where a call cannot be
// undone.
func (r *Run) authorRead(step plan.Step) []rule.Provenance {
	switch {
	case r.givenPlan != nil:
		return r.givenPlan.Provenance
	case r.Planning.byWords() && r.outerRun == "":
		return nil
	}
	if facts := r.facts(step.Tool); step.Executor == plan.ExecutorTool && facts.Err == nil && rule.Undoable(facts.Tool) {
		return r.before()
	}
	out := r.before()
	for _, look := range r.Planning.looksTaken() {
		out = append(out, rule.Provenance{Step: look.Index, Tool: look.Tool, Written: true})
	}
	return plan.Newest(out)
}

// hasRead returns the texts that a model has read before it replans: what was read before
// the run, and the results and errors of its steps.
func (r *Run) hasRead() []rule.Provenance {
	out := r.before()
	for _, h := range r.History {
		if h.Parent == "" && (h.Status == plan.ItemCompleted || h.Status == plan.ItemFailed) {
			out = append(out, rule.Provenance{Step: h.Index, Tool: h.Tool, Written: true})
		}
	}
	out = plan.Newest(out)
	slices.SortStableFunc(out, func(a, b rule.Provenance) int { return plan.CompareIndices(a.Step, b.Step) })
	return out
}

// Read returns the untrusted texts that the answer of a run may hold, for the turns of the
// conversation that follow.
func (r *Run) Read() []rule.Provenance {
	out := r.before()
	for _, h := range r.History {
		if s := r.Step(h.Index); s == nil || s.told() && !s.inner.finds { // an offer describes tools
			out = append(out, rule.Provenance{Run: r.ID, Step: h.Index, Tool: h.Tool, Written: true})
		}
	}
	return plan.Newest(out)
}

// told reports whether the result or the error of a call holds text of its tool.
func (s *StepState) told() bool {
	switch s.Status {
	case StepCompleted, StepChecking:
		return true
	case StepFailed:
		return s.Failure == event.FailureTool || s.Failure == event.FailureTimeout || s.Failure == event.FailureCheck
	default:
		return false
	}
}

// Authored returns the texts that the author of the present plan had read, for the plan as
// it is stored.
func (r *Run) Authored() []rule.Provenance { return inRun(r.ID, r.authorRead(plan.Step{})) }

// ReadFor returns what a model had read when it asked for another run by a call.
func (r *Run) ReadFor(index string) []rule.Provenance {
	s := r.Step(index)
	if s == nil || s.inner.loop == nil {
		return inRun(r.ID, r.hasRead())
	}
	return inRun(r.ID, r.read(s))
}

// inRun returns texts of a run as another run knows them.
func inRun(id string, read []rule.Provenance) []rule.Provenance {
	out := slices.Clone(read)
	for i := range out {
		if out[i].Arg = ""; out[i].Run == "" && out[i].Mention == "" {
			out[i].Run = id
		}
		out[i].Exact, out[i].Decides, out[i].Written = false, false, true
	}
	return out
}

// deciding returns the results on which it depends whether, and how often, the call of a
// step is made, except for those whose text the call carries. They are those in its
// conditions and in the list that it is called for, and the steps without which it is
// skipped while the run continues.
func (r *Run) deciding(s *StepState, carried []rule.Provenance) []rule.Provenance {
	var out []rule.Provenance
	of := s
	if s.item.step != nil {
		of = s.item.step
	}
	add := func(producers []*StepState) {
		for _, other := range producers {
			if other.Step.Index == of.Step.Index {
				continue // its own result, which is there after the first call
			}
			p := rule.Provenance{Step: other.Step.Index, Tool: other.Step.Tool, Decides: true}
			carries := func(c rule.Provenance) bool { return c.Step == p.Step && c.Run == "" }
			if !slices.Contains(out, p) && !slices.ContainsFunc(carried, carries) {
				out = append(out, p)
			}
		}
	}
	conditions := []string{s.Step.When}
	if of != s && !ownCondition(of.Step) {
		conditions = append(conditions, of.Step.When)
	}
	if s.Step.Until != nil {
		conditions = append(conditions, s.Step.Until.Expect)
	}
	for _, condition := range conditions {
		if condition == "" {
			continue
		}
		for _, name := range expression.NamesOf(condition) {
			add(producersFor(r, s, name))
		}
	}
	if each := of.Step.ForEach; each != nil {
		for _, reference := range plan.References(each.Items) {
			add(r.producersOf(reference.Name))
		}
	}
	if skipping := r.passedBy(); len(skipping) > 0 {
		before := r.ancestors(of.Step.Index)
		add(slices.DeleteFunc(slices.Clone(skipping), func(d *StepState) bool { return !before[d.Step.Index] }))
	}
	return out
}

// failsByText reports whether it depends on text of a result whether a step fails: it has
// checks, its arguments carry such text, or a model carries it out.
func failsByText(s plan.Step) bool {
	return s.Executor != plan.ExecutorTool || s.Until != nil || len(s.Checks) > 0 || len(plan.References(s.Args)) > 0
}

// sharing returns how many items an answer at the gate of an item is for: all of its step
// if only the choice of the items makes it ask, else 0.
func (r *Run) sharing(s *StepState, facts *toolFacts) int {
	if s.item.step == nil || !r.ruleFor(s, facts).Equal(rule.DecidingText(facts.Tool, true)) {
		return 0
	}
	return len(s.item.step.Items)
}

// answerItems applies the answer at the gate of an item to all items of its step.
func (r fold) answerItems(s *StepState, decision event.Decision) {
	of := s.item.step
	if of == nil {
		return
	}
	if of.fan.asker == s {
		of.fan.asker = nil
	}
	for _, item := range of.Items {
		if decision == event.Deny && item.Status == StepPending {
			item.gate.answer = gateDenied
		}
	}
	if decision == event.Allow {
		of.gate.itemsOf = promised(r.facts(s.Step.Tool).Tool)
	}
	for _, item := range of.Items {
		r.enqueue(item)
	}
}

// asksForItems returns the need of an item whose gate asks for all items of its step: one
// of them asks, and the others wait for its answer.
func (r scheduler) asksForItems(s *StepState, now need) need {
	of := s.item.step
	asks := now == needGate && r.sharing(s, r.facts(s.Step.Tool)) > 0
	switch {
	case asks && of.fan.asker == nil:
		of.fan.asker = s
	case asks && of.fan.asker != s:
		return needNothing
	case !asks && of.fan.asker == s && s.Status != StepWaiting:
		of.fan.asker = nil
		for _, item := range of.Items {
			if item != s {
				r.enqueue(item)
			}
		}
	}
	return now
}
