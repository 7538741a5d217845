package agent_test

import (
	"encoding/json"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// puts is a tool with effects that takes a path and a text.
var puts = plan.Tool{Name: "put", Server: "w", Annotated: true, InputSchema: json.RawMessage(
	`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"additionalProperties":false,"required":["path","text"]}`)}

func TestProvenanceNamesTheArgumentThatTheToolTakes(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"T","steps":[
		{"title":"Look","tool":"look","args":{},"result_variable":"seen"},
		{"title":"Put","tool":"put","args":{"file":"a","content":"${seen}"}}]}`)
	start.Catalog = append(start.Catalog[:len(start.Catalog):len(start.Catalog)], puts)
	w.resolve = func(g event.GateRequested) event.GateResolved {
		return event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"}
	}
	var called string
	w.tool = func(c agent.CallTool) event.Data {
		called = plan.CanonicalJSON(c.Args)
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "result"}
	}
	if got := w.play(start); got.Reason != event.ReasonGoalMet || called != `{"path":"a","text":"result"}` {
		t.Fatalf("called with %s, ended %s (%s)", called, got.Reason, got.Error)
	}
	g := gates(w)[0]
	if len(g.Provenance) != 1 || g.Provenance[0].Arg != "text" || plan.CanonicalJSON(g.Args) != called {
		t.Errorf("the gate shows %s, which carries %+v", plan.CanonicalJSON(g.Args), g.Provenance)
	}
	for _, source := range w.run.Sources(w.run.Step("2")) {
		if carries := len(source.From) > 0; carries != (source.Arg == "text") {
			t.Errorf("got the source %+v", source)
		}
	}
}

func TestPlannedArgsByOtherNamesAreSettled(t *testing.T) {
	for _, strict := range []bool{false, true} {
		w := newWorld(t)
		w.reply = func(r prompt.Request) (string, error) {
			if r.Purpose == prompt.PurposeRepair {
				t.Error("the plan is repaired")
			}
			return `{"title":"Take","steps":[{"index":"1","title":"Take the files","tool":"take","args":{"paths":"a","note":["n"]},"depends_on":[]}]}`, nil
		}
		start := started(event.DefaultLimits())
		start.Catalog, start.Prompting.Strict, start.SkipSynthesis = plan.Catalog{takes}, strict, true
		if got := w.play(start); got.Reason != event.ReasonGoalMet || plan.CanonicalJSON(w.run.Step("1").Args) != `{"files":["a"],"note":"n"}` {
			t.Errorf("strict %v: called with %s, ended %s (%s)", strict, plan.CanonicalJSON(w.run.Step("1").Args), got.Reason, got.Error)
		}
	}
}

func TestFilledArgsByOtherNamesAreSettled(t *testing.T) {
	w := newWorld(t)
	w.reply = func(r prompt.Request) (string, error) {
		if r.Purpose == prompt.PurposeStep {
			return `{"file_path":"a","content":"b"}`, nil
		}
		return `{"title":"Put","steps":[{"index":"1","title":"Put it","tool":"put","depends_on":[]}]}`, nil
	}
	w.resolve = func(g event.GateRequested) event.GateResolved {
		return event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"}
	}
	start := started(event.DefaultLimits())
	start.Catalog, start.SkipSynthesis = plan.Catalog{puts}, true
	if got := w.play(start); got.Reason != event.ReasonGoalMet || plan.CanonicalJSON(w.run.Step("1").Args) != `{"path":"a","text":"b"}` {
		t.Errorf("called with %s, ended %s (%s)", plan.CanonicalJSON(w.run.Step("1").Args), got.Reason, got.Error)
	}
}
