package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// offering adds the rules that answers of always would save to a gate, or the
// reason why there are none.
func (c *Config) offering(g event.GateRequested, t plan.Tool) event.GateRequested {
	if c.Remember == nil {
		g.NoAlways = "no rules are kept here"
		return g
	}
	g.Always, g.NoAlways = policy.Offer(g, t, c.Workspace)
	g.AlwaysTool = policy.OfferTool(g, c.Workspace)
	return g
}

// resolve answers an open gate of the run or of the session.
func (s *Session) resolve(ctx context.Context, c session.Resolve) {
	scope := c.Scope
	if scope == "" {
		scope = event.ScopeOnce
	}
	resolved := event.GateResolved{Gate: c.Gate, Decision: c.Decision, Scope: scope, By: cmp.Or(c.By, byUser)}
	e := s.running(c.Run)
	switch {
	case e != nil && e.open(c.Gate):
		if scope == event.ScopeRun && !forRun(e.run, c.Gate) {
			resolved.Scope = event.ScopeOnce
		}
		if (scope == event.ScopeAlways || scope == event.ScopeTool) && !s.remember(e, scope, &resolved) {
			return
		}
		e.apply(append([]event.Data{resolved}, released(e.run, resolved)...))
		s.afterAdvance(e)
	case c.Run == s.id:
		s.answerServer(ctx, c.Gate, resolved)
	}
}

// asked is a server or program that the session asks about.
type asked struct {
	gate   string
	server plan.PendingServer
}

// delays reports whether goals wait for the answer.
func (a asked) delays() bool { return a.server.Question == "" }

// answerServer answers the gate of a server or program.
func (s *Session) answerServer(ctx context.Context, gate string, resolved event.GateResolved) {
	at := slices.IndexFunc(s.servers, func(a asked) bool { return a.gate == gate })
	if at < 0 {
		return
	}
	server := s.servers[at].server
	s.servers = slices.Delete(s.servers, at, at+1)
	yes := resolved.Decision == event.Allow
	if err := s.publish(resolved); err != nil && yes {
		yes = false // do not act on what is not on disk
		s.publishNote("error", "the server is not started, because the yes cannot be kept: "+err.Error())
	}
	if err := s.cfg.Tools.Answer(ctx, []plan.PendingServer{server}, yes); err != nil {
		s.publishNote("warn", err.Error())
	}
	s.letGoalsStart()
}

// letGoalsStart ends the wait of goals if all questions that they wait for are
// answered.
func (s *Session) letGoalsStart() {
	if s.answered != nil && !slices.ContainsFunc(s.servers, asked.delays) {
		close(s.answered)
		s.answered = nil
	}
}

// forRun reports whether an open gate can be answered for the rest of the run.
func forRun(run *agent.Run, gate string) bool {
	return slices.ContainsFunc(run.Gates, func(g *agent.Gate) bool {
		_, why := g.ForRun()
		return g.Gate == gate && why == ""
	})
}

// released answers the waiting gates that a permission for the run covers: calls
// that match its rule and for which the same rule asks. Gates that the plan
// requests, or whose call contains text from a result, stay open.
func released(run *agent.Run, by event.GateResolved) []event.Data {
	at := slices.IndexFunc(run.Gates, func(g *agent.Gate) bool { return g.Gate == by.Gate })
	if at < 0 || by.Decision != event.Allow || by.Scope != event.ScopeRun {
		return nil
	}
	allowed := run.Gates[at]
	r, why := allowed.ForRun()
	if why != "" {
		return nil
	}
	var out []event.Data
	for _, g := range run.Gates {
		tool := plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted, Pin: g.Pin}
		if g != allowed && g.Changed == "" && rule.Decide([]rule.Rule{r}, tool, g.Args).Verdict == rule.VerdictRun && g.Rule.Equal(allowed.Rule) && g.Removes == "" &&
			!g.Planned && g.Rule.Source != rule.SourcePlan && len(g.Provenance) == 0 {
			out = append(out, event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "your answer for this run"})
		}
	}
	return out
}

