package agent

import (
	"replan/agent/event"
	"replan/planning/reply"
)

// applySteered passes the user's remark to whoever is working: each model in a
// loop gets it with its next turn, otherwise the planner of the rest.
func (r fold) applySteered(d event.RunSteered) {
	if loops := r.activeLoops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remark(string(d.Text))
			}
		}
		return
	}
	r.Planning.keepMessages(string(d.Text))
	r.heed()
}

// heed replans the rest of the plan because of the user's remark, if that is
// possible now.
func (r dialogue) heed() {
	if len(r.UserMessages) == 0 || r.Revision == 0 || r.Planning.active() || r.Synthesis.Started {
		return
	}
	r.Planning.heed()
}

// Steerable reports whether a remark of the user to the run would be heard.
func (r *Run) Steerable() bool {
	switch {
	case !r.Active() || r.ends() || r.Paused || r.dryRun || r.planOnly && r.Revision > 0:
		return false
	case r.Synthesis.Started:
		return r.Synthesis.Direct && !r.Synthesis.Done
	case len(r.activeLoops()) > 0:
		return true
	case r.Revision == 0:
		return r.canReplan()
	default:
		return r.canReplan() && (r.Planning.active() || r.Planning.wantsReplan() || !r.settled())
	}
}

// remarks returns the remarks that the chat has not heard.
func (r dialogue) remarks() []string {
	if r.Chat != nil {
		return r.Chat.unheard()
	}
	return r.UserMessages
}

// takeRemarks adds remarks made during planning to the conversation that answers
// the goal.
func (r dialogue) takeRemarks() {
	if len(r.UserMessages) == 0 {
		return
	}
	r.Conversations.chat().remark(r.Planning.takeMessages()...)
	r.Conversations.chat().request(r.Now)
}

// hearMore continues after an answer if the user has made a remark since.
func (r dialogue) hearMore(reply reply.Reply) {
	r.Conversations.chat().remark(r.Planning.takeMessages()...)
	r.Conversations.chat().hearMore(reply)
	r.Outcome.continueAnswer()
}
