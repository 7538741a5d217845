package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// boundPlan reads something, and changes it by a call that asks.
const boundPlan = `{"title":"x","steps":[
	{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"seen"},
	{"index":"2","title":"Change","tool":"change","args":{"at":"${seen}","n":"1"}}]}`

// boundItems asks about each item of a list.
const boundItems = `{"title":"x","steps":[
	{"index":"1","title":"Look","tool":"look","args":{"at":"a"},"result_variable":"seen"},
	{"index":"2","title":"Change","tool":"change","for_each":["a"],"args":{"at":"${item}${seen}","n":"1"}}]}`

// approved returns a run that was killed once the gate of its second step was
// answered, and what its events were.
func approved(t *testing.T, text string, kind event.Kind) (*world, event.RunStarted) {
	t.Helper()
	w := newWorld(t)
	w.tool = func(c agent.CallTool) event.Data {
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "b"}
	}
	start := given(t, text)
	start.Catalog = slices.Clone(start.Catalog)
	start.Catalog[1].Trusted = true // its text has no pin
	w.play(start)
	w.killAt(kind)
	return w, start
}

// altered replaces the stored events of a run by changed ones.
func (w *world) altered(change func(data event.Data) event.Data) {
	for i := range w.events {
		w.events[i].Data = change(w.events[i].Data)
	}
	w.kill(len(w.events))
}

func TestApprovalIsBoundToTheCall(t *testing.T) {
	no := false
	tool := func(change func(*plan.Tool)) func(*world, *event.RunResumed) {
		return func(_ *world, r *event.RunResumed) {
			r.Catalog = slices.Clone(r.Catalog)
			change(&r.Catalog[1])
		}
	}
	for name, c := range map[string]struct {
		change func(*world, *event.RunResumed)
		holds  bool
	}{
		"unchanged":              {change: func(*world, *event.RunResumed) {}, holds: true},
		"tool used more often":   {change: tool(func(t *plan.Tool) { t.Uses = 9 }), holds: true},
		"other effects":          {change: tool(func(t *plan.Tool) { t.Destructive = true })},
		"other description":      {change: tool(func(t *plan.Tool) { t.Description = "Sends everything." })},
		"other pin":              {change: tool(func(t *plan.Tool) { t.Pin = "after" })},
		"other reach":            {change: tool(func(t *plan.Tool) { t.OpenWorld = &no })},
		"other box":              {change: tool(func(t *plan.Tool) { t.Contained = plan.ContainedFiles })},
		"argument of other type": {change: tool(func(t *plan.Tool) { t.InputSchema = []byte(`{"type":"object","properties":{"n":{"type":"integer"}}}`) })},
		"result that changed": {change: func(w *world, _ *event.RunResumed) {
			w.altered(func(data event.Data) event.Data {
				if d, ok := data.(event.StepCompleted); ok && d.Index == "1" {
					d.Result = "c"
					return d
				}
				return data
			})
		}},
		"gate that showed another call": {change: func(w *world, _ *event.RunResumed) {
			w.altered(func(data event.Data) event.Data {
				if d, ok := data.(event.GateRequested); ok {
					d.Call, d.Args = "", map[string]any{"at": "elsewhere", "n": "1"} // as an older replan wrote it
					return d
				}
				return data
			})
		}},
	} {
		for of, text := range map[string]string{"step": boundPlan, "item": boundItems} {
			for _, kind := range []event.Kind{event.KindGateRequested, event.KindGateResolved} {
				t.Run(name+", "+of+", "+string(kind), func(t *testing.T) {
					w, start := approved(t, text, kind)
					resume := resumed(start)
					c.change(w, &resume)
					before := len(w.events)
					if result := w.resume(resume); result.Reason != event.ReasonGoalMet {
						t.Fatalf("ended %s: %s", result.Reason, result.Error)
					}
					asked := all[event.GateRequested](w)
					if again := len(asked) > 1; again == c.holds {
						t.Fatalf("asked %d times", len(asked))
					}
					if last := asked[len(asked)-1]; !c.holds && !strings.Contains(string(last.Outdated), "no longer the one that you saw") {
						t.Errorf("the gate says %q", last.Outdated)
					}
					for _, e := range w.events[before:] { // the call is the last one that a gate showed
						if d, ok := e.Data.(event.StepStarted); ok && d.Tool == "change" && !plan.EqualValues(d.Args, asked[len(asked)-1].Args) {
							t.Errorf("called with %v after a gate that showed %v", d.Args, asked[len(asked)-1].Args)
						}
					}
				})
			}
		}
	}
}

func TestAnswerToAnotherCallIsNone(t *testing.T) {
	w, _ := approved(t, boundPlan, event.KindGateRequested)
	gate := w.run.Gates[0]
	for _, decision := range []event.Decision{event.Allow, event.Deny, event.Edit} {
		w.apply(event.GateResolved{Gate: gate.Gate, Call: "another", Decision: decision, Scope: event.ScopeRun, By: "user"})
		if len(w.run.Gates) != 1 {
			t.Fatalf("%s closed the gate", decision)
		}
	}
	w.apply(event.GateResolved{Gate: gate.Gate, Call: gate.Call, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"})
	if len(w.run.Gates) != 0 || gate.Call == "" {
		t.Error("the gate stays open")
	}
}

func TestGrantForTheRunIsBoundToItsTool(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*plan.Tool)
		gates  int
	}{
		"unchanged":         {func(*plan.Tool) {}, 1},
		"other effects":     {func(t *plan.Tool) { t.Destructive = true }, 2},
		"other description": {func(t *plan.Tool) { t.Description = "Sends everything." }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.scope = event.ScopeRun
			start := given(t, `{"title":"x","steps":[{"title":"A","tool":"change","args":{"at":1}},{"title":"B","tool":"change","args":{"at":2},"depends_on":["1"]}]}`)
			w.play(start)
			w.killAt(event.KindStepCompleted)
			resume := resumed(start)
			resume.Catalog = slices.Clone(resume.Catalog)
			c.change(&resume.Catalog[1])
			w.resume(resume)
			if n := len(all[event.GateRequested](w)); n != c.gates {
				t.Errorf("got %d gates, want %d", n, c.gates)
			}
		})
	}
}
