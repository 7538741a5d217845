package agent

import (
	"replan/agent/rule"
	"replan/planning/plan"
)

// What follows makes the states of the steps of a plan, takes them over into another plan, and
// orders them.

// Change is what the newest revision did to a step.
type Change string

// Changes to a step that is still in the plan.
const (
	ChangeNone    Change = ""
	ChangeAdded   Change = "added"
	ChangeRevised Change = "revised"
)

// placeInPlan orders a step among the others that could start.
type placeInPlan struct {
	at     int     // its position in the plan
	rank   int     // among all steps, by number and then as written; of a call, its number in its loop
	length float64 // ms to the end of the longest path from it
}

// newStep returns the state of a step of a plan.
func newStep(step plan.Step, attempts attemptCount) *StepState {
	return &StepState{Step: step, Status: StepPending, attempts: attempts}
}

// newProbe returns the state of a step with a call that is not made, to ask which rule would
// decide about it. read is what its author had read.
func newProbe(step plan.Step, args map[string]any, read []rule.Provenance) *StepState {
	s := &StepState{Step: step}
	s.call().prepare(args, nil)
	s.author().plannedAfter(read)
	return s
}

// newDraft returns the state of a step of a plan that is still being written.
func newDraft(step plan.Step, attempts attemptCount) *StepState {
	s := newStep(step, attempts)
	s.Draft = true
	return s
}

// probe returns a copy of the step as a review changes it, with a call that is not made.
// missing are the args that a model would write.
func (s *StepState) probe(step plan.Step, args map[string]any, missing []string) *StepState {
	probe := *s
	probe.Step = step
	probe.call().prepare(args, s.call().coerced())
	probe.request().replace(missing)
	return &probe
}

// keepWork gives a step of a new plan all that was done for the same step of the last one.
func (s *StepState) keepWork(before *StepState) {
	step := s.Step
	*s = *before
	s.Step = step
	for _, item := range s.Items {
		item.item().belongTo(s)
	}
}

// rewrite changes the step itself: a review did.
func (s *StepState) rewrite(step plan.Step) { s.Step = step }

// revised records the change of the step by the newest revision, and the results its author read.
func (s *StepState) revised(c Change, read []rule.Provenance) {
	s.Change = c
	s.author().replannedAfter(read)
}

// unchanged notes that the newest revision left the step as it was.
func (s *StepState) unchanged() { s.Change = ChangeNone }

// canStart notes that everything that a draft needs is available.
func (s *StepState) canStart(args map[string]any, fitted []plan.Coercion) {
	s.call().prepare(args, fitted)
	s.canBegin = true
}

// startable reports whether everything that a draft needs is available.
func (s *StepState) startable() bool { return s.canBegin }

// takePlace makes a draft the step of the plan.
func (s *StepState) takePlace(draft *StepState) {
	step := s.Step
	*s = *draft
	s.Step, s.Draft = step, false
}

// position returns the place of the step in its plan.
func (s *StepState) position() int { return s.place.at }

// placed gives the step and its items their place in a plan.
func (s *StepState) placed(at, rank int, length float64) {
	s.place = placeInPlan{at, rank, length}
	for _, item := range s.Items {
		item.place = s.place
	}
}

// before reports whether s has priority over t, which has the same next need: the longest
// remaining path first, and equal ones by their rank. Gates open in the order in which they
// were needed, so that none takes the budget of another whose diff is being made.
func (s *StepState) before(t *StepState, next need) bool {
	switch {
	case next == needGate && s.gate().since() != t.gate().since():
		return s.gate().since() < t.gate().since()
	case next == needTimer && !s.RetryAt.Equal(t.RetryAt):
		return s.RetryAt.Before(t.RetryAt)
	case s.place.length != t.place.length:
		return s.place.length > t.place.length
	case s.place.rank != t.place.rank:
		return s.place.rank < t.place.rank
	default:
		return s.item().isBefore(t.item())
	}
}
