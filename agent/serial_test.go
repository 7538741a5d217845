package agent_test

import (
	"encoding/json"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// serving gives the run tools of two foreign servers that may change something. One more tool
// takes calls side by side, and one only reads.
func serving(start event.RunStarted) event.RunStarted {
	schema := json.RawMessage(`{"type":"object","properties":{"at":{}}}`)
	start.Catalog = plan.Catalog{
		{Name: "store", Server: "memory", Serial: true, InputSchema: schema},
		{Name: "remove", Server: "memory", Serial: true, InputSchema: schema},
		{Name: "read", Server: "memory", ReadOnly: true, Annotated: true, InputSchema: schema},
		{Name: "touch", Server: "memory", Annotated: true, InputSchema: schema},
		{Name: "post", Server: "chat", Serial: true, InputSchema: schema},
	}
	start.Rules = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}
	return start
}

// beside returns the most calls by tool and by server that were under way at once. Only serial
// calls count for a server.
func beside(w *world) (tools, servers map[string]int) {
	tools, servers = map[string]int{}, map[string]int{}
	w.watch = func(_ []event.Data, pending []agent.Effect) {
		now, serial := map[string]int{}, map[string]int{}
		for _, e := range pending {
			if c, ok := e.(agent.CallTool); ok {
				now[c.Tool.Name]++
				if c.Tool.Serial {
					serial[c.Tool.Server]++
				}
			}
		}
		for name, n := range now {
			tools[name] = max(tools[name], n)
		}
		for name, n := range serial {
			servers[name] = max(servers[name], n)
		}
	}
	return tools, servers
}

func TestCallsThatMayChangeSomethingOnAServerRunOneAfterTheOther(t *testing.T) {
	w := newWorld(t)
	tools, servers := beside(w)
	start := serving(given(t, `{"title":"Store","steps":[
		{"index":"1","title":"Store","tool":"store","for_each":["a","b","c","d","e","f"],"args":{"at":"${item}"}},
		{"index":"2","title":"Remove","tool":"remove"},
		{"index":"3","title":"Read","tool":"read","for_each":["a","b"],"args":{"at":"${item}"}},
		{"index":"4","title":"Touch","tool":"touch","for_each":["a","b"],"args":{"at":"${item}"}},
		{"index":"5","title":"Post","tool":"post","for_each":["a","b"],"args":{"at":"${item}"}}]}`))
	start.Limits.MaxConcurrency = 8
	if result := w.play(start); result.Reason != event.ReasonGoalMet {
		t.Fatalf("the run ended with %s: %s", result.Reason, result.Error)
	}
	if want := map[string]int{"memory": 1, "chat": 1}; !maps.Equal(servers, want) {
		t.Errorf("so many serial calls of a server ran at once: %v, want %v", servers, want)
	}
	if want := map[string]int{"store": 1, "remove": 1, "read": 2, "touch": 2, "post": 1}; !maps.Equal(tools, want) {
		t.Errorf("so many calls of a tool ran at once: %v, want %v", tools, want)
	}
	if n := len(all[event.StepStarted](w)); n != 13 {
		t.Errorf("%d calls were made, want 13", n)
	}
}

// Whatever the plan, its gates, its order and its slots are, it ends. No call is lost, and no
// two serial calls of a server run at once.
func TestSerialCallsKeepNoPlanFromItsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		_, servers := beside(w)
		w.choose = func(n int) int { return rapid.IntRange(0, n-1).Draw(t, "next") }
		p := plan.Plan{Title: "Any"}
		calls := 0
		for n := range rapid.IntRange(1, 6).Draw(t, "steps") {
			s := plan.Step{Index: string(rune('1' + n)), Title: "Step", Executor: plan.ExecutorTool, Args: map[string]any{"at": n}}
			s.Tool = rapid.SampledFrom([]string{"store", "remove", "read", "touch", "post"}).Draw(t, "tool")
			s.Gate = rapid.Bool().Draw(t, "gate")
			if n > 0 && rapid.Bool().Draw(t, "depends") {
				s.DependsOn = []string{string(rune('0' + n))}
			}
			times := 1
			if rapid.Bool().Draw(t, "items") {
				times = rapid.IntRange(0, 5).Draw(t, "length")
				list := make([]any, times)
				for i := range list {
					list[i] = i
				}
				s.ForEach = &plan.ForEach{Items: list, As: "item", Max: plan.DefaultMax, AtOnce: rapid.IntRange(0, 3).Draw(t, "at once")}
			}
			calls += times
			p.Steps = append(p.Steps, s)
		}
		start := serving(started(event.DefaultLimits()))
		start.Plan, start.SkipSynthesis, start.Limits.MaxSteps = &p, true, 0
		start.Limits.MaxConcurrency = rapid.IntRange(1, 4).Draw(t, "slots")
		result := w.play(start)
		if result.Reason != event.ReasonGoalMet || len(all[event.StepStarted](w)) != calls {
			t.Fatalf("the run ended with %s: %s after %d of %d calls\n%s", result.Reason, result.Error, len(all[event.StepStarted](w)), calls, w.tail())
		}
		for server, n := range servers {
			if n > 1 {
				t.Fatalf("%d serial calls of %s ran at once\n%s", n, server, w.tail())
			}
		}
	})
}
