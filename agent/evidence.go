package agent

import (
	"slices"

	"replan/agent/event"
	"replan/planning/expression"
	"replan/planning/plan"
)

// evidence is what shows that the steps of a run have done their work.
type evidence struct {
	terms      termsView
	tools      toolsView
	board      boardView
	acceptance acceptanceView
}

// all carries out [Run.Evidence].
func (r *evidence) all() []plan.Evidence {
	out, tests := []plan.Evidence{}, r.testRuns()
	for _, s := range r.board.steps() {
		switch {
		case s.isDraft() || s.isDry() || s.notTaken():
		case s.expands() && len(itemChecks(s)) > 0:
			out = append(out, itemEvidence(s)...)
		case len(ChecksOf(s.planned())) > 0:
			out = append(out, evidenceOf(s.index(), ChecksOf(s.planned()), s.checked())...)
		case s.status() == StepCompleted:
			if e, claims := r.shown(s, tests); claims {
				out = append(out, e)
			}
		}
	}
	if r.terms.DryRun() {
		return out
	}
	return append(out, evidenceOf("", r.board.current().Acceptance, r.acceptance.accepted())...)
}

// stateOf carries out [Run.StateOf].
func (r *evidence) stateOf(s stepView) plan.EvidenceState {
	switch {
	case s.isDraft() || s.isDry():
		return ""
	case s.expands() && len(itemChecks(s)) > 0:
		if evidence := itemEvidence(s); len(evidence) > 0 {
			return worst(evidence).State
		}
		return ""
	case len(ChecksOf(s.planned())) == 0:
		if s.status() != StepCompleted || !r.claims(s) {
			return ""
		}
		if e, claims := r.shown(s, r.testRuns()); claims {
			return e.State
		}
		return ""
	case len(s.checked()) == 0:
		return plan.StateUnchecked
	}
	return worst(evidenceOf(s.index(), ChecksOf(s.planned()), s.checked())).State
}

// claims reports whether nothing but a model or a tool with effects says that a completed
// step has done its work.
func (r *evidence) claims(s stepView) bool {
	if s.expands() && !slices.ContainsFunc(s.fanOutState().all(), func(item stepView) bool { return item.status() == StepCompleted }) {
		return false // it has done nothing
	}
	facts := r.tools.facts(s.tool())
	return s.executor() != plan.ExecutorTool || facts.Err != nil || !facts.Tool.ReadOnly
}

func evidenceOf(step string, checks []plan.Check, done []event.CheckCompleted) []plan.Evidence {
	out := make([]plan.Evidence, len(checks))
	for i, c := range checks {
		out[i] = plan.Evidence{Title: titleOf(c), State: plan.StateUnchecked, Saw: []expression.Sight{}, Step: step}
		if i < len(done) {
			out[i].State, out[i].Saw, out[i].Reason = done[i].State, done[i].Saw, done[i].Reason
		}
	}
	return out
}

// worst returns the first evidence that is refuted, else that is unchecked, else the first.
// There is at least one.
func worst(evidence []plan.Evidence) plan.Evidence {
	for _, state := range []plan.EvidenceState{plan.StateRefuted, plan.StateUnchecked} {
		if i := slices.IndexFunc(evidence, func(e plan.Evidence) bool { return e.State == state }); i >= 0 {
			return evidence[i]
		}
	}
	return evidence[0]
}

// itemChecks returns the checks of each item of a step.
func itemChecks(s stepView) []plan.Check {
	step := s.planned()
	step.ForEach = nil
	return ChecksOf(step)
}

// itemEvidence returns one evidence per check of a step with items: the worst of those that
// its items have. A failed item leaves its checks unchecked. A list without items shows nothing.
func itemEvidence(s stepView) []plan.Evidence {
	checks := itemChecks(s)
	if s.fanOutState().all() == nil {
		return evidenceOf(s.index(), checks, nil)
	}
	var out []plan.Evidence // after the first item one per check
	for _, item := range s.fanOutState().all() {
		if item.notTaken() || item.gateState().denied() {
			continue // it is left out
		}
		of := evidenceOf(item.index(), checks, item.checked())
		if out == nil {
			out = of
			continue
		}
		for i := range out {
			out[i] = worst([]plan.Evidence{out[i], of[i]})
		}
	}
	for i := range out {
		if out[i].State == plan.StateVerified {
			out[i].Step = s.index()
		}
	}
	return out
}
