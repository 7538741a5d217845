package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// world replaces the runner without any I/O: it carries out the actions of Next
// and returns scripted outcomes, one at a time.
type world struct {
	t        tester
	run      *agent.Run
	planners planning.Planners // set by planBy
	events   []event.Event
	now      time.Time
	pending  []agent.Effect
	begun    map[string]bool

	reply   func(prompt.Request) (string, error)           // the model
	calls   func(prompt.Request) []reply.ToolUse           // the tool calls of its replies; nil for none
	tokens  func(prompt.Request) int                       // prompt tokens of a request; nil for 100
	cutOff  func(prompt.Request) bool                      // whether a reply is cut off; nil for never
	plan    func(agent.CallPlan) event.Data                // the outcome of a plan call
	tool    func(agent.CallTool) event.Data                // the outcome of a tool call
	finds   func(agent.CallCheck) event.CheckCompleted     // the outcome of a check's call
	asks    func(agent.CallTool) bool                      // whether its server first asks the user something; nil for never
	gate    func(event.GateRequested) event.Decision       // the user
	scope   event.Scope                                    // scope of the user's approvals
	resolve func(event.GateRequested) event.GateResolved   // the user's answer; nil uses gate and scope
	show    func(agent.OpenGate) event.GateRequested       // the gate with a preview of its call; nil for no preview
	flaw    func(agent.OpenGate) string                    // why a call does not apply, or ""
	failed  func(agent.Question) event.FailureResolved     // the user, asked about a failed step
	doubt   func(agent.Question) event.DoubtDecision       // the user, asked about a step in doubt
	review  func(*agent.Review) event.ReviewDecision       // the user's review, which may change the plan; nil changes nothing
	choose  func(n int) int                                // index of the next pending effect; gates, questions and elicitations follow the effects
	watch   func(records []event.Data, all []agent.Effect) // called after each step
	check   func(event.Event)                              // called after each event
}

// tester is the common interface of tests and properties.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// errStopped is the error of a stopped request.
var errStopped = errors.New("stopped by the user")

// planBy sets the planners of the run.
func (w *world) planBy(planners planning.Planners) {
	w.planners, w.run = planners, agent.NewRun(planners)
}

func newWorld(t tester) *world {
	return &world{
		t: t, run: agent.NewRun(nil), now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), begun: map[string]bool{},
		tool: func(c agent.CallTool) event.Data {
			return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index, MS: 10}
		},
		finds:  func(c agent.CallCheck) event.CheckCompleted { return c.Returned("there", 1) },
		gate:   func(event.GateRequested) event.Decision { return event.Allow },
		scope:  event.ScopeOnce,
		flaw:   func(agent.OpenGate) string { return "" },
		choose: func(int) int { return 0 },
		watch:  func([]event.Data, []agent.Effect) {},
		check:  func(event.Event) {},
	}
}

