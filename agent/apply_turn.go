package agent

import (
	"replan/agent/event"
)

// applyTurn applies the reply to a turn of a sub-agent, or to its planning.
func (r *Run) applyTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	s := r.Step(d.Step)
	if s == nil || s.Status != StepRunning || s.Attempt != d.Attempt || s.Loop == nil || !s.Loop.Asking {
		return // the plan has changed since
	}
	defer r.scheduler().enqueue(s)
	l := s.Loop
	l.replied(d.Reply, r.Now)
	s.count(l.Tokens)
	switch _, plans := l.planRequest(); {
	case plans:
		l.ownPlan(d, r.ends())
	case d.Error != "":
		l.noReply(d, r.ends(), r.dialogue().manners(l))
	default:
		r.dialogue().handleReply(l, d.Reply)
	}
}

// applyChatTurn applies a chat reply that requests calls.
func (r *Run) applyChatTurn(d event.ModelReplied) {
	r.flight.modelReturns()
	r.Meter.reply(d.Reply)
	r.Conversations.chat().replied(d.Reply, r.Now)
	r.Outcome.continueAnswer()
	r.dialogue().handleReply(r.Chat, d.Reply)
}
