package agent

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// closer decides how a run ends: with its answer, or before.
type closer struct {
	answers     *answers
	guards      *guards
	checker     *checker
	briefing    *briefing
	terms       termsView
	tools       toolsView
	ledger      ledgerView
	planning    planningView
	board       boardView
	steps       stepsView
	outcome     outcomeView
	acceptance  acceptanceView
	questions   questionsView
	permissions permissionsView
	reviews     reviewsView
	uncommitted uncommittedView
	queues      queuesView
	flight      flightView
	clock       clockView
	meter       meterView
}

// settled reports whether every step of the plan has finally ended.
func (r *closer) settled() bool {
	return r.flight.quiet() && len(r.permissions.openGates()) == 0 && r.queues.empty()
}

// nextEnding completes the run once nothing is in flight.
func (r *closer) nextEnding() []Action {
	if checks := r.checksBeforeEnd(); len(checks) > 0 {
		return checks
	}
	if !r.flight.quiet() {
		return nil
	}
	const whatToDo = "; find out, and resume the run with --in-doubt done or rerun"
	e, _ := r.outcome.endsAs()
	doubtful := r.doubtful()
	if e.answer == "" && r.answers.answersByRule() && e.reason != event.ReasonInterrupted {
		e.answer = r.answers.ruled()
	}
	switch {
	case e.reason == event.ReasonStepFailed && len(doubtful) > 0:
		// Failures can be retried; a doubt cannot, until the user has checked it.
		e.reason = event.ReasonInDoubt
		e.error += "; in doubt: step " + strings.Join(doubtful, ", step ") + whatToDo
	case e.reason == event.ReasonInDoubt && len(doubtful) > 1:
		e.error = "the steps " + strings.Join(doubtful, ", ") + " may or may not have taken effect" + whatToDo
	}
	return []Action{{Record: event.RunCompleted{Result: r.answers.result(e)}}}
}

// doubtful returns the steps that are in doubt.
func (r *closer) doubtful() []string {
	var out []string
	r.steps.each(func(s stepView) {
		if s.status() == StepInDoubt {
			out = append(out, s.index())
		}
	})
	return out
}

// nextRecords returns records that follow from the state alone: skipped phases
// and budgets that run low.
func (r *closer) nextRecords() []Action {
	var out []Action
	for _, s := range r.planning.unreportedSkips() {
		if s.Phase > 0 && r.board.revision() == 0 {
			out = append(out, Action{Record: event.PhaseSkipped{Phase: s.Phase, Label: string(prompt.Phases[s.Phase-1]), Reason: untrusted.Text(s.Reason)}})
		}
	}
	out = append(out, r.nextDirty()...)
	for _, b := range r.guards.budgets() {
		if b.low() && !r.meter.hasWarned(b.guard) {
			out = append(out, Action{Record: event.BudgetWarned{Guard: b.guard, Used: b.used, Limit: b.limit}})
		}
	}
	return out
}

func (r *closer) finish(e ending) []Action {
	if !r.flight.quiet() {
		return nil
	}
	return []Action{{Record: event.RunCompleted{Result: r.answers.result(r.answers.orUnverified(e))}}}
}

// nextAnswer requests the answer, and completes the run with it.
func (r *closer) nextAnswer() []Action {
	if checks := r.nextAcceptance(); len(checks) > 0 {
		return checks
	}
	switch {
	case r.outcome.answer().Again():
		return r.askForAnswer()
	case r.outcome.answer().Done:
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet, answer: r.outcome.answer().Text}
		switch {
		case r.outcome.answer().Direct && r.outcome.answer().Error != "":
			e = ending{event.StatusFailed, event.ReasonPlannerError, string(r.outcome.answer().Error), ""}
		case r.outcome.answer().Direct:
			e.reason = event.ReasonDirect
		case r.answers.incomplete(), r.answers.missingAnswer() != "":
			e.reason = event.ReasonPartial
		}
		if !r.outcome.answer().Direct {
			e.answer = r.answers.supported(e.answer)
		}
		if r.outcome.answer().Error != "" && !r.outcome.answer().Direct {
			e.answer = r.answers.unwritten()
		}
		return r.finish(e)
	case r.outcome.answer().Started || !r.flight.quiet():
		return nil
	case r.outcome.answer().Direct:
		return r.answerDirectly() // it was lost when the program ended
	}
	if e, ok := r.outcome.endsDryAs(); ok {
		return r.finish(e)
	}
	switch {
	case r.answers.answersByRule():
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet, answer: r.answers.ruled()}
		switch s := r.answers.firstModelStep(); {
		case s != nil: // the user did not ask to skip it, so the order was not carried out
			e.status, e.reason = event.StatusFailed, event.ReasonStepFailed
			e.error = fmt.Sprintf("step %s (%s) needs a model, and there is none", s.index(), s.title())
		case r.answers.incomplete(), r.noTestsRun():
			e.reason = event.ReasonPartial
		case intent.NothingFound(r.answers.meant(), r.ledger.history()):
			e.reason = event.ReasonNothingFound
		case intent.NothingToCommit(r.answers.meant(), r.ledger.history()):
			e.reason = event.ReasonNothingToCommit
		}
		return r.finish(e)
	case r.terms.skipSynthesis() || r.terms.DryRun() || r.terms.model() == "":
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet}
		if r.answers.incomplete() {
			e.reason = event.ReasonPartial
		}
		return r.finish(e)
	}
	return r.askForAnswer()
}

