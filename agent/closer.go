package agent

import (
	"strings"

	"replan/agent/event"
	"replan/planning/prompt"
)

// closer decides how a run ends: with its answer, or before.
type closer struct {
	terms         termsView
	planning      planningView
	board         boardView
	outcome       outcomeView
	conversations conversationsView
	flight        flightView
	answers       *answers
	evidence      *evidence
	doubts        *doubts
	guards        *guards
	checker       *checker
	briefing      *briefing
}

// nextEnding completes the run once nothing is in flight.
func (r *closer) nextEnding() []Action {
	if checks := r.checker.checksBeforeEnd(); len(checks) > 0 {
		return checks
	}
	if !r.flight.quiet() {
		return nil
	}
	const whatToDo = "; find out, and resume the run with --in-doubt done or rerun"
	e, _ := r.outcome.plannedEnding()
	doubtful := r.doubts.doubtful()
	if e.answer == "" && r.answers.answersByRule() && e.reason != event.ReasonInterrupted {
		e.answer = r.answers.ruledAnswer()
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

func (r *closer) finish(e ending) []Action {
	if !r.flight.quiet() {
		return nil
	}
	return []Action{{Record: event.RunCompleted{Result: r.answers.result(r.answers.orUnverified(e))}}}
}

// nextAnswer requests the answer, and completes the run with it.
func (r *closer) nextAnswer() []Action {
	if checks := r.checker.nextAcceptance(); len(checks) > 0 {
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
	if e, ok := r.outcome.plannedDryEnding(); ok {
		return r.finish(e)
	}
	switch {
	case r.answers.answersByRule():
		return r.finish(r.answers.endingByRule())
	case r.terms.skipSynthesis() || r.terms.DryRun() || r.terms.model() == "":
		e := ending{status: event.StatusCompleted, reason: event.ReasonGoalMet}
		if r.answers.incomplete() {
			e.reason = event.ReasonPartial
		}
		return r.finish(e)
	}
	return r.askForAnswer()
}

// askForAnswer asks the model for the answer. A model that has replied with a plan or a
// call is held to a format.
func (r *closer) askForAnswer() []Action {
	if blocked := r.guards.stopped(event.GuardTokens, ""); blocked != nil {
		return blocked
	}
	request := prompt.SynthesisRequest(r.briefing.brief(), r.board.current(), r.answers.synthesisItems(), r.evidence.all())
	if r.outcome.answer().Again() {
		request = prompt.HeldAnswer(request)
	}
	return []Action{{event.SynthesisStarted{Request: request}, CallModel{Request: request, Tools: r.briefing.readable(nil)}}}
}

// answerDirectly requests an answer to the goal without a plan.
func (r *closer) answerDirectly() []Action {
	if r.terms.model() == "" {
		return r.finish(ending{event.StatusFailed, event.ReasonPlannerError, noModel("answer"), ""})
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

// nextChat continues a chat turn: first its calls, whose actions are given, then the model's
// reply to them.
func (r *closer) nextChat(out []Action) []Action {
	c := r.conversations.inChat()
	switch {
	case c == nil || len(out) > 0 && out[len(out)-1].mayEnd():
		return out
	case c.over():
		answer, failed := c.ended()
		if failed.kind != "" {
			return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, failed.sentence, ""})...)
		}
		return append(out, r.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: answer})...)
	case !c.idle() || r.guards.modelsBusy():
		return out
	case r.terms.model() == "":
		return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, noModel("answer"), ""})...)
	}
	for _, blocked := range [][]Action{r.guards.stopped(event.GuardTokens, ""), r.guards.stuck(c)} {
		if blocked != nil {
			return append(out, blocked...)
		}
	}
	request := prompt.ChatRequest(r.briefing.briefOf(c), c.last(), c.conversation()...)
	return append(out, Action{event.ModelRequested{Purpose: request.Purpose, Request: request}, CallModel{Request: request, Tools: r.briefing.readable(r.briefing.callable(c))}})
}
