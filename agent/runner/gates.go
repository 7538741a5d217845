package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/form"
	"replan/planning/plan"
)

// offering returns the rule that an answer of always would save, or nil and the
// reason why there is none.
func (c *Config) offering(g event.GateRequested, t plan.Tool) (always *event.Always, why untrusted.Text) {
	if c.Remember == nil {
		return nil, "no rules are kept here"
	}
	return policy.Offer(g, t, c.Workspace)
}

// answered carries out a command that answers a question of a run. It reports whether
// it is one.
func answered(ctx context.Context, s *Session, c session.Command) bool {
	switch c := c.(type) {
	case session.Resolve:
		s.resolve(ctx, c)
	case session.Edit:
		s.edit(c)
	case session.AnswerElicitation:
		answerElicitation(ctx, s, c)
	case session.ResolveDoubt:
		if e := s.running(c.Run); e != nil && e.asks(c.Step, true) {
			e.apply([]event.Data{event.DoubtResolved{Step: c.Step, Decision: c.Decision, By: byUser}})
			s.afterAdvance(e)
		}
	case session.ResolveFailure:
		s.decide(ctx, c)
	default:
		return false
	}
	return true
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
		if scope == event.ScopeAlways && !s.remember(e, &resolved) {
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
		tool := plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted}
		if g != allowed && rule.Decide([]rule.Rule{r}, tool, g.Args).Verdict == rule.VerdictRun && g.Rule.Equal(allowed.Rule) && g.Removes == "" &&
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
func (s *Session) remember(e *engine, resolved *event.GateResolved) bool {
	at := slices.IndexFunc(e.run.Gates, func(g *agent.Gate) bool { return g.Gate == resolved.Gate })
	gate := e.run.Gates[at]
	if gate.Always == nil || resolved.Decision != event.Allow {
		s.publishNote("warn", "no rule can be saved for this call: "+string(gate.NoAlways))
		return false
	}
	if err := s.cfg.Remember(*gate.Always); err != nil {
		resolved.Scope = event.ScopeOnce
		s.publishNote("error", "this call passes once, because the rule is not kept: "+err.Error())
		return true
	}
	r := gate.Always.Rule
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
	question := "Start this project's tool servers"
	why := "they are programs in this project's .mcp.json; yes is remembered until they change"
	args := map[string]any{}
	for i, p := range pending {
		args[p.Name] = p.Whole()
		switch {
		case i == 0 && p.Question != "":
			question, why = p.Question, p.Why
		case p.Question != "" && p.Question != question:
			question, why = "Start all of these programs", why+"; "+p.Why
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

// elicited holds the questions of servers that wait for an answer. It is safe for
// concurrent use.
type elicited struct {
	mu      sync.Mutex
	count   int
	waiting map[string]chan<- plan.ElicitationAnswer
}

// add adds a question and returns its id.
func (q *elicited) add(step string, attempt int, answer chan<- plan.ElicitationAnswer) string {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.count++
	id := fmt.Sprintf("%s.%d.q%d", step, attempt, q.count)
	if q.waiting == nil {
		q.waiting = map[string]chan<- plan.ElicitationAnswer{}
	}
	q.waiting[id] = answer
	return id
}

// take removes a question. It returns nil if that has been done.
func (q *elicited) take(id string) chan<- plan.ElicitationAnswer {
	q.mu.Lock()
	defer q.mu.Unlock()
	answer := q.waiting[id]
	delete(q.waiting, id)
	return answer
}

// elicit asks the user a question of a server, in a worker, and waits for the answer
// or for the end of the call. The time limit of the step does not run meanwhile. If
// nobody is there, it declines.
func (e *engine) elicit(ctx context.Context, under *call, step string, attempt int, q plan.Elicitation) plan.ElicitationAnswer {
	answer := make(chan plan.ElicitationAnswer, 1)
	asked := event.ElicitationRequested{ID: e.elicited.add(step, attempt, answer), Step: step, Attempt: attempt, Elicitation: q}
	if under.limit != nil {
		defer under.limit.Hold()()
	}
	e.emit(asked)
	if !e.attended {
		e.elicited.take(asked.ID)
		e.emit(asked.Resolved(plan.ElicitationDecline, byNobody))
		return plan.ElicitationAnswer{Action: plan.ElicitationDecline}
	}
	select {
	case a := <-answer:
		return a
	case <-ctx.Done():
		if e.elicited.take(asked.ID) != nil {
			e.emit(asked.Resolved(plan.ElicitationCancel, "the call has ended"))
		}
		return plan.ElicitationAnswer{Action: plan.ElicitationCancel}
	}
}

// answerElicitation passes the user's answer to the call that waits for it, after
// recording its kind. It opens the page of an accepted question for one.
func answerElicitation(ctx context.Context, s *Session, c session.AnswerElicitation) {
	e := s.running(c.Run)
	if e == nil || e.over() {
		return
	}
	at := slices.IndexFunc(e.run.Elicitations, func(q event.ElicitationRequested) bool { return q.ID == c.ID })
	if at < 0 {
		return
	}
	question := e.run.Elicitations[at]
	answer := plan.ElicitationAnswer{Action: c.Action}
	if c.Action == plan.ElicitationAccept && question.URL == "" {
		fields, err := form.Parse(question.Schema)
		if err == nil {
			err = form.Check(fields, c.Content)
		}
		if err != nil {
			s.publishNote("warn", "the answer was not sent: "+err.Error())
			return
		}
		answer.Content = c.Content
		if answer.Content == nil {
			answer.Content = map[string]any{}
		}
	}
	waiting := e.elicited.take(c.ID)
	if waiting == nil {
		return
	}
	e.apply([]event.Data{question.Resolved(c.Action, byUser)})
	waiting <- answer
	s.afterAdvance(e)
	if c.Action == plan.ElicitationAccept && question.URL != "" {
		openPage(ctx, s, question.URL)
	}
}

// openPage opens a web page, or tells the user to.
func openPage(ctx context.Context, s *Session, url string) {
	s.workers.Go(func() {
		err := errors.New("no browser is known here")
		if s.cfg.OpenPage != nil {
			err = s.cfg.OpenPage(ctx, url)
		}
		if err != nil {
			s.outcomes <- outcome{events: []event.Data{event.Note{Level: "warn", Text: untrusted.Text("open the page yourself: " + url + " (" + err.Error() + ")")}}}
		}
	})
}
