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

// answered carries out a command that answers a question of a run. It reports whether
// it is one.
func answered(ctx context.Context, s *Session, c session.Command) bool {
	switch c := c.(type) {
	case session.Resolve:
		s.resolve(ctx, c)
	case session.Edit:
		s.edit(c)
	case session.AnswerElicitation:
		answerElicitation(s, c)
	case session.ResolveDoubt:
		if e := s.running(c.Run); e != nil && e.asks(c.Step, true) {
			e.apply([]event.Data{event.DoubtResolved{Step: c.Step, Decision: c.Decision, By: cmp.Or(c.By, byUser)}})
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
	resolved := event.GateResolved{Gate: c.Gate, Call: c.Call, Decision: c.Decision, Scope: scope, By: cmp.Or(c.By, byUser)}
	e := s.running(c.Run)
	switch {
	case e != nil && e.open(c.Gate, c.Call):
		if scope == event.ScopeRun && !forRun(e.run, c.Gate) {
			resolved.Scope = event.ScopeOnce
		}
		if (scope == event.ScopeAlways || scope == event.ScopeTool) && !s.remember(e, scope, &resolved) {
			return
		}
		e.apply(append([]event.Data{resolved}, released(e.run, resolved)...))
		s.afterAdvance(e)
	case c.Run == s.id:
		question, open := s.servers.take(c.Gate)
		if !open {
			return
		}
		yes := c.Decision == event.Allow
		if err := s.publish(resolved); err != nil && yes {
			yes = false // do not act on what is not on disk
			s.publishNote("error", "the yes does not count, because it cannot be kept: "+err.Error())
		}
		if err := question.answer(ctx, s.cfg.Tools, yes); err != nil {
			s.publishNote("warn", err.Error())
		}
		s.servers.settle()
	}
}

// serverQuestions are the session's own open gates: each is about a server of the
// project, about a program, or about what a server has changed.
type serverQuestions struct {
	open     []serverQuestion
	opened   int           // number of gates so far
	answered chan struct{} // closed when the gates that goals wait for are answered; nil if there are none
}

type serverQuestion struct {
	gate   string
	server plan.PendingServer
	change plan.ServerChange // what the gate is about in place of a server; zero for none
}

// changes reports whether the gate is about what a server has changed.
func (q serverQuestion) changes() bool { return q.change.Server != "" }

// delays reports whether goals wait for the answer.
func (q serverQuestion) delays() bool { return !q.changes() && q.server.Question == "" }

// add opens a gate and returns its name.
func (q *serverQuestions) add(one serverQuestion) string {
	q.opened++
	one.gate = fmt.Sprintf("servers.%d", q.opened)
	if q.open = append(q.open, one); one.delays() && q.answered == nil {
		q.answered = make(chan struct{})
	}
	return one.gate
}

// take closes a gate and returns what it is about.
func (q *serverQuestions) take(gate string) (one serverQuestion, open bool) {
	at := slices.IndexFunc(q.open, func(o serverQuestion) bool { return o.gate == gate })
	if at < 0 {
		return one, false
	}
	one = q.open[at]
	q.open = slices.Delete(q.open, at, at+1)
	return one, true
}

// askAboutChanges opens a gate for each text that a server has changed, unless one is
// open.
func (q *serverQuestions) askAboutChanges(s *Session, server string) {
	changes := slices.DeleteFunc(s.cfg.Tools.Changes(), func(c plan.ServerChange) bool { return c.Server != server })
	if len(changes) == 0 {
		s.publishNote("info", "nothing has changed: "+server+" is as you accepted it")
	}
	for _, c := range changes {
		if slices.ContainsFunc(q.open, func(o serverQuestion) bool { return o.change == c }) {
			continue
		}
		if c.TooLong() {
			s.publishNote("warn", c.Name()+" has changed by more than can be shown here: accept it with replan tools accept "+c.Name()+", then restart "+server)
			continue
		}
		question := "Use the instructions of " + untrusted.Line(server) + " as they are now?"
		if c.Tool != "" {
			question = "Use " + untrusted.Line(c.Name()) + " as it is now?"
		}
		_ = s.publish(event.GateRequested{
			Gate: q.add(serverQuestion{change: c}), Title: untrusted.Text(question), Pin: c.Pin, Changed: c.Diff,
			Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "the server has changed this since you accepted it; models do not see it until you say yes"},
		})
	}
}

// answer acts on the user's answer.
func (q serverQuestion) answer(ctx context.Context, tools Tools, yes bool) error {
	if !q.changes() {
		return tools.Answer(ctx, []plan.PendingServer{q.server}, yes)
	}
	if !yes {
		return nil
	}
	return tools.Accept(ctx, q.change)
}

// settle ends the wait of goals if all that they wait for is answered.
func (q *serverQuestions) settle() {
	if q.answered != nil && !slices.ContainsFunc(q.open, serverQuestion.delays) {
		close(q.answered)
		q.answered = nil
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
// requests stay open, and those of edited calls or with text from a result in another
// argument, as if they had opened after the answer.
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
	unseen := func(p rule.Provenance) bool {
		return p.Written || !slices.ContainsFunc(allowed.Provenance, func(seen rule.Provenance) bool { return !seen.Written && seen.Arg == p.Arg })
	}
	var out []event.Data
	for _, g := range run.Gates {
		tool := plan.Tool{Name: g.Tool, Server: g.Server, Trusted: g.Trusted, Contained: g.Contained, Pin: g.Pin}
		if g != allowed && g.Changed == "" && rule.Decide([]rule.Rule{r}, tool, g.Args).Verdict == rule.VerdictRun && g.Rule.Equal(allowed.Rule) && g.Removes == "" &&
			!g.Planned && g.Rule.Source != rule.SourcePlan && !agent.Edited(run, g) && !slices.ContainsFunc(g.Provenance, unseen) {
			out = append(out, event.GateResolved{Gate: g.Gate, Call: g.Call, Decision: event.Allow, Scope: event.ScopeOnce, By: "your answer for this run"})
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
	s.cfg.Rules = slices.Concat(flags, []rule.Rule{r}, others)
	return true
}

// edit replaces the arguments at an open gate if they fit the tool.
func (s *Session) edit(c session.Edit) {
	e := s.running(c.Run)
	if e == nil || !e.open(c.Gate, c.Call) {
		return
	}
	if err := e.run.EditCheck(c.Gate)(c.Args); err != nil {
		s.publishNote("warn", "the call stays as it was: "+err.Error())
		return
	}
	e.apply([]event.Data{event.GateResolved{Gate: c.Gate, Call: c.Call, Decision: event.Edit, Scope: event.ScopeOnce, By: cmp.Or(c.By, byUser), Args: c.Args}})
	s.afterAdvance(e)
}

// askForServers opens a gate for each server of the project's own configuration, in
// the order of its file, and withdraws those of servers that no longer wait. Other
// programs help only later runs: their questions wait for the end of all runs, and
// delay no goal.
func (s *Session) askForServers() {
	pending := s.cfg.Tools.Pending()
	for _, q := range slices.Clone(s.servers.open) {
		by := ""
		switch {
		case q.changes() && !slices.Contains(s.cfg.Tools.Changes(), q.change):
			by = "the server, which has changed it again"
		case !q.changes() && !slices.ContainsFunc(pending, q.server.Equal):
			by = "the changed configuration"
		default:
			continue
		}
		s.servers.take(q.gate)
		_ = s.publish(event.GateResolved{Gate: q.gate, Decision: event.Deny, Scope: event.ScopeOnce, By: by})
	}
	for _, p := range pending {
		is := func(q serverQuestion) bool { return !q.changes() && q.server.Equal(p) }
		if p.Question != "" && (s.busy() || len(s.queue) > 0) || slices.ContainsFunc(s.servers.open, is) {
			continue
		}
		question, why := p.Question, p.Why
		if question == "" {
			question = "Start the tool server " + untrusted.Line(p.Name) + "?"
			why = "this project's .mcp.json names it; the answer is remembered until its entry changes"
		}
		_ = s.publish(event.GateRequested{
			Gate: s.servers.add(serverQuestion{server: p}), Title: untrusted.Text(question), Args: map[string]any{p.Name: p.Whole()},
			Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: "built-in", Why: untrusted.Text(why)},
		})
	}
	s.servers.settle()
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
		e.emit(asked.Resolved(plan.ElicitationDecline, policy.ByNobody))
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

// withdraw cancels those of the questions that are no longer open and that nobody has
// answered: their calls must not wait.
func (e *engine) withdraw(asked []event.ElicitationRequested) {
	for _, q := range asked {
		if slices.ContainsFunc(e.run.Elicitations, func(open event.ElicitationRequested) bool { return open.ID == q.ID }) {
			continue
		}
		if waiting := e.elicited.take(q.ID); waiting != nil {
			waiting <- plan.ElicitationAnswer{Action: plan.ElicitationCancel}
		}
	}
}

// answerElicitation passes the user's answer to the call that waits for it, after
// recording its kind. It opens the page of an accepted question for one.
func answerElicitation(s *Session, c session.AnswerElicitation) {
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
	e.apply([]event.Data{question.Resolved(c.Action, cmp.Or(c.By, byUser))})
	waiting <- answer
	s.afterAdvance(e)
	if c.Action == plan.ElicitationAccept && question.URL != "" {
		openPage(s, question.URL)
	}
}

// openPage opens a web page, or tells the user to.
func openPage(s *Session, url string) {
	s.workers.Go(func() {
		err := errors.New("no browser is known here")
		if s.cfg.OpenPage != nil {
			err = s.cfg.OpenPage(url)
		}
		if err != nil {
			s.outcomes <- outcome{events: []event.Data{event.Note{Level: "warn", Text: untrusted.Text("open the page yourself: " + url + " (" + err.Error() + ")")}}}
		}
	})
}