// catalog has a read-only tool, one that changes things, and a read-only tool
// with a required argument.
var catalog = plan.Catalog{
	{Name: "look", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}}}`)},
	{Name: "change", Server: "w", Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}}}`)},
	{Name: "fill", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`)},
}

// both is a tool with two required arguments.
var both = plan.Tool{Name: "both", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(
	`{"type":"object","properties":{"at":{"type":"string"},"text":{"type":"string"}},"required":["at","text"]}`)}

// rules allow tools that only read and ask for all others.
var rules = []rule.Rule{
	{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun},
	{Tool: "*", Verdict: rule.VerdictAsk, Why: "it has effects"},
}

func started(limits event.Limits) event.RunStarted {
	return event.RunStarted{Goal: "do it", Model: "m", Limits: limits, Rules: rules, Catalog: catalog, Prompting: prompt.Prompting{SkipAnalysis: true}}
}

func (w *world) apply(data event.Data) {
	w.t.Helper()
	w.now = w.now.Add(10 * time.Millisecond)
	if err := w.offer(data); err != nil {
		w.t.Fatalf("apply: %v\n%s\nafter\n%s", err, eventLines([]event.Event{{Run: "r", Data: data}}), w.tail())
	}
}

// offer applies an event that the run may refuse.
func (w *world) offer(data event.Data) error {
	w.t.Helper()
	e := event.Event{Seq: w.run.Seq + 1, Time: w.now, Run: "r", Data: data}
	if err := w.run.Apply(e); err != nil {
		return err
	}
	w.events = append(w.events, e)
	w.checkElicitations()
	w.check(e)
	return nil
}

// advance carries out all actions that are possible now.
func (w *world) advance() {
	w.t.Helper()
	for {
		var records []event.Data
		fresh := 0
		for _, a := range w.run.Next() {
			if a.Record != nil {
				records = append(records, a.Record)
			}
			if a.Effect != nil && w.fresh(a.Effect) {
				w.pending = append(w.pending, a.Effect)
				fresh++
			}
		}
		for _, r := range records {
			w.apply(r)
		}
		w.watch(records, w.pending)
		if len(records) == 0 && fresh == 0 {
			return
		}
	}
}

func (w *world) fresh(e agent.Effect) bool {
	id := e.Once()
	seen := id != "" && w.begun[id]
	w.begun[id] = true
	return !seen
}

// waits returns the number of outcomes that may happen next.
func (w *world) waits() int {
	n := len(w.pending) + len(w.run.Gates) + len(w.run.Questions()) + len(w.run.Elicitations)
	if w.run.AwaitsReview() {
		n++
	}
	return n
}

// deliver delivers the outcome of one pending effect, or the answer to a gate or
// a question.
func (w *world) deliver() {
	w.t.Helper()
	i := w.choose(w.waits())
	if w.run.AwaitsReview() && i == w.waits()-1 {
		w.look(w.run.Review())
		return
	}
	if n := i - len(w.pending); n >= len(w.run.Gates)+len(w.run.Questions()) {
		w.apply(w.run.Elicitations[n-len(w.run.Gates)-len(w.run.Questions())].Resolved(plan.ElicitationAccept, "test"))
		return
	} else if n >= len(w.run.Gates) {
		w.answer(w.run.Questions()[n-len(w.run.Gates)])
		return
	} else if n >= 0 {
		g := w.run.Gates[n].GateRequested
		if w.resolve != nil {
			w.apply(w.resolve(g))
			return
		}
		w.apply(event.GateResolved{Gate: g.Gate, Decision: w.gate(g), Scope: w.scope, By: "test"})
		return
	}
	effect := w.pending[i]
	w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
	switch e := effect.(type) {
	case agent.CallModel:
		text, err := w.reply(e.Request)
		if err != nil {
			kind := event.FailureModel
			if errors.Is(err, errStopped) {
				kind = event.FailureInterrupted
			} else if errors.Is(err, prompt.ErrTooLong) {
				kind = event.FailureTooLong
			}
			w.apply(e.Failed(kind, err.Error(), reply.Reply{MS: 5}))
			return
		}
		if e.Drafts() {
			var stream reply.StepStream
			for _, s := range stream.Feed(text) {
				w.apply(event.PlanDrafting{Step: s})
				w.advance()
			}
		}
		reply := reply.Reply{Text: text, PromptTokens: 100, CompletionTokens: 10, MS: 5}
		if w.calls != nil {
			reply.Calls = w.calls(e.Request)
		}
		if w.tokens != nil {
			reply.PromptTokens = w.tokens(e.Request)
		}
		reply.CutOff = w.cutOff != nil && w.cutOff(e.Request)
		w.apply(e.Replied(reply))
	case agent.CallPlan:
		w.apply(w.plan(e))
	case agent.CallTool:
		if w.asks != nil && w.asks(e) {
			w.elicit(e)
			return
		}
		w.apply(w.tool(e))
	case agent.CallCheck:
		w.apply(w.finds(e))
	case agent.OpenGate:
		var shown event.Data = e.Gate
		if w.show != nil {
			shown = w.show(e)
		}
		if why := w.flaw(e); why != "" {
			shown = event.StepFailed{Index: e.Gate.Step, Attempt: e.Attempt, Error: untrusted.Text(why), Failure: event.FailureTool, Gate: e.Gate.Gate}
		}
		if err := w.offer(shown); err != nil && !errors.Is(err, agent.ErrOutOfOrder) { // the plan may have dropped the call
			w.t.Fatal(err)
		}
	case agent.Wake:
		if e.At.After(w.now) {
			w.now = e.At
		}
		w.apply(event.TimerFired{ID: e.ID})
	}
}

// answer gives the user's answer to a question.
func (w *world) answer(q agent.Question) {
	w.t.Helper()
	switch {
	case q.Doubt && w.doubt != nil:
		w.apply(event.DoubtResolved{Step: q.Step, Decision: w.doubt(q), By: "user"})
	case !q.Doubt && w.failed != nil:
		decision := w.failed(q)
		decision.Step, decision.By = q.Step, "user"
		w.apply(decision)
	default:
		w.t.Fatalf("unexpected question about step %s: %s; the last events:\n%s", q.Step, q.Reason, w.tail())
	}
}

// look gives the user's review of a held plan.
func (w *world) look(v *agent.Review) {
	w.t.Helper()
	decision := event.ReviewRun
	if w.review != nil {
		decision = w.review(v)
	}
	reviewed, err := w.run.AnswerReview(v.Answer(decision), "user")
	if err != nil {
		w.t.Fatal(err)
	}
	w.apply(reviewed)
}

// play runs to the end and returns the result.
func (w *world) play(start event.RunStarted) event.Result {
	w.t.Helper()
	w.apply(start)
	return w.finish()
}

// finish plays a started run to its end and returns the result.
func (w *world) finish() event.Result {
	w.t.Helper()
	for n := 0; ; n++ {
		w.advance()
		switch {
		case w.run.Result != nil:
			return *w.run.Result
		case w.waits() == 0:
			w.t.Fatalf("the run is stuck; the last events:\n%s", w.tail())
		case n > 10_000:
			w.t.Fatal("the run does not end")
		}
		w.deliver()
	}
}

// until plays until an event of this kind has happened, and fails if none does.
// Events returned together with it happen too.
func (w *world) until(kind event.Kind) {
	w.t.Helper()
	for seen := len(w.events); ; {
		w.advance()
		for ; seen < len(w.events); seen++ {
			if w.events[seen].Data.Kind() == kind {
				return
			}
		}
		if w.run.Result != nil || w.waits() == 0 {
			w.t.Fatalf("got no %s; the last events:\n%s", kind, w.tail())
		}
		w.deliver()
	}
}

// kill ends the program with the first n events stored. Another program reads
// them a day later. Running calls are lost.
func (w *world) kill(n int) {
	w.t.Helper()
	kept := w.events[:n]
	w.events, w.pending, w.begun = nil, nil, map[string]bool{}
	w.run = agent.NewRun(w.planners)
	for _, e := range kept {
		e = reread(w.t, e)
		if err := w.run.Apply(e); err != nil {
			w.t.Fatalf("apply event %d again: %v", e.Seq, err)
		}
		w.events = append(w.events, e)
	}
	w.now = w.now.Add(24 * time.Hour)
}

// killAt ends the program at the first event of this kind, the last one stored.
func (w *world) killAt(kind event.Kind) {
	w.t.Helper()
	at := slices.Index(w.kinds(), kind)
	if at < 0 {
		w.t.Fatalf("no %s in\n%s", kind, w.tail())
	}
	w.kill(at + 1)
}

// reread writes an event as the journal does and reads it back.
func reread(t tester, e event.Event) event.Event {
	t.Helper()
	line, err := e.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	var read event.Event
	if err := json.Unmarshal(line, &read); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return read
}

// resumed returns the resume of a run with the settings of its start.
func resumed(start event.RunStarted) event.RunResumed {
	return event.RunResumed{
		Model: start.Model, Limits: start.Limits, Rules: start.Rules, Catalog: start.Catalog,
		Priors: start.Priors, Attended: start.Attended, InDoubt: start.InDoubt, Tools: start.Prompting.ModelTools,
	}
}

// resume resumes the run and plays it to its end.
func (w *world) resume(d event.RunResumed) event.Result {
	w.t.Helper()
	w.begun, w.pending = map[string]bool{}, nil
	d.From = w.run.Seq
	w.apply(d)
	return w.finish()
}

// given returns the start of a run that executes a plan, from its JSON.
func given(t tester, proposed string) event.RunStarted {
	t.Helper()
	p, faults := plan.DecodePlan([]byte(proposed))
	if len(faults) > 0 {
		t.Fatalf("the plan of the test: %v", plan.FaultError(faults))
	}
	start := started(event.DefaultLimits())
	start.Goal, start.Plan, start.SkipSynthesis, start.Limits.MaxSteps = p.Title, &p, true, 0
	return start
}

// all returns the events of one type, in order.
func all[T event.Data](w *world) []T {
	var out []T
	for _, e := range w.events {
		if d, ok := e.Data.(T); ok {
			out = append(out, d)
		}
	}
	return out
}

// starts returns the started steps in order, once per start.
func (w *world) starts() []string {
	var out []string
	for _, d := range all[event.StepStarted](w) {
		out = append(out, d.Index)
	}
	return out
}

func (w *world) tail() string {
	var b strings.Builder
	for _, e := range w.events[max(0, len(w.events)-12):] {
		line, _ := e.MarshalJSON()
		fmt.Fprintf(&b, "%.300s\n", line)
	}
	return b.String()
}

// kinds returns the kinds of all events, in order.
func (w *world) kinds() []event.Kind {
	out := make([]event.Kind, len(w.events))
	for i, e := range w.events {
		out[i] = e.Data.Kind()
	}
	return out
}

// script answers each purpose with its replies in turn, and then repeats the last
// one.
type script map[prompt.Purpose][]string

func (s script) reply(r prompt.Request) (string, error) {
	left := s[r.Purpose]
	if len(left) == 0 {
		if r.Purpose == prompt.PurposeSynthesis {
			return "all done", nil
		}
		return "", fmt.Errorf("no reply for %s", r.Purpose)
	}
	if len(left) > 1 {
		s[r.Purpose] = left[1:]
	}
	if left[0] == "" {
		return "", fmt.Errorf("the model fell silent")
	}
	return left[0], nil
}

// actions returns the actions of Next with their types, which JSON alone omits.
func actions(next []agent.Action) []map[string]any {
	out := make([]map[string]any, len(next))
	for i, a := range next {
		out[i] = map[string]any{"record": fmt.Sprintf("%T", a.Record), "data": a.Record, "effect": fmt.Sprintf("%T", a.Effect), "call": a.Effect}
	}
	return out
}

// eventLines formats events as lines of limited length.
func eventLines(events []event.Event) string {
	text := ""
	for _, e := range events {
		line, _ := e.MarshalJSON()
		text += fmt.Sprintf("%.600s\n", line)
	}
	return text
}
