package agent

import (
	"cmp"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// requester asks models to carry out steps, and to write the arguments that plans leave out.
type requester struct {
	terms         termsView
	tools         toolsView
	board         boardView
	conversations conversationsView
	origins       *origins
	guards        *guards
	briefing      *briefing
}

// startModel asks the model to execute a step in text, or to write the arguments
// that the plan left out.
func (r *requester) startModel(s stepView, free *slots) []Action {
	if s.status() == StepRunning {
		return r.nextTurn(s, free)
	}
	fills := s.executor() == plan.ExecutorTool
	if !fills && free.stepsLeft() <= 0 && !s.isItem() {
		return r.guards.stopped(event.GuardSteps, s.index())
	}
	if blocked := r.guards.stopped(event.GuardTokens, s.index()); blocked != nil {
		return blocked
	}
	if s.executor() == plan.ExecutorAgent {
		free.useStep(s)
		return []Action{{Record: started(s, r.board.needs(s), nil, s.nextAttempt())}}
	}
	free.takeModel()
	if fills {
		request := prompt.ArgsRequest(r.briefing.brief(), r.board.current(), s.planned(), r.tools.facts(s.tool()).Tool, r.origins.inputs(s.planned()), s.requestState().refusal())
		return []Action{{
			event.ModelRequested{Purpose: request.Purpose, Step: s.index(), Request: request},
			CallModel{Request: request},
		}}
	}
	free.useStep(s)
	number := s.nextAttempt()
	request := prompt.StepRequest(r.briefing.brief(), r.board.current(), s.planned(), r.origins.inputs(s.planned()))
	started := started(s, r.board.needs(s), nil, number)
	started.Request = &request
	return []Action{{
		started,
		CallModel{Request: request, Index: s.index(), Attempt: number, Timeout: s.timeout(), Tools: r.briefing.readable(nil)},
	}}
}

// nextTurn asks a sub-agent for its next turn, or for its own plan.
func (r *requester) nextTurn(s stepView, free *slots) []Action {
	l := s.loop()
	for _, blocked := range [][]Action{r.guards.stopped(event.GuardTokens, s.index()), r.guards.stuck(l)} {
		if blocked != nil {
			return blocked
		}
	}
	free.takeModel()
	profile := l.profileOf()
	request, plans := l.planRequest()
	if plans {
		request.Step, request.Model = s.index(), cmp.Or(profile.Model, r.terms.prompting().Models.Of(request.Purpose).Name) // a resume may have changed it
	} else {
		profile.WritesCalls = r.conversations.holdsCalls(profile.Model)
		request = prompt.AgentRequest(r.briefing.briefOf(l), r.board.current(), s.planned(), profile, r.origins.inputs(s.planned()), l.conversation(), l.turn())
	}
	request.Think = request.Think && !l.stalled() // a model that got stuck thinking should answer now
	return []Action{{
		event.ModelRequested{Purpose: request.Purpose, Step: s.index(), Attempt: s.attempt(), Request: request},
		CallModel{Request: request, Index: s.index(), Attempt: s.attempt(), Tools: r.briefing.readable(r.briefing.callable(l))},
	}}
}

// nextDeadlines requests timers for the time limits of agent steps whose clocks
// run.
func (r *requester) nextDeadlines() []Action {
	var out []Action
	for _, s := range r.conversations.atWork() {
		if !s.loop().over() && !s.loop().clockPaused() {
			out = append(out, Action{Effect: Wake{ID: s.loop().timer(), At: s.loop().deadline()}})
		}
	}
	return out
}