// remember saves the rule that a gate offers, exactly as shown, and records it in
// the answer. If saving fails, the permission for this one call stands. remember
// reports whether the gate is answered at all: without a displayed rule, nobody
// can have agreed to it.
func (s *Session) remember(e *engine, scope event.Scope, resolved *event.GateResolved) bool {
	at := slices.IndexFunc(e.run.Gates, func(g *agent.Gate) bool { return g.Gate == resolved.Gate })
	gate := e.run.Gates[at]
	saved := gate.Always
	if scope == event.ScopeTool {
		saved, resolved.Scope = gate.AlwaysTool, event.ScopeAlways
	}
	if saved == nil || resolved.Decision != event.Allow {
		s.publishNote("warn", "no rule can be saved for this call: "+string(gate.NoAlways))
		return false
	}
	if err := s.cfg.Remember(*saved); err != nil {
		resolved.Scope = event.ScopeOnce
		s.publishNote("error", "this call passes once, because the rule is not kept: "+err.Error())
		return true
	}
	r := saved.Rule
	resolved.Rule = &r
	flags, others := split(s.cfg.Rules)
	first := 0 // a denied call stays denied
	for first < len(others) && others[first].Verdict == rule.VerdictBlock {
		first++
	}
	s.cfg.Rules = slices.Concat(flags, others[:first], []rule.Rule{r}, others[first:])
	return true
}

// edit replaces the arguments at an open gate if they fit the tool.
func (s *Session) edit(c session.Edit) {
	e := s.running(c.Run)
	if e == nil || !e.open(c.Gate) {
		return
	}
	if err := e.run.EditCheck(c.Gate)(c.Args); err != nil {
		s.publishNote("warn", "the call stays as it was: "+err.Error())
		return
	}
	e.apply([]event.Data{event.GateResolved{Gate: c.Gate, Decision: event.Edit, Scope: event.ScopeOnce, By: byUser, Args: c.Args}})
	s.afterAdvance(e)
}

// askForServers opens a gate for each server of the project's own configuration, in
// the order of its file, and withdraws those of servers that no longer wait. Other
// programs help only later runs: their questions wait for the end of all runs, and
// delay no goal.
func (s *Session) askForServers() {
	pending := s.cfg.Tools.Pending()
	for _, a := range slices.Clone(s.servers) {
		if !slices.ContainsFunc(pending, a.server.Equal) {
			s.servers = slices.DeleteFunc(s.servers, func(o asked) bool { return o.gate == a.gate })
			_ = s.publish(event.GateResolved{Gate: a.gate, Decision: event.Deny, Scope: event.ScopeOnce, By: "the changed configuration"})
		}
	}
	for _, p := range pending {
		is := func(a asked) bool { return a.server.Equal(p) }
		if p.Question != "" && (s.busy() || len(s.queue) > 0) || slices.ContainsFunc(s.servers, is) {
			continue
		}
		s.askForServer(p)
	}
	s.letGoalsStart()
}

// askForServer opens the gate for one server or program.
func (s *Session) askForServer(p plan.PendingServer) {
	s.gates++
	a := asked{gate: fmt.Sprintf("servers.%d", s.gates), server: p}
	s.servers = append(s.servers, a)
	if a.delays() && s.answered == nil {
		s.answered = make(chan struct{})
	}
	question, why := p.Question, p.Why
	if question == "" {
		question = "Start the tool server " + untrusted.Line(p.Name) + "?"
		why = "this project's .mcp.json names it; the answer is remembered until its entry changes"
	}
	_ = s.publish(event.GateRequested{
		Gate: a.gate, Title: untrusted.Text(question), Args: map[string]any{p.Name: p.Whole()},
		Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: untrusted.Text(why)},
	})
}
