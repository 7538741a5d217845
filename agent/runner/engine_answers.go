package runner

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// errGateClosed reports that a gate was answered or withdrawn.
var errGateClosed = errors.New("the gate is not open any more")

// inquire has a worker get an answer from outside, until the run ends.
func (e *engine) inquire(answer func(ctx context.Context) event.Data) {
	e.workers.Go(func() { e.emit(answer(e.ctx)) })
}

// open reports whether the run waits at the given gate, with this call; "" is any.
func (e *engine) open(gate, call string) bool {
	return slices.ContainsFunc(e.run.Gates, func(g *agent.Gate) bool { return g.Gate == gate && (call == "" || call == g.Call) })
}

// asks reports whether the run waits for the user's decision about a step.
func (e *engine) asks(step string, doubt bool) bool {
	for _, q := range e.run.Questions() {
		if q.Step == step && q.Doubt == doubt {
			return true
		}
	}
	return false
}

// awaits reports whether an event from outside is still wanted: an answer is
// wanted only while its question is open.
func (e *engine) awaits(data event.Data) bool {
	switch d := data.(type) {
	case event.GateResolved:
		return e.open(d.Gate, d.Call)
	case event.PlanReviewed:
		return e.run.AwaitsReview() && e.run.Revision == d.Revision
	case event.DoubtResolved:
		return e.asks(d.Step, true)
	case event.FailureResolved:
		return e.asks(d.Step, false)
	default:
		return true
	}
}

// checkArgs returns why other arguments do not fit the call at an open gate.
func (e *engine) checkArgs(gate string, args map[string]any) error {
	return e.run.EditCheck(gate)(args)
}

// awaitsReview reports whether the run holds a plan for review.
func (e *engine) awaitsReview() bool { return !e.over() && e.run.AwaitsReview() }

// callAt returns the call at an open gate with other arguments, for a preview.
func (e *engine) callAt(gate string, args map[string]any) (plan.ToolCall, error) {
	open := e.gate(gate)
	if open == nil {
		return plan.ToolCall{}, errGateClosed
	}
	if err := e.checkArgs(gate, args); err != nil {
		return plan.ToolCall{}, err
	}
	tool, err := e.run.Catalog.Find(open.QualifiedTool())
	if err != nil {
		return plan.ToolCall{}, err
	}
	return plan.ToolCall{Tool: tool, Args: args, Contents: true}, nil
}

// gate returns an open gate, nil if it is not open.
func (e *engine) gate(id string) *agent.Gate {
	if at := slices.IndexFunc(e.run.Gates, func(g *agent.Gate) bool { return g.Gate == id }); at >= 0 {
		return e.run.Gates[at]
	}
	return nil
}

// released answers the waiting gates that a permission for the run covers: calls that
// match its rule and for which the same rule asks. Gates that the plan requests stay open,
// as if they had opened after the answer. So do those of edited calls, or with text from a
// result in another argument.
func (e *engine) released(by event.GateResolved) []event.Data {
	allowed := e.gate(by.Gate)
	if allowed == nil || by.Decision != event.Allow || by.Scope != event.ScopeRun {
		return nil
	}
	r, why := allowed.ForRun()
	if why != "" {
		return nil
	}
	unseen := func(p rule.Provenance) bool {
		return p.Written || !slices.ContainsFunc(allowed.Provenance, func(seen rule.Provenance) bool { return !seen.Written && seen.Arg == p.Arg })
	}
	var out []event.Data
	for _, g := range e.run.Gates {
		tool := plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted, Contained: g.Contained, Pin: g.Pin}
		if g != allowed && g.Changed == "" && rule.Decide([]rule.Rule{r}, tool, g.Args).Verdict == rule.VerdictRun && g.Rule.Equal(allowed.Rule) && g.Removes == "" &&
			!g.Planned && g.Rule.Source != rule.SourcePlan && !agent.Edited(e.run, g) && !slices.ContainsFunc(g.Provenance, unseen) {
			out = append(out, event.GateResolved{Gate: g.Gate, Call: g.Call, Decision: event.Allow, Scope: event.ScopeOnce, By: "your answer for this run"})
		}
	}
	return out
}

// reviewed returns the event for an answer to a held plan.
func (e *engine) reviewed(c session.Review) (event.Data, error) {
	return e.run.AnswerReview(c.Answer, cmp.Or(c.By, byUser))
}

// cancel stops one running step and reports whether there is one.
func (e *engine) cancel(index string, why error) bool {
	s := e.run.Step(index)
	if s == nil {
		return false
	}
	if len(s.Items) > 0 && s.Status == agent.StepRunning {
		return e.cancelItems(s, why)
	}
	c := e.calls[event.Attempt{Index: index, Number: s.Attempt}]
	if l := s.Loop; l != nil && s.Status == agent.StepRunning && !l.Asking {
		// Its last turn has returned; only the calls of that turn are running.
		e.apply([]event.Data{event.StepFailed{
			Index: index, Attempt: s.Attempt, Error: untrusted.Text(why.Error()), Failure: event.FailureInterrupted,
			MS: e.since(s.StartedAt),
		}})
		return true
	}
	if c == nil {
		return false
	}
	c.stop(why)
	return true
}

// cancelItems stops the running items of a step, and keeps the others from beginning. It
// reports whether there was one.
func (e *engine) cancelItems(s *agent.StepState, why error) bool {
	failed, found := agent.CancelItems(s, why.Error())
	if found {
		e.apply([]event.Data{failed})
	}
	for _, item := range s.Items {
		found = e.cancel(item.Step.Index, why) || found
	}
	return found
}
