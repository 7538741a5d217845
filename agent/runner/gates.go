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
	case c.Run == s.id && c.Gate == s.gate && s.gate != "":
		s.gate = ""
		yes := c.Decision == event.Allow
		if err := s.publish(resolved); err != nil && yes {
			yes = false // do not act on what is not on disk
			s.publishNote("error", "the servers are not started, because the yes cannot be kept: "+err.Error())
		}
		if err := s.cfg.Tools.Answer(ctx, s.pending, yes); err != nil {
			s.publishNote("warn", err.Error())
		}
		s.pending = nil
		if s.answered != nil {
			close(s.answered)
			s.answered = nil
		}
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

// askForServers opens the gate for the servers of the project's own
// configuration, once. Other programs help only later runs: their
// question waits for the end of all runs, and delays no goal.
func (s *Session) askForServers() {
	pending := s.cfg.Tools.Pending()
	program := func(p plan.PendingServer) bool { return p.Question != "" }
	if s.busy() || len(s.queue) > 0 {
		pending = slices.DeleteFunc(pending, program)
	}
	if len(pending) == 0 || s.gate != "" {
		return
	}
	question := "Start this project's tool servers?"
	why := "they are programs in this project's .mcp.json; yes is remembered until they change; no leaves them out"
	args := map[string]any{}
	for i, p := range pending {
		args[p.Name] = p.Whole()
		switch {
		case i == 0 && p.Question != "":
			question, why = p.Question, p.Why
		case p.Question != "" && p.Question != question:
			question, why = "Start all of these programs?", why+"; "+p.Why
		}
	}
	s.gates++
	s.gate = fmt.Sprintf("servers.%d", s.gates)
	s.pending = pending
	if slices.ContainsFunc(pending, func(p plan.PendingServer) bool { return !program(p) }) {
		s.answered = make(chan struct{})
	}
	_ = s.publish(event.GateRequested{
		Gate: s.gate, Title: untrusted.Text(question), Args: args,
		Rule: rule.Rule{
			Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in",
			Why: untrusted.Text(why),
		},
	})
}
