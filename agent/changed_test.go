package agent_test

import (
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// withChangedTool returns the start of a run that calls a tool twice whose server
// has changed it.
func withChangedTool(t *testing.T, rules ...rule.Rule) event.RunStarted {
	t.Helper()
	start := given(t, `{"title":"T","steps":[{"index":"1","title":"First","tool":"web:list","args":{"q":"a"}},
		{"index":"2","title":"Second","tool":"web:list","args":{"q":"b"},"depends_on":["1"]}]}`)
	start.Catalog = plan.Catalog{{Name: "list", Server: "web", ReadOnly: true, Annotated: true, Pin: "now", Changed: "-| Lists.\n+| Sends.\n"}}
	start.Rules = append(rules, policy.BuiltIn(policy.Trust{})...)
	return start
}

func TestChangedToolAsksOnceWhateverTheRulesAre(t *testing.T) {
	for name, rules := range map[string][]rule.Rule{
		"reads":              nil,
		"rule for the tool":  {{Tool: "web:list", Verdict: rule.VerdictRun, Untrusted: true, Source: rule.SourceFlag}},
		"saved for its pin":  {{Tool: "web:list", Pin: "before", Verdict: rule.VerdictRun, Source: rule.SourceConfiguration}},
		"rule for all tools": {{Tool: "*", Verdict: rule.VerdictRun, Source: rule.SourceConfiguration}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			mirror(w)
			w.gate = func(event.GateRequested) event.Decision { return event.Allow }
			if result := w.play(withChangedTool(t, rules...)); result.Reason != event.ReasonGoalMet {
				t.Fatalf("ended %s: %s", result.Reason, result.Error)
			}
			asked := gates(w)
			if len(asked) != 1 || asked[0].Changed == "" || asked[0].Pin != "now" || asked[0].Step != "1" {
				t.Errorf("got the gates %+v", asked)
			}
			if _, why := asked[0].ForRun(); why == "" {
				t.Error("the gate can be answered for the run")
			}
		})
	}
}

func TestChangedToolIsRefusedWithoutTheUser(t *testing.T) {
	for _, approve := range []policy.Approve{policy.ApproveNone, policy.ApproveSafe, policy.ApproveAll} {
		w := newWorld(t)
		mirror(w)
		w.gate = func(g event.GateRequested) event.Decision {
			decision, ok := approve.Answer(g)
			if !ok {
				t.Errorf("--approve %s asks", approve)
			}
			return decision
		}
		if result := w.play(withChangedTool(t)); result.Reason != event.ReasonDenied {
			t.Errorf("--approve %s ended %s", approve, result.Reason)
		}
	}
	if _, ok := policy.ApproveAsk.Answer(event.GateRequested{Changed: "x"}); ok {
		t.Error("the user is not asked")
	}
}

func TestDenialOfAChangedToolNeedsNoGate(t *testing.T) {
	w := newWorld(t)
	mirror(w)
	result := w.play(withChangedTool(t, rule.Rule{Tool: "web:*", Verdict: rule.VerdictBlock, Source: rule.SourceFlag}))
	if result.Reason != event.ReasonDenied || len(gates(w)) > 0 {
		t.Errorf("ended %s after the gates %+v", result.Reason, gates(w))
	}
}

func TestGrantEndsWhenTheToolChanges(t *testing.T) {
	tool := plan.Tool{Name: "post", Server: "web", Pin: "before"}
	g := event.GateRequested{Tool: "post", Server: "web", Pin: tool.Pin, Step: "1", Args: map[string]any{"q": "a"}}
	forRun, why := g.ForRun()
	if why != "" {
		t.Fatal(why)
	}
	always, _ := policy.Offer(g, tool, t.TempDir())
	ofTool := policy.OfferTool(g, t.TempDir())
	for name, r := range map[string]rule.Rule{"for the run": forRun, "this call": always.Rule, "this tool": ofTool.Rule} {
		if !r.Matches(tool) {
			t.Errorf("%s: the rule does not match", name)
		}
		tool := tool
		tool.Pin = "after"
		if r.Matches(tool) {
			t.Errorf("%s: the rule matches the changed tool", name)
		}
	}
}

func TestChangeThatNoGateCanShowIsRefused(t *testing.T) {
	for name, start := range map[string]event.RunStarted{"reads": withChangedTool(t), "rule for the tool": withChangedTool(t, rule.Rule{Tool: "web:list", Verdict: rule.VerdictRun, Untrusted: true, Source: rule.SourceFlag})} {
		t.Run(name, func(t *testing.T) {
			start.Catalog[0].TooLong, start.Catalog[0].Changed = true, "its server has changed it"
			w := newWorld(t)
			mirror(w)
			w.gate = func(event.GateRequested) event.Decision { return event.Allow }
			result := w.play(start)
			failed := all[event.StepFailed](w)
			if result.Reason != event.ReasonDenied || len(gates(w)) > 0 || len(failed) == 0 || failed[0].Error != "denied: its server has changed it" {
				t.Errorf("ended %s after the gates %+v and the failures %+v", result.Reason, gates(w), failed)
			}
		})
	}
}

func TestModelIsOfferedAChangedToolOnceItIsAccepted(t *testing.T) {
	const agent = `{"index":"5","title":"Look around","executor":"agent","profile":"scout"}`
	for name, c := range map[string]struct {
		steps string
		told  string
	}{
		"before": {agent, "the server web has changed its tool list since it was accepted: read the change and accept it with replan tools accept web:list; only the user can do that"},
		"after":  {`{"index":"1","title":"First","tool":"web:list","args":{"q":"a"}},` + strings.Replace(agent, `"profile"`, `"depends_on":["1"],"profile"`, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			start := withChangedTool(t)
			p := given(t, `{"title":"T","steps":[`+c.steps+`]}`)
			start.Plan = p.Plan
			start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
			w := newWorld(t)
			k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("list", "b")}}, {text: "seen"}}}
			k.join(w)
			w.gate = func(event.GateRequested) event.Decision { return event.Allow }
			if result := w.play(start); result.Status != event.StatusCompleted {
				t.Fatalf("ended %s: %s", result.Reason, result.Error)
			}
			offered := slices.ContainsFunc(k.requests[0].Tools, func(t plan.Tool) bool { return t.Name == "list" })
			if offered != (c.told == "") {
				t.Errorf("the tool is offered: %t", offered)
			}
			failed := all[event.StepFailed](w)
			if (len(failed) == 0) != (c.told == "") || len(failed) > 0 && string(failed[0].Error) != c.told {
				t.Errorf("got the failures %+v", failed)
			}
		})
	}
}
