package host

import (
	"maps"
	"strings"

	"replan/agent/event"
	"replan/agent/remote"
	"replan/agent/session"
)

// held are commands that have been received and not given to a session yet. A session that
// starts or resumes a run drops what comes before the run is under way. It also drops an
// answer that comes before its gate is open.
type held struct {
	commands  []remote.Input
	underWay  bool            // in this process
	asked     map[string]bool // gates that are open in this process, by run and id
	openGates map[string]bool // gates that other processes left open, by run and id
}

// see takes in an event that this process has recorded.
func (h *held) see(e event.Event, run string) {
	switch d := e.Data.(type) {
	case event.RunStarted:
		h.underWay = h.underWay || e.Run == run
	case event.RunResumed:
		h.underWay = h.underWay || e.Run == run
		for gate := range h.openGates { // a resume does not ask for them again
			if strings.HasPrefix(gate, e.Run+" ") {
				h.open(gate)
			}
		}
	case event.ChatReply:
		h.underWay = true // it ended before it began
	case event.GateRequested:
		h.open(e.Run + " " + d.Gate)
	}
}

// leftOpen reports whether other processes left gates open.
func (h *held) leftOpen() bool { return len(h.openGates) > 0 }

// hold keeps a command until the session can take it.
func (h *held) hold(in remote.Input) { h.commands = append(h.commands, in) }

func (h *held) open(gate string) {
	if h.asked == nil {
		h.asked = map[string]bool{}
	}
	h.asked[gate] = true
}

// ready removes and returns the commands that the session can take, in order.
func (h *held) ready() []remote.Input {
	var ready, rest []remote.Input
	for _, in := range h.commands {
		if h.takes(in.Command) {
			ready = append(ready, in)
		} else {
			rest = append(rest, in)
		}
	}
	h.commands = rest
	return ready
}

func (h *held) takes(c session.Command) bool {
	switch c := c.(type) {
	case session.Resolve:
		return h.asked[c.Run+" "+c.Gate]
	case session.Edit:
		return h.asked[c.Run+" "+c.Gate]
	default:
		return h.underWay
	}
}

// forget drops the commands that an event recorded by another process shows the effect
// of, and keeps the gates that it left open.
func (h *held) forget(e event.Event) {
	switch d := e.Data.(type) {
	case event.GateRequested:
		if h.openGates == nil {
			h.openGates = map[string]bool{}
		}
		h.openGates[e.Run+" "+d.Gate] = true
	case event.GateResolved:
		delete(h.openGates, e.Run+" "+d.Gate)
	case event.RunPaused, event.RunCompleted: // they close its gates
		maps.DeleteFunc(h.openGates, func(gate string, _ bool) bool { return strings.HasPrefix(gate, e.Run+" ") })
	}
	var rest []remote.Input
	for _, in := range h.commands {
		if !heeded(e, in.Command) {
			rest = append(rest, in)
		}
	}
	h.commands = rest
}

// heeded reports whether a command had its effect by the time of an event.
func heeded(e event.Event, c session.Command) bool {
	switch d := e.Data.(type) {
	case event.RunCompleted, event.RunPaused, event.ChatReply:
		return true
	case event.GateResolved:
		resolve, ok := c.(session.Resolve)
		edit, edits := c.(session.Edit)
		return ok && resolve.Run == e.Run && resolve.Gate == d.Gate || edits && edit.Run == e.Run && edit.Gate == d.Gate
	case event.DoubtResolved:
		c, ok := c.(session.ResolveDoubt)
		return ok && c.Step == d.Step
	case event.FailureResolved:
		c, ok := c.(session.ResolveFailure)
		return ok && c.Step == d.Step
	case event.ElicitationResolved:
		c, ok := c.(session.AnswerElicitation)
		return ok && c.ID == d.ID
	case event.StepFailed:
		c, ok := c.(session.Cancel)
		return ok && c.Step == d.Index
	case event.PlanReviewed:
		_, ok := c.(session.Review)
		return ok
	case event.RunSteered:
		_, ok := c.(session.Steer)
		return ok
	default:
		return false
	}
}
