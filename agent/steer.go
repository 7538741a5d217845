package agent

import (
	"strings"

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
	r.UserMessages = append(r.UserMessages, string(d.Text))
	r.heed()
}

// heed replans the rest of the plan because of the user's remark, if that is
// possible now.
func (r dialogue) heed() {
	if len(r.UserMessages) == 0 || r.Revision == 0 || r.pipeline != nil || r.Synthesis.Started {
		return
	}
	if r.failure == nil {
		r.failure = &failure{}
	}
	r.failure.remark = strings.TrimSpace(r.failure.remark + "\n" + strings.Join(r.UserMessages, "\n"))
	r.UserMessages = nil
}

// reason returns why there is a new plan.
func (f *failure) reason() string {
	if f.isRemark() {
		return "the user says: " + f.remark
	}
	return f.error
}

// Steerable reports whether a remark of the user to the run would be heard.
func (r *Run) Steerable() bool {
	switch {
	case !r.Active() || r.ending != nil || r.Paused || r.dryRun || r.planOnly && r.Revision > 0:
		return false
	case r.Synthesis.Started:
		return r.Synthesis.Direct && !r.Synthesis.Done
	case len(r.activeLoops()) > 0:
		return true
	case r.Revision == 0:
		return r.canReplan()
	default:
		return r.canReplan() && (r.pipeline != nil || r.failure != nil || !r.settled())
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
	r.chat().remark(r.UserMessages...)
	r.chat().request(r.Now)
	r.UserMessages = nil
}

// hearMore continues after an answer if the user has made a remark since.
func (r dialogue) hearMore(reply reply.Reply) {
	r.chat().remark(r.UserMessages...)
	r.chat().hearMore(reply)
	r.UserMessages = nil
	r.Synthesis.Text, r.Synthesis.Thinking = "", ""
}