// noTestsRun reports whether the words of the goal ask for tests, and none ran.
func (r *closer) noTestsRun() bool {
	taken, ok := r.planning.taken()
	return ok && intent.NoTestsRun(taken.Intent, r.ledger.history())
}

// askForAnswer asks the model for the answer. A model that has replied with a plan or a
// call is held to a format.
func (r *closer) askForAnswer() []Action {
	if blocked := r.guards.stopped(event.GuardTokens, ""); blocked != nil {
		return blocked
	}
	request := prompt.SynthesisRequest(r.briefing.brief(), r.board.current(), r.answers.SynthesisItems(), r.answers.Evidence())
	if r.outcome.answer().Again() {
		request = prompt.HeldAnswer(request)
	}
	return []Action{{event.SynthesisStarted{Request: request}, CallModel{Request: request, Tools: plan.Offer(r.tools.catalog())}}}
}

// overdue ends the run when its time is up.
func (r *closer) overdue() *Action {
	limit := r.meter.limits().MaxDurationMS
	used := r.clock.Elapsed().Milliseconds()
	if limit <= 0 || used < limit {
		return nil
	}
	return &Action{Record: event.GuardBlocked{
		Guard: event.GuardTime, Used: used, Limit: limit,
		Reason: untrusted.Text(fmt.Sprintf("the run took longer than its limit of %s", time.Duration(limit)*time.Millisecond)),
	}}
}

// deadline requests a timer for the end of the run's time.
func (r *closer) deadline() []Action {
	if r.meter.limits().MaxDurationMS <= 0 || r.clock.fired(event.GuardTime) {
		return nil
	}
	return []Action{{Effect: Wake{ID: event.GuardTime, At: r.clock.reaches(time.Duration(r.meter.limits().MaxDurationMS) * time.Millisecond)}}}
}

// nextLost reports that the steps that were running when the program ended are in
// doubt.
func (r *closer) nextLost() []Action {
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
func (r *closer) nextDoubts() []Action {
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
func (r *closer) doubtAnswer(s stepView) event.DoubtDecision {
	switch {
	case r.terms.inDoubt() == "" && r.terms.attended():
		return ""
	case r.terms.inDoubt() == "", r.terms.inDoubt() == event.DoubtRerun && s.interruptionState().rerunsUnasked():
		return event.DoubtAbort
	default:
		return r.terms.inDoubt()
	}
}

func (r *closer) doubtAnswerer() string {
	if r.terms.inDoubt() == "" {
		return "nobody was there to be asked"
	}
	return "--in-doubt " + string(r.terms.inDoubt())
}

// nextAcceptance evaluates the plan's acceptance, after its last step.
func (r *closer) nextAcceptance() []Action {
	subject := r.acceptance.acceptanceOf(r.board)
	if r.board.revision() == 0 || r.terms.DryRun() || r.outcome.answer().Direct || r.outcome.answer().Started && !r.outcome.answer().Done || subject.over() {
		return nil
	}
	free := r.guards.freeSlots()
	return r.checker.nextCheck(subject, &free)
}

// checksBeforeEnd evaluates what is left when the run is about to end, as calls that run may
// finish. After a stop nothing can be called; a resume evaluates it.
func (r *closer) checksBeforeEnd() []Action {
	if e, _ := r.outcome.endsAs(); r.outcome.isPaused() || e.reason == event.ReasonTimeBudget {
		return nil
	}
	free := r.guards.freeSlots()
	return r.checker.nextChecks(r.queues.all(needCheck), &free)
}

// accepting reports whether the plan's acceptance is being evaluated.
func (r *closer) accepting() bool {
	return !r.outcome.ends() && !r.planning.wantsReplan() && !r.planning.active() && r.board.revision() > 0 && !r.reviews.ReviewPending() && !r.questions.asks() && r.settled() && r.nextAcceptance() != nil
}

// nextDirty says, once, that the folder held changes before the run makes its
// own.
func (r *closer) nextDirty() []Action {
	text := r.uncommitted.warning()
	if text == "" || r.terms.DryRun() || r.terms.PlanOnly() || slices.ContainsFunc(r.ledger.notes(), func(n event.Note) bool { return string(n.Text) == text }) {
		return nil
	}
	return []Action{{Record: event.Note{Level: "warn", Text: untrusted.Text(text)}}}
}

// answerDirectly requests an answer to the goal without a plan.
func (r *closer) answerDirectly() []Action {
	if r.terms.model() == "" {
		return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, "there is no model to answer; start Ollama, or choose one with --host and --model", ""})
	}
	if blocked := r.guards.stopped(event.GuardTokens, ""); blocked != nil {
		return blocked
	}
	var remarks []prompt.Message
	for _, text := range r.planning.messages() {
		remarks = append(remarks, prompt.Remark(text))
	}
	request := prompt.ChatRequest(r.briefing.brief(), false, remarks...)
	return []Action{{event.SynthesisStarted{Direct: true, Request: request}, CallModel{Request: request, Tools: r.briefing.readable(prompt.ChatTools(r.briefing.brief()))}}}
}
