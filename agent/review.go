package agent

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"replan/agent/event"
	"replan/planning/plan"
)

// Reviewed is a plan that was looked over and what was changed of it.
type Reviewed struct {
	event.PlanReviewed
	At  time.Time   // of the answer
	Out []StepState // the steps that were taken out, as they stood
}

// pass is the user's yes to one call that has not been reached yet.
type pass struct {
	args map[string]any // as they were shown
	tool string         // that it is about, and what was said of it then
	try  int            // the attempt that it holds for
}

// hold keeps the plan from running until it is looked over, where it is to be
// and anything of it is left.
func (r scheduler) hold() {
	r.held = r.reviewPlans && !r.planOnly && !r.dryRun && slices.ContainsFunc(r.Steps, func(s *StepState) bool { return !s.settled() })
}

// settled reports whether a review can change nothing of a step any more: it has
// ended or is under way, or its call is the user's own already.
func (s *StepState) settled() bool {
	switch s.Status {
	case StepPending, StepWaiting, StepFailed:
		return s.author.args != nil
	default:
		return true
	}
}

// Held reports whether the plan waits to be looked over. While it does nothing of
// it starts. A plan that is about to be made anew, or a question about a step,
// comes first.
func (r *Run) Held() bool {
	return r.held && r.Active() && r.ending == nil && r.planner == nil && r.failure == nil && len(r.questions) == 0
}

// Holds reports whether the plans of the run are held before they run, this one
// or the next.
func (r *Run) Holds() bool { return r.reviewPlans }

// Unreviewed reports whether the plan of a run that goes on, or is resumed, waits
// to be looked over, now or when nothing else comes first.
func (r *Run) Unreviewed() bool { return r.held }

// ReviewAnswer is what the user says to a plan that was held.
type ReviewAnswer struct {
	Revision int // of the plan that was shown
	Decision event.ReviewDecision
	Plan     *plan.Plan // as it was changed; nil leaves it as it is
	Approved []string   // the steps whose gates are open for the args that the plan gives
}

// errNotHeld says that no plan waits to be looked over.
var errNotHeld = errors.New("no plan waits to be looked over")

// Reviewed returns the event that an answer is, or why it cannot be taken: all
// that is wrong with the plan as it was changed. Of that plan titles, args, what
// a step waits for besides, and which steps are left are taken, nothing else.
func (r *Run) Reviewed(a ReviewAnswer, by string) (event.PlanReviewed, error) {
	v := r.Review()
	switch {
	case v == nil:
		return event.PlanReviewed{}, errNotHeld
	case a.Revision != v.Revision:
		return event.PlanReviewed{}, fmt.Errorf("revision %d of the plan was looked over, and it is revision %d that waits", a.Revision, v.Revision)
	case a.Decision == event.ReviewRefuse:
		return v.Said(event.ReviewRefuse, by), nil
	case a.Decision != event.ReviewRun:
		return event.PlanReviewed{}, fmt.Errorf("a plan that was looked over is run or refused, not %q", a.Decision)
	}
	if a.Plan != nil {
		if err := v.adopt(*a.Plan); err != nil {
			return event.PlanReviewed{}, err
		}
	}
	for _, index := range a.Approved {
		if err := v.Approve(index, true); err != nil {
			return event.PlanReviewed{}, err
		}
	}
	return v.Said(event.ReviewRun, by), nil
}

// applyReviewed takes what came of a plan that was looked over. One that was
// refused is held again should the run be resumed.
func (r fold) applyReviewed(d event.PlanReviewed) {
	reviewed := Reviewed{PlanReviewed: d, At: r.Now}
	if d.Decision != event.ReviewRun {
		sentence := "the plan was refused: nothing of it was run"
		if r.Usage.Steps > 0 {
			sentence = "the plan was refused: nothing more of it was run"
		}
		if d.By != byUser {
			sentence = "the plan waits to be looked over, and " + d.By + "; resume the run on a terminal"
		}
		r.Reviews = append(r.Reviews, reviewed)
		r.end(event.StatusFailed, event.ReasonDenied, sentence)
		return
	}
	r.held = false
	if d.Plan != nil {
		reviewed.Out = r.takeReviewed(*d.Plan)
	}
	r.Reviews = append(r.Reviews, reviewed)
	r.every(func(s *StepState) {
		if !s.ReadyAt.IsZero() {
			s.ReadyAt = r.Now // before, it was held
		}
	})
	for _, a := range d.Approved {
		if s := r.Step(a.Step); s != nil {
			s.gate.pass = &pass{args: a.Args, tool: promised(r.facts(s.Step.Tool).tool), try: s.attempts.total + 1}
			r.enqueue(s)
		}
	}
}

// takeReviewed has the plan go on as the user changed it, and returns the steps
// that are gone.
func (r fold) takeReviewed(p plan.Plan) (out []StepState) {
	r.countAttempts()
	before := map[string]*StepState{}
	for _, s := range r.Steps {
		before[s.Step.Index] = s
	}
	r.Plan = p
	if r.Revision == 1 {
		r.firstLength = len(p.Steps)
	}
	steps := make([]*StepState, 0, len(p.Steps))
	for _, step := range p.Steps {
		s := before[step.Index]
		if s == nil {
			s = &StepState{Status: StepPending, attempts: r.attemptsBefore(step.Index)}
		} else if !plan.EqualValues(s.Step.Args, step.Args) {
			r.closeGate(s.Gate) // of a call that is another now
			if s.Status == StepWaiting {
				s.Status, s.Gate = StepPending, ""
			}
			s.gate.outdated, s.gate.files = "", nil // of a call that is another now
			s.gate.withdraw()
			s.fill.args, s.fill.problem, s.Diff, s.gate.hashes, s.gate.removes = nil, "", "", nil, ""
		}
		delete(before, step.Index)
		s.Step = step
		steps = append(steps, s)
	}
	for _, s := range r.Steps {
		if before[s.Step.Index] == s {
			if a := r.newestOf(s); a != nil && a.EndedAt.IsZero() {
				a.EndedAt, a.Status = r.Now, StepSkipped
			}
			r.closeGate(s.Gate)
			out = append(out, *s)
		}
	}
	r.Steps = steps
	r.replot()
	return out
}

// passed reports whether the call that a step is about to make is the one that
// the user approved when the plan was looked over.
func (r *Run) passed(s *StepState) bool {
	p := s.gate.pass
	return p != nil && p.try == s.attempts.total+1 && p.tool == promised(r.facts(s.Step.Tool).tool) && plan.EqualValues(p.args, s.call.args)
}
