package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// serverGates are the session's own gates: each is about a server of the project,
// about a program, or about what a server has changed.
type serverGates struct {
	events *publisher
	tools  Tools

	open     []serverGate
	opened   int           // number of gates so far
	answered chan struct{} // closed when the gates that goals wait for are answered; nil if there are none
}

type serverGate struct {
	gate   string
	server plan.PendingServer
	change plan.ServerChange // what the gate is about in place of a server; zero for none
}

// changes reports whether the gate is about what a server has changed.
func (g serverGate) changes() bool { return g.change.Server != "" }

// delays reports whether goals wait for the answer.
func (g serverGate) delays() bool { return !g.changes() && g.server.Question == "" }

// outdated returns who took back what the gate asks, "" if no one did.
func (g serverGate) outdated(pending []plan.PendingServer, changes func() []plan.ServerChange) string {
	switch {
	case g.changes() && !slices.Contains(changes(), g.change):
		return "the server, which has changed it again"
	case !g.changes() && !slices.ContainsFunc(pending, g.server.Equal):
		return "the changed configuration"
	default:
		return ""
	}
}

// awaited returns what goals wait for before they use tools; nil is nothing.
func (q *serverGates) awaited() <-chan struct{} { return q.answered }

// ask opens a gate for each server of the project's own configuration, in the order of its
// file. It withdraws those of servers that no longer wait. Other programs help only later
// runs: their questions wait until nothing is busy, and delay no goal.
func (q *serverGates) ask(busy bool) {
	pending := q.tools.Pending()
	for _, g := range slices.Clone(q.open) {
		if by := g.outdated(pending, q.tools.Changes); by != "" {
			q.take(g.gate)
			_ = q.events.publish(event.GateResolved{Gate: g.gate, Decision: event.Deny, Scope: event.ScopeOnce, By: by})
		}
	}
	for _, p := range pending {
		is := func(g serverGate) bool { return !g.changes() && g.server.Equal(p) }
		if p.Question != "" && busy || slices.ContainsFunc(q.open, is) {
			continue
		}
		question, why := p.Question, p.Why
		if question == "" {
			question = "Start the tool server " + untrusted.Line(p.Name) + "?"
			why = "this project's .mcp.json names it; the answer is remembered until its entry changes"
		}
		_ = q.events.publish(event.GateRequested{
			Gate: q.add(serverGate{server: p}), Title: untrusted.Text(question), Args: map[string]any{p.Name: p.Whole()},
			Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: untrusted.Text(why)},
		})
	}
	q.release()
}

// askAboutChanges opens a gate for each text that a server has changed, unless one is
// open.
func (q *serverGates) askAboutChanges(server string) {
	changes := slices.DeleteFunc(q.tools.Changes(), func(c plan.ServerChange) bool { return c.Server != server })
	if len(changes) == 0 {
		q.events.note("info", "nothing has changed: "+server+" is as you accepted it")
	}
	for _, c := range changes {
		if slices.ContainsFunc(q.open, func(g serverGate) bool { return g.change == c }) {
			continue
		}
		if c.TooLong() {
			q.events.note("warn", c.Name()+" has changed by more than can be shown here: accept it with replan tools accept "+c.Name()+", then restart "+server)
			continue
		}
		question := "Use the instructions of " + untrusted.Line(server) + " as they are now?"
		if c.Tool != "" {
			question = "Use " + untrusted.Line(c.Name()) + " as it is now?"
		}
		_ = q.events.publish(event.GateRequested{
			Gate: q.add(serverGate{change: c}), Title: untrusted.Text(question), Pin: c.Pin, Changed: c.Diff,
			Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "the server has changed this since you accepted it; models do not see it until you say yes"},
		})
	}
}

// answer answers an open gate, and acts on the answer.
func (q *serverGates) answer(ctx context.Context, c session.Resolve) {
	gate, open := q.take(c.Gate)
	if !open {
		return
	}
	yes := c.Decision == event.Allow
	resolved := event.GateResolved{Gate: c.Gate, Call: c.Call, Decision: c.Decision, Scope: cmp.Or(c.Scope, event.ScopeOnce), By: cmp.Or(c.By, byUser)}
	if err := q.events.publish(resolved); err != nil && yes {
		yes = false // do not act on what is not on disk
		q.events.note("error", "the yes does not count, because it cannot be kept: "+err.Error())
	}
	if err := q.act(ctx, gate, yes); err != nil {
		q.events.note("warn", err.Error())
	}
	q.release()
}

// act starts the server, lets its change be used, or remembers that neither is wanted.
func (q *serverGates) act(ctx context.Context, g serverGate, yes bool) error {
	if !g.changes() {
		return q.tools.Answer(ctx, []plan.PendingServer{g.server}, yes)
	}
	if !yes {
		return nil
	}
	return q.tools.Accept(ctx, g.change)
}

// add opens a gate and returns its name.
func (q *serverGates) add(g serverGate) string {
	q.opened++
	g.gate = fmt.Sprintf("servers.%d", q.opened)
	if q.open = append(q.open, g); g.delays() && q.answered == nil {
		q.answered = make(chan struct{})
	}
	return g.gate
}

// take closes a gate and returns it.
func (q *serverGates) take(gate string) (g serverGate, open bool) {
	at := slices.IndexFunc(q.open, func(g serverGate) bool { return g.gate == gate })
	if at < 0 {
		return g, false
	}
	g = q.open[at]
	q.open = slices.Delete(q.open, at, at+1)
	return g, true
}

// release ends the wait of goals if all that they wait for is answered.
func (q *serverGates) release() {
	if q.answered != nil && !slices.ContainsFunc(q.open, serverGate.delays) {
		close(q.answered)
		q.answered = nil
	}
}
