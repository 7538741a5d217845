package agent

import (
	"cmp"
	"slices"

	"replan/agent/event"
	"replan/planning/plan"
)

// applyCheck records a check, and ends its step if it was the last one and all hold.
func (r *tracker) applyCheck(d event.CheckCompleted) {
	if d.Index == "" {
		r.applyAccepted(d)
		return
	}
	s := r.steps.Step(d.Index)
	if s == nil || s.Status != StepChecking || s.Attempt != d.Attempt || d.Check != len(s.Checked)+1 {
		return
	}
	r.countCheck(d)
	s.check(d, r.clock.Seq)
	if !subjectOf(s).over() || refutation(s.Checked) != "" {
		r.scheduler.enqueue(s)
		return
	}
	s.completeChecked()
	r.recorder.amend(s, plan.ItemCompleted)
	r.scheduler.release(s)
	r.scheduler.enqueue(s)
}

// checkUnchecked has the checks evaluated again of completed steps and items with one that
// was not.
func (r *tracker) checkUnchecked() {
	unchecked := func(s *StepState) bool {
		return s.Status == StepCompleted && slices.ContainsFunc(s.Checked, func(c event.CheckCompleted) bool { return c.State == plan.StateUnchecked })
	}
	for _, s := range r.board.Steps {
		if unchecked(s) {
			r.beginChecks(s)
		}
		if s.Status != StepCompleted || !slices.ContainsFunc(s.Items, unchecked) {
			continue
		}
		s.runOn() // until its items have ended again
		r.ledger.remove(s.Step.Index, s.Attempt)
		for _, item := range s.Items {
			if unchecked(item) {
				r.beginChecks(item)
				s.fanOut().reopen(item)
			}
		}
	}
}

// countCheck counts the call of a check.
func (r *tracker) countCheck(d event.CheckCompleted) {
	if d.Tool != "" {
		r.tools.called(r.tools.facts(d.Tool))
		r.meter.call(true)
	}
}

// beginChecks has the checks of a step evaluated, from the first.
func (r *tracker) beginChecks(s *StepState) {
	s.beginChecks(r.clock.Seq)
}

// applyRefuted fails a step whose work is done, but not what was expected of it.
func (r *tracker) applyRefuted(s *StepState, d event.StepFailed) {
	s.refute(d)
	r.recorder.amend(s, plan.ItemFailed)
	r.handleFailure(s)
	r.scheduler.enqueue(s)
}

// refersToFinished reports whether the results that the args of a step refer to are
// there already, so that a new plan cannot change what they mean.
func (r *tracker) refersToFinished(step plan.Step, old map[string]*StepState) bool {
	finished := map[string]bool{}
	for _, s := range old {
		if name := s.Step.ResultVariable; name != "" {
			finished[name] = s.Status == StepCompleted
		}
	}
	return !slices.ContainsFunc(plan.References(step.Args), func(ref plan.Reference) bool {
		done, result := finished[ref.Name]
		return result && !done
	})
}

// applyAccepted records a check of the plan's acceptance. After the last one, a refuted
// one leads to a replan, or ends the run.
func (r *tracker) applyAccepted(d event.CheckCompleted) {
	if d.Attempt != r.board.Revision || d.Check != len(r.acceptance.Accepted)+1 {
		return
	}
	r.countCheck(d)
	r.acceptance.accept(d)
	sentence := refutation(r.acceptance.Accepted)
	if !r.acceptance.acceptanceOf(r.board).over() || sentence == "" {
		return
	}
	follows := cmp.Or(r.board.Plan.OnFailure, r.terms.fallback())
	if follows == plan.OnFailureReplan && !r.meter.Limits.NoReplan && r.origins.canReplan() && !r.outcome.ends() {
		r.planning.refute("the steps have ended, but " + sentence)
		return
	}
	r.outcome.end(event.StatusFailed, event.ReasonRefuted, "the steps have ended, but "+sentence)
}
