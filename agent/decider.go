package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/agent/event"
	"replan/planning/plan"
)

// decider decides how a run continues after a failed step or one in doubt, or asks the user.
type decider struct {
	steps     *roster
	terms     *Terms
	board     *Board
	planning  *Planning
	outcome   *Outcome
	questions *OpenQuestions
	meter     *Meter
	dialogue  *dialogue
	expander  *expander
	recorder  *recorder
	scheduler *scheduler
}

// handleFailure decides what follows from a failed step. If that would end the run and
// the user is present and has something to decide, it asks the user instead.
func (r *decider) handleFailure(s *StepState) {
	switch {
	case !s.isItem() || r.scheduler.retries(s):
	case r.endsItems(s):
		r.expander.stopItems(s)
		return
	default:
		r.followReason(s)
		r.scheduler.skipDependents(s)
		return
	}
	status, reason := event.StatusFailed, event.ReasonStepFailed
	sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error)))
	switch {
	case s.Failure == event.FailureDenied:
		if r.followReason(s) {
			r.planning.failStep(s.Step.Index, string(s.Error))
			return
		}
		reason, sentence = event.ReasonDenied, s.deniedWords()
	case s.Failure == event.FailureInterrupted:
		status, reason, sentence = event.StatusCanceled, event.ReasonInterrupted, headline(string(s.Error))
	case !s.Failure.Replannable():
		r.outcome.end(event.StatusFailed, event.ReasonGuard, sentence)
		return
	case r.scheduler.retries(s), r.scheduler.refills(s):
		return
	default:
		switch follows := r.board.Plan.FailureOf(s.Step, r.terms.fallback()); {
		case follows == plan.OnFailureAbort:
		case follows == plan.OnFailureReplan && r.meter.Limits.NoReplan:
		case follows == plan.OnFailureSkip:
			r.scheduler.skipDependents(s)
			return
		default:
			if r.terms.DryRun() {
				break // a dry run reports what would happen and plans nothing new
			}
			if r.planning.canReplan(r.terms.Model) {
				if !r.planning.wantsReplan() {
					r.planning.failStep(s.Step.Index, string(s.Error))
				}
				return
			}
			sentence += "; it asks for a replan, and there is no model to make one"
		}
	}
	switch {
	case r.terms.DryRun():
		// The run would end here, but a dry run also shows the steps that do not
		// depend on this one.
		r.scheduler.skipDependents(s)
		r.outcome.endDry(status, reason, sentence)
	case r.terms.attended() && !r.outcome.ends() && r.leavesAChoice(s):
		r.ask(s)
	default:
		r.outcome.end(status, reason, sentence)
	}
}

// followReason makes the reason why the user declined a call the request for a new plan of the
// rest. It reports whether there is one: without a reason, the user has still to say what follows.
func (r *decider) followReason(s *StepState) bool {
	reason, _ := s.Declined()
	if reason == "" || r.outcome.ends() || !r.canReplan() {
		return false
	}
	r.planning.keepMessages(string(reason))
	r.dialogue.applyRemarks()
	return true
}

// canReplan reports whether the run may still make a new plan of the rest.
func (r *decider) canReplan() bool {
	return r.planning.canReplan(r.terms.Model) && !r.meter.Limits.NoReplan && r.meter.replansLeft() > 0 && !r.terms.DryRun()
}

// leavesAChoice reports whether the user has something to decide after a failed step.
// If nothing can replan, a denial is final, and so is the failure of the last step:
// a resume tries it again.
func (r *decider) leavesAChoice(s *StepState) bool {
	switch {
	case r.planning.canReplan(r.terms.Model) || r.questions.asks():
		return true
	case s.gate().denied():
		return false
	}
	return slices.ContainsFunc(r.board.Steps, func(other *StepState) bool {
		return other != s && !other.Status.Ended() && other.skipReason() == ""
	})
}

// ask opens the question about a step.
func (r *decider) ask(s *StepState) {
	if !r.outcome.ends() && !s.awaitsAnswer() {
		s.askUser(true)
		r.questions.add(s)
	}
}

// answered closes the question about a step.
func (r *decider) answered(s *StepState) {
	s.askUser(false)
	r.questions.remove(s)
}

