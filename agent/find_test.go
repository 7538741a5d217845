package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// manyTools returns a catalog of 200 tools of three servers, and one that reads
// the weather.
func manyTools() plan.Catalog {
	tools := slices.Clone(catalog)
	for i := range 200 {
		tools = append(tools, plan.Tool{
			Name: fmt.Sprintf("tool_%03d", i), Server: fmt.Sprintf("server%d", i%3), ReadOnly: true, Annotated: true,
			Description: strings.Repeat("keep records of what was sold, ", 6),
			InputSchema: []byte(`{"type":"object","properties":{"owner":{"type":"string"},"repository":{"type":"string"},"state":{"enum":["open","closed","all"]}}}`),
		})
	}
	return append(tools,
		plan.Tool{Name: "forecast", Server: "sky", ReadOnly: true, Annotated: true, Description: "Tell the weather of a town.", InputSchema: []byte(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`)},
		plan.Tool{Name: "set_alarm", Server: "sky", Annotated: true, Description: "Sound an alarm in bad weather.", InputSchema: []byte(`{"type":"object","properties":{"town":{"type":"string"}},"required":["town"]}`)})
}

// ofMany returns the start of a chat turn, or of a run with a sub-agent, beside
// 200 tools in a small window.
func ofMany(t *testing.T, kind string, w *world, k *replyingModel) event.RunStarted {
	t.Helper()
	var start event.RunStarted
	if kind == "chat" {
		start = chatting(w, k)
	} else {
		k.join(w)
		start = scouting(t, prompt.Profile{})
	}
	start.Goal, start.Catalog, start.Prompting.ContextWindow = "sum up the records", manyTools(), 16384
	return start
}

func find(words string) reply.ToolUse {
	return reply.ToolUse{Name: prompt.ToolsFind, Args: map[string]any{"words": words}}
}

func offers(r prompt.Request, name string) bool {
	return slices.ContainsFunc(r.Tools, func(t plan.Tool) bool { return t.Name == name })
}

func TestLoopFindsAndCallsToolLeftOut(t *testing.T) {
	for _, kind := range []string{"chat", "sub-agent"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: []turn{
				{calls: []reply.ToolUse{find("weather of a town")}},
				{calls: []reply.ToolUse{{Name: "forecast", Args: map[string]any{"town": "Ulm"}}}},
				{text: "it rains"},
			}}
			result := w.play(ofMany(t, kind, w, k))
			if result.Status != event.StatusCompleted || result.Answer != "it rains" && result.Variables["found"] != "it rains" {
				t.Fatalf("ended %s with %q: %s", result.Status, result.Answer, result.Error)
			}
			if first := k.requests[0]; offers(first, "forecast") || !offers(first, prompt.ToolsFind) {
				t.Errorf("the first turn offers %d tools, forecast among them: %t", len(first.Tools), offers(first, "forecast"))
			}
			second := k.requests[1]
			if !offers(second, "forecast") || !offers(second, prompt.ToolsFind) || strings.Contains(second.Shortened, "too long") {
				t.Errorf("the second turn lacks the found tool: %s", second.Shortened)
			}
			last := second.Messages[len(second.Messages)-1]
			for _, m := range second.Messages {
				if m.Role == prompt.RoleTool {
					last = m
				}
			}
			if last.Tool != prompt.ToolsFind || !strings.Contains(last.Content, "forecast(town: string)") || strings.Contains(last.Content, "tool_0") {
				t.Errorf("the model reads\n%s", last.Content)
			}
			calls := all[event.StepStarted](w)
			if d := calls[len(calls)-2]; d.Tool != "replan:"+prompt.ToolsFind {
				t.Errorf("the journal has the call %+v", d)
			}
			if d := calls[len(calls)-1]; d.Tool != "forecast" || len(all[event.GateRequested](w)) > 0 {
				t.Errorf("the second call is %+v, with %d gates", d, len(all[event.GateRequested](w)))
			}
		})
	}
}

func TestToolLeftOutIsCalledByName(t *testing.T) {
	for _, kind := range []string{"chat", "sub-agent"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			k := &replyingModel{turns: []turn{
				{calls: []reply.ToolUse{{Name: "forecast", Args: map[string]any{"town": "Ulm"}}, {Name: "set_alarm", Args: map[string]any{"town": "Ulm"}}}},
				{calls: []reply.ToolUse{{Name: "forecast", Args: map[string]any{"city": []any{}}}}},
				{text: "done"},
			}}
			w.play(ofMany(t, kind, w, k))
			if offers(k.requests[0], "forecast") || offers(k.requests[0], "set_alarm") {
				t.Fatal("the tools are offered")
			}
			var called []string
			for _, d := range all[event.StepStarted](w) {
				if d.Tool != "" {
					called = append(called, d.Tool)
				}
			}
			slices.Sort(called)
			if !slices.Equal(called, []string{"forecast", "set_alarm"}) {
				t.Errorf("called %q", called)
			}
			if gates := all[event.GateRequested](w); len(gates) != 1 || gates[0].Tool != "set_alarm" {
				t.Errorf("got the gates %+v, want one of set_alarm", gates)
			}
		})
	}
}

func TestFoundToolsSurviveResume(t *testing.T) {
	for _, kind := range []string{"chat", "sub-agent"} {
		for name, kill := range map[string]func(*world){
			"after the call": func(w *world) {
				w.until(event.KindStepCompleted)
				w.killAt(event.KindStepCompleted)
			},
			"in the middle of the call": func(w *world) {
				w.until(event.KindStepCompleted)
				w.kill(slices.Index(w.kinds(), event.KindStepCompleted))
			},
		} {
			t.Run(kind+", "+name, func(t *testing.T) {
				w := newWorld(t)
				k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{find("weather of a town")}}, {text: "lost"}, {text: "lost"}}}
				start := ofMany(t, kind, w, k)
				w.apply(start)
				kill(w)
				k.turns, k.requests = []turn{{text: "it rains"}}, nil
				result := w.resume(resumed(start))
				if result.Status != event.StatusCompleted || len(k.requests) != 1 || !offers(k.requests[0], "forecast") {
					t.Errorf("ended %s; the model was asked %d times, the last time with %v", result.Status, len(k.requests), k.requests[len(k.requests)-1].Tools)
				}
			})
		}
	}
}

func TestOnlyLoopsFindTools(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"Find","steps":[{"index":"1","title":"Find","tool":"replan:tools.find","args":{"words":"weather"},"on_failure":"abort"}]}`)
	result := w.play(start)
	if result.Status != event.StatusFailed || len(w.starts()) > 0 {
		t.Errorf("ended %s, started %q", result.Status, w.starts())
	}
}
