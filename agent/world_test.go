package agent_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"replan/agent"
	"replan/planning"
)

// world plays the runner without any I/O: it takes what Next says may be done,
// and brings back what its script says, one outcome at a time.
type world struct {
	t       tester
	run     agent.Run
	events  []agent.Event
	now     time.Time
	pending []agent.Effect
	begun   map[string]bool

	reply  func(planning.Request) (string, error)         // the model
	tool   func(agent.CallTool) agent.Data                // the tools
	gate   func(agent.GateRequested) agent.Decision       // the user
	choose func(n int) int                                // which pending effect comes back next
	watch  func(records []agent.Data, all []agent.Effect) // called after each step
}

// tester is what a table test and a property have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

func newWorld(t tester) *world {
	return &world{
		t: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), begun: map[string]bool{},
		tool: func(c agent.CallTool) agent.Data {
			return agent.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result of " + c.Index, MS: 10}
		},
		gate:   func(agent.GateRequested) agent.Decision { return agent.Allow },
		choose: func(int) int { return 0 },
		watch:  func([]agent.Data, []agent.Effect) {},
	}
}

// catalogue has one tool that only reads, one that changes things, and one
// that says nothing of itself.
var catalogue = planning.Catalogue{
	{Name: "look", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}}}`)},
	{Name: "change", Server: "w", Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{}}}`)},
	{Name: "fill", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(`{"type":"object","properties":{"at":{"type":"string"}},"required":["at"]}`)},
}

// both is a tool with two arguments that it cannot do without.
var both = planning.Tool{Name: "both", Server: "w", ReadOnly: true, Annotated: true, InputSchema: json.RawMessage(
	`{"type":"object","properties":{"at":{"type":"string"},"text":{"type":"string"}},"required":["at","text"]}`)}

// rules let what reads pass and ask for everything else.
var rules = []agent.Rule{
	{Tool: "*", When: agent.WhenReadOnly, Verdict: agent.VerdictRun},
	{Tool: "*", Verdict: agent.VerdictAsk, Why: "it has effects"},
}

func started(limits agent.Limits) agent.RunStarted {
	return agent.RunStarted{Goal: "do it", Model: "m", Limits: limits, Rules: rules, Catalogue: catalogue, Prompting: planning.Prompting{SkipAnalysis: true}}
}

func (w *world) apply(data agent.Data) {
	w.t.Helper()
	w.now = w.now.Add(10 * time.Millisecond)
	e := agent.Event{Seq: uint64(len(w.events) + 1), Time: w.now, Run: "r", Data: data}
	if err := w.run.Apply(e); err != nil {
		line, _ := e.MarshalJSON()
		w.t.Fatalf("apply: %v\n%s\nafter\n%s", err, line, w.tail())
		w.t.Fatalf("apply: %v", err)
	}
	w.events = append(w.events, e)
}

// advance does all that may be done now.
func (w *world) advance() {
	w.t.Helper()
	for {
		var records []agent.Data
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

// back brings one pending effect back.
func (w *world) back() {
	w.t.Helper()
	i := w.choose(len(w.pending))
	effect := w.pending[i]
	w.pending = append(w.pending[:i:i], w.pending[i+1:]...)
	switch e := effect.(type) {
	case agent.CallModel:
		text, err := w.reply(e.Request)
		if err != nil {
			w.apply(e.Failed(agent.FailureModel, err.Error(), "", 5))
			return
		}
		if e.Drafts() {
			var stream planning.StepStream
			for _, s := range stream.Feed(text) {
				w.apply(agent.PlanDrafting{Step: s})
				w.advance()
			}
		}
		w.apply(e.Replied(planning.Reply{Text: text, PromptTokens: 100, CompletionTokens: 10, MS: 5}))
	case agent.CallTool:
		w.apply(w.tool(e))
	case agent.OpenGate:
		asked := agent.Event{Seq: uint64(len(w.events) + 1), Time: w.now, Run: "r", Data: e.Gate}
		if err := w.run.Apply(asked); errors.Is(err, agent.ErrOutOfOrder) {
			return // the plan has dropped the call since
		}
		w.events = append(w.events, asked)
		w.apply(agent.GateResolved{Gate: e.Gate.Gate, Decision: w.gate(e.Gate), Scope: agent.ScopeOnce, By: "test"})
	case agent.Wake:
		if e.At.After(w.now) {
			w.now = e.At
		}
		w.apply(agent.TimerFired{ID: e.ID})
	}
}

// play carries the run to its end and returns its result.
func (w *world) play(start agent.RunStarted) agent.Result {
	w.t.Helper()
	w.apply(start)
	for n := 0; ; n++ {
		w.advance()
		if w.run.Result != nil {
			return *w.run.Result
		}
		if len(w.pending) == 0 {
			w.t.Fatalf("the run waits for nothing and is not over; the last events:\n%s", w.tail())
		}
		if n > 10_000 {
			w.t.Fatal("the run does not end")
		}
		w.back()
	}
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
func (w *world) kinds() []agent.Kind {
	out := make([]agent.Kind, len(w.events))
	for i, e := range w.events {
		out[i] = e.Data.Kind()
	}
	return out
}

// script answers each purpose with its replies in turn, the last one for ever.
type script map[planning.Purpose][]string

func (s script) reply(r planning.Request) (string, error) {
	left := s[r.Purpose]
	if len(left) == 0 {
		if r.Purpose == planning.PurposeSynthesis {
			return "all done", nil
		}
		return "", fmt.Errorf("nothing to say about %s", r.Purpose)
	}
	if len(left) > 1 {
		s[r.Purpose] = left[1:]
	}
	if left[0] == "" {
		return "", fmt.Errorf("the model fell silent")
	}
	return left[0], nil
}
