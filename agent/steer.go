package agent

import (
	"strings"

	"replan/agent/event"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// applySteered has the user's word heard by whoever is at work: each model in a
// loop with its next turn, else the planner of what remains.
func (r fold) applySteered(d event.RunSteered) {
	if loops := r.loops(); len(loops) > 0 {
		for _, l := range loops {
			if !l.over() {
				l.remarks = append(l.remarks, d.Text)
			}
		}
		return
	}
	r.Remarks = append(r.Remarks, d.Text)
	r.heed()
}

// heed has what remains of the plan planned anew for the sake of what the user
// said, where that can be done now.
func (r dialogue) heed() {
	if len(r.Remarks) == 0 || r.Revision == 0 || r.planner != nil || r.Synthesis.Started {
		return
	}
	if r.failure == nil {
		r.failure = &failure{}
	}
	r.failure.said = strings.TrimSpace(r.failure.said + "\n" + strings.Join(r.Remarks, "\n"))
	r.Remarks = nil
}

// reason says why there is a new plan.
func (f *failure) reason() string {
	if f.step == "" {
		return "the user says: " + f.said
	}
	return f.error
}

// Steerable reports whether the user's word to the run would be heard.
func (r *Run) Steerable() bool {
	switch {
	case !r.Active() || r.ending != nil || r.Paused || r.dryRun || r.planOnly && r.Revision > 0:
		return false
	case r.Synthesis.Started:
		return r.Synthesis.Direct && !r.Synthesis.Done
	case len(r.loops()) > 0:
		return true
	case r.Revision == 0:
		return r.canReplan()
	default:
		return r.canReplan() && (r.planner != nil || r.failure != nil || !r.settled())
	}
}

// remarks are those that the chat has not heard.
func (r dialogue) remarks() []string {
	if r.Chat != nil {
		return r.Chat.remarks
	}
	return r.Remarks
}

// takeRemarks makes what the user said while planning was under way part of the
// conversation in which the goal is answered.
func (r dialogue) takeRemarks() {
	if len(r.Remarks) == 0 {
		return
	}
	c := r.chatted()
	c.remarks, r.Remarks = append(c.remarks, r.Remarks...), nil
	c.request()
}

// hearMore goes on from an answer that the user has spoken after.
func (r dialogue) hearMore(reply reply.Reply) {
	c := r.chatted()
	c.remarks, r.Remarks = append(c.remarks, r.Remarks...), nil
	c.Turns++
	c.messages = append(c.messages, prompt.Said(reply))
	r.Synthesis.Text, r.Synthesis.Thinking = "", ""
}

// request notes that the next turn was asked for, with what the user said.
func (l *Loop) request() {
	l.Asking, l.mustAnswer = true, l.last()
	l.messages = append(l.messages, l.said()...)
	l.remarks = nil
}

// said is what the user said since the last turn.
func (l *Loop) said() []prompt.Message {
	out := make([]prompt.Message, 0, len(l.remarks)+1)
	for _, text := range l.remarks {
		if l.step != nil {
			text = "# Step " + l.step.Step.Index + "\n\nThe user says: " + text
		}
		out = append(out, prompt.Remark(text))
	}
	return out
}