// applyDoubtResolved applies the decision about a step in doubt.
func (r *decider) applyDoubtResolved(d event.DoubtResolved) {
	s := r.steps.step(d.Step)
	if s == nil || s.Status != StepInDoubt {
		return
	}
	r.recorder.decided(s, AskedDoubt, string(d.Decision), d.By)
	switch d.Decision {
	case event.DoubtDone:
		r.answered(s)
		s.completeAsTold()
		r.recorder.record(s, plan.ItemCompleted)
		if len(ChecksOf(s.Step)) > 0 {
			r.scheduler.beginChecks(s)
			s.checks().loseResult()
			break
		}
		r.scheduler.release(s)
		r.dialogue.settleCall(s)
	case event.DoubtRerun:
		r.answered(s)
		s.interruption().rerun(isUnattended(d.By))
		r.scheduler.again(s)
		r.scheduler.enqueue(s.whole()) // a step that another item has stopped waited for the answer
	default:
		r.outcome.end(event.StatusFailed, event.ReasonInDoubt, fmt.Sprintf("step %s (%s) may or may not have taken effect: %s; find out, and resume the run with --in-doubt done or rerun", d.Step, s.Step.Title, s.Error))
	}
	r.scheduler.enqueue(s)
}

// applyFailureResolved continues after a failed step as decided. After a resume,
// the step already waits for another attempt.
func (r *decider) applyFailureResolved(d event.FailureResolved) {
	s := r.steps.step(d.Step)
	if s == nil || s.byModel() || s.Status != StepFailed && s.Status != StepPending {
		return
	}
	r.answered(s)
	r.recorder.decided(s, AskedFailure, string(d.Decision), d.By)
	decision := d.Decision
	if decision == event.FailureReplan && !r.planning.canReplan(r.terms.Model) {
		decision = event.FailureAbort
	}
	switch decision {
	case event.FailureRetry:
		if d.Args != nil && s.Failure == event.FailureCheck {
			s.forgetFailure() // the user asks for another call
		}
		r.scheduler.again(s)
		if d.Args != nil {
			s.write(d.Args)
		}
	case event.FailureSkip:
		if s.skipByUser() {
			r.recorder.record(s, plan.ItemSkipped)
		}
		r.scheduler.skipDependents(s)
	case event.FailureReplan:
		s.failAgain()
		r.planning.failStep(s.Step.Index, cmp.Or(string(s.Error), "the user asks for a new plan"))
	default:
		status, reason := event.StatusFailed, event.ReasonStepFailed
		sentence := fmt.Sprintf("step %s (%s) failed: %s", s.Step.Index, s.Step.Title, headline(string(s.Error)))
		switch s.Failure {
		case event.FailureDenied:
			if reason = event.ReasonDenied; s.isDeclined() {
				sentence = s.deniedWords()
			}
		case event.FailureInterrupted:
			status, reason = event.StatusCanceled, event.ReasonInterrupted
		}
		r.outcome.end(status, reason, sentence)
	}
	r.scheduler.enqueue(s)
}

// isUnattended reports whether no user made a decision: an option did, or no user was present.
func isUnattended(by string) bool {
	return strings.HasPrefix(by, "--") || strings.HasPrefix(by, "nobody ")
}

// headlineKept bounds the error text in the sentence that ends a run, in runes;
// the history keeps the full error.
const headlineKept = 300

// headline returns the first non-empty line of an error.
func headline(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = strings.TrimSpace(line)
	if runes := []rune(line); len(runes) > headlineKept {
		return string(runes[:headlineKept]) + "…"
	}
	if rest != "" {
		return line + " …"
	}
	return line
}

// endsItems reports whether the failure of an item ends its step.
func (r *decider) endsItems(s *StepState) bool {
	if s.gate().denied() && s.Failure == event.FailureDenied {
		return false // the user leaves it out
	}
	stops := s.Failure == event.FailureDenied || s.Failure == event.FailureInterrupted || !s.Failure.Replannable()
	return stops || r.board.Plan.FailureOf(s.item().owner().Step, r.terms.fallback()) != plan.OnFailureSkip
}
