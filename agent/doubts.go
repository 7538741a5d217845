package agent

import (
	"replan/agent/event"
	"replan/internal/untrusted"
)

// doubts are about the steps that may or may not have taken effect.
type doubts struct {
	terms     termsView
	questions questionsView
	steps     stepsView
}

// nextLost reports that the steps that were running when the program ended are in
// doubt.
func (r *doubts) nextLost() []Action {
	var out []Action
	for _, s := range r.questions.unrecorded() {
		reason := "replan ended while it ran"
		if s.interruptionState().mayNotHaveStarted() {
			reason = "the last line of the journal is damaged and may have recorded its start"
		}
		out = append(out, Action{Record: event.StepInDoubt{Index: s.index(), Attempt: s.attempt(), Reason: untrusted.Text(reason)}})
	}
	return out
}

// nextDoubts decides about doubts when no user is present.
func (r *doubts) nextDoubts() []Action {
	var out []Action
	for _, s := range r.questions.undecided() {
		if decision := r.doubtAnswer(s); s.status() == StepInDoubt && decision != "" {
			out = append(out, Action{Record: event.DoubtResolved{Step: s.index(), Decision: decision, By: r.doubtAnswerer()}})
			if decision == event.DoubtAbort {
				break // this ends the run
			}
		}
	}
	return out
}

// doubtAnswer returns the automatic decision about a step in doubt, or "" if the
// user must decide. One resume reruns each step at most once by itself.
func (r *doubts) doubtAnswer(s stepView) event.DoubtDecision {
	switch {
	case r.terms.inDoubt() == "" && r.terms.attended():
		return ""
	case r.terms.inDoubt() == "", r.terms.inDoubt() == event.DoubtRerun && s.interruptionState().rerunsUnasked():
		return event.DoubtAbort
	default:
		return r.terms.inDoubt()
	}
}

func (r *doubts) doubtAnswerer() string {
	if r.terms.inDoubt() == "" {
		return "nobody was there to be asked"
	}
	return "--in-doubt " + string(r.terms.inDoubt())
}

// doubtful returns the steps that are in doubt.
func (r *doubts) doubtful() []string {
	var out []string
	r.steps.each(func(s stepView) {
		if s.status() == StepInDoubt {
			out = append(out, s.index())
		}
	})
	return out
}
