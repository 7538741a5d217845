package agent

import (
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// gatekeeper opens the gates of steps, and applies the answers.
type gatekeeper struct {
	steps       *roster
	tools       *Toolbox
	permissions *Permissions
	origins     *origins
	preparer    *preparer
	recorder    *recorder
	scheduler   *scheduler
}

// applyGateRequested opens the gate of a waiting step. A call that changes nothing
// passes it.
func (r *gatekeeper) applyGateRequested(e event.Event, d event.GateRequested) {
	s := r.steps.step(d.Step)
	if s == nil {
		return
	}
	call := d.Call
	if call == "" { // an older replan wrote it
		call = callHash(r.tools.facts(s.Step.Tool).Tool, d.Args)
	}
	waits := s.openGate(d, call)
	r.scheduler.enqueue(s)
	if !waits {
		return
	}
	r.permissions.openGate(&Gate{GateRequested: d, RequestedAt: e.Time})
	r.recorder.askedGate(s, d)
}

func (r *gatekeeper) applyGateResolved(d event.GateResolved) {
	for _, g := range r.permissions.Gates {
		if g.Gate != d.Gate {
			continue
		}
		if d.Call != "" && d.Call != g.Call {
			return // it answers another call, which had a gate of this name
		}
		r.permissions.closeGate(d.Gate)
		s := r.steps.step(g.Step)
		if s == nil {
			return
		}
		s.leaveGate()
		r.recorder.answeredGate(s, d)
		if d.Decision == event.Edit {
			r.edit(s, g.Args, d.Args)
			return
		}
		s.gate().decide(d)
		r.scheduler.enqueue(s)
		if d.Decision == event.Allow {
			accepted := r.permissions.acceptChange(g)
			if granted := r.permissions.grant(g, r.tools.facts(g.QualifiedTool()).Tool, d); accepted || granted {
				r.scheduler.enqueueAll()
			}
		}
		if g.Items > 0 {
			r.answerItems(s, d)
		}
		return
	}
}

// edit replaces the arguments that a gate showed with those of the user. The gate
// opens again for the new call.
func (r *gatekeeper) edit(s *StepState, before, args map[string]any) {
	if args == nil {
		args = map[string]any{}
	}
	var left []rule.Provenance
	for _, p := range r.origins.provenance(s) {
		stays := p.Arg != "" && plan.EqualValues(before[p.Arg], args[p.Arg])
		for name, value := range args {
			stays = stays || p.Arg == "" && plan.EqualValues(before[name], value)
		}
		if stays {
			left = append(left, p)
		}
	}
	s.editCall(args, left)
	r.scheduler.enqueue(s)
}

// answerItems applies the answer at the gate of an item to all items of its step.
func (r *gatekeeper) answerItems(s *StepState, d event.GateResolved) {
	of := s.item().owner()
	if of == nil {
		return
	}
	if of.fanOut().asking() == s {
		of.fanOut().setAsker(nil)
	}
	for _, item := range of.Items {
		if d.Decision == event.Deny && item.Status == StepPending {
			item.gate().decide(d)
		}
	}
	if d.Decision == event.Allow {
		of.gate().allowItems(r.tools.facts(s.Step.Tool).Tool)
	}
	for _, item := range of.Items {
		r.scheduler.enqueue(item)
	}
}

// askAgain reopens the gates, open or passed, of calls that are no longer the ones that
// the user saw. A resume may bring other tools, or the same ones with other effects.
func (r *gatekeeper) askAgain() {
	r.steps.every(func(s *StepState) {
		if s.Status != StepWaiting && (s.Status != StepPending || !s.gate().allowed()) || r.preparer.bound(s) {
			return
		}
		r.permissions.closeGate(s.Gate)
		s.leaveGate()
		s.reask()
	})
}
