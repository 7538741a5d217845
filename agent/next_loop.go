package agent

import (
	"cmp"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// came returns the event that ends the step of a finished loop.
func (r *decision) came(s *StepState) event.Data {
	ms := r.Now.Sub(s.StartedAt).Milliseconds()
	answer, failed := s.Loop.ended()
	if failed != nil {
		return event.StepFailed{Index: s.Step.Index, Attempt: s.Attempt, Error: untrusted.Text(failed.sentence), Failure: failed.kind, MS: ms}
	}
	return event.StepCompleted{Index: s.Step.Index, Attempt: s.Attempt, Result: answer, MS: ms, Tokens: s.Loop.Tokens}
}

// nextTurn asks a sub-agent for its next turn, or for its own plan.
func (r *decision) nextTurn(s *StepState, free *slots) []Action {
	l := s.Loop
	for _, blocked := range [][]Action{r.guards().stopped(event.GuardTokens, s.Step.Index), r.guards().stuck(l)} {
		if blocked != nil {
			return blocked
		}
	}
	free.models--
	profile := l.profileOf()
	request, plans := l.planRequest()
	if plans {
		request.Step, request.Model = s.Step.Index, cmp.Or(profile.Model, r.prompting.Models.Of(request.Purpose).Name) // a resume may have changed it
	} else {
		profile.WritesCalls = r.Conversations.holdsCalls(profile.Model)
		request = prompt.AgentRequest(r.briefing().briefOf(l), r.Plan, s.Step, profile, r.origins().inputs(s.Step), l.conversation(), l.turn())
	}
	request.Think = request.Think && !l.stalled() // a model that got stuck thinking should answer now
	return []Action{{
		event.ModelRequested{Purpose: request.Purpose, Step: s.Step.Index, Attempt: s.Attempt, Request: request},
		CallModel{Request: request, Index: s.Step.Index, Attempt: s.Attempt, Tools: r.briefing().readable(r.briefing().callable(l))},
	}}
}

// nextChat continues a chat turn: first its calls, then the model's reply to
// them.
func (r *decision) nextChat() []Action {
	out := r.nextSteps()
	c := r.Chat
	switch {
	case c == nil || len(out) > 0 && out[len(out)-1].mayEnd():
		return out
	case c.over():
		answer, failed := c.ended()
		if failed != nil {
			return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, failed.sentence, ""})...)
		}
		return append(out, r.finish(ending{status: event.StatusCompleted, reason: event.ReasonDirect, answer: answer})...)
	case !c.idle() || r.flight.modelsUnderWay() >= r.modelSlots():
		return out
	case r.Model == "":
		return append(out, r.finish(ending{event.StatusFailed, event.ReasonPlannerError, "there is no model to answer; start Ollama, or choose one with --host and --model", ""})...)
	}
	for _, blocked := range [][]Action{r.guards().stopped(event.GuardTokens, ""), r.guards().stuck(c)} {
		if blocked != nil {
			return append(out, blocked...)
		}
	}
	request := prompt.ChatRequest(r.briefing().briefOf(c), c.last(), c.conversation()...)
	return append(out, Action{event.ModelRequested{Purpose: request.Purpose, Request: request}, CallModel{Request: request, Tools: r.briefing().readable(r.briefing().callable(c))}})
}

// nextOfLoops continues only the loops; nothing else starts.
func (r *decision) nextOfLoops() []Action {
	some := r.queues.only(func(s *StepState) bool { return s.byModel() || s.Status == StepRunning })
	return r.nextOf(&some)
}

// nextDeadlines requests timers for the time limits of agent steps whose clocks
// run.
func (r *decision) nextDeadlines() []Action {
	var out []Action
	for _, s := range r.Conversations.working() {
		if !s.Loop.over() && !s.Loop.stands() {
			out = append(out, Action{Effect: Wake{ID: s.Loop.timer(), At: s.Loop.deadline()}})
		}
	}
	return out
}

// applyDeadline ends the loop whose time is up.
func (r *Run) applyDeadline(id string) {
	for _, s := range r.Conversations.working() {
		if id != s.Loop.timer() || s.Loop.over() {
			continue
		}
		if s.Loop.stands() || r.Now.Before(s.Loop.deadline()) {
			r.Clock.unfire(id) // its clock stood in the meantime
			continue
		}
		s.Loop.fail(event.FailureTimeout, "it took longer than the "+s.Loop.limit().String()+" it may")
		r.scheduler().enqueue(s)
	}
}
