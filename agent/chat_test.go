package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// chatting returns the start of a run whose goal is answered directly.
func chatting(w *world, k *replyingModel) event.RunStarted {
	k.others = script{prompt.PurposeAnalysis: {`{"mode":"direct","task":"t","goal":"g","complexity":"simple","reflect":false}`}}
	k.join(w)
	start := started(event.DefaultLimits())
	start.Prompting = prompt.Prompting{ModelTools: true, PlanTools: true}
	return start
}

func TestChatCallsTools(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "let me look", calls: []reply.ToolUse{use("look", "a")}}, {text: "it is green"}}}
	start := chatting(w, k)
	mirror(w)
	result := w.play(start)
	if result.Reason != event.ReasonDirect || result.Answer != "it is green" {
		t.Fatalf("ended %s with %q: %s", result.Reason, result.Answer, result.Error)
	}
	d := all[event.StepStarted](w)[0]
	if d.Index != "chat.1" || d.Parent != prompt.ChatParent || d.Tool != "look" {
		t.Errorf("the call is %+v", d)
	}
	last := k.requests[1].Messages[len(k.requests[1].Messages)-1]
	if last.Role != prompt.RoleTool || last.Tool != "look" || !strings.Contains(last.Content, "result of chat.1") {
		t.Errorf("the second turn ends with %+v, want the call's result", last)
	}
	if n := len(w.run.Chat.Calls); n != 1 {
		t.Errorf("got %d calls in the chat, want 1", n)
	}
}

func TestChatSeesPicturesAfterAllAnswers(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a"), use("look", "b")}}, {text: "a cat"}}}
	start := chatting(w, k)
	w.tool = func(c agent.CallTool) event.Data {
		a := plan.Attachment{File: "/kept/" + c.Index, Type: "image/png", Bytes: 70, SHA256: c.Index}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "drawn", Beside: plan.Beside{Text: "by hand", Attachments: []plan.Attachment{a}}}
	}
	mirror(w)
	w.play(start)
	messages := k.requests[1].Messages
	messages = messages[len(messages)-4:]
	for i, m := range messages {
		if (i < 2) != (m.Role == prompt.RoleTool) || (i < 2) != strings.Contains(m.Content, "drawn\nby hand") || (i >= 2) != (len(m.Images) == 1) {
			t.Errorf("message %d is %+v", i, m)
		}
	}
}

func TestDryChatOffersNoTools(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "as far as I know"}}}
	start := chatting(w, k)
	start.DryRun = true
	w.play(start)
	if len(k.requests[0].Tools) > 0 {
		t.Errorf("got %d tools in a dry run, want none", len(k.requests[0].Tools))
	}
}

func TestInnerPlanSharesBudgetOfChat(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{
		{calls: []reply.ToolUse{{Name: prompt.PlanCreateAndExecute, Args: map[string]any{"goal": "sub"}}}},
		{text: "carried out"},
	}}
	start := chatting(w, k)
	start.Rules = append([]rule.Rule{{Tool: "replan:*", Verdict: rule.VerdictRun}}, start.Rules...)
	start.Limits.MaxTokens, start.Limits.MaxToolCalls = 5000, 9
	var asked agent.CallPlan
	w.plan = func(c agent.CallPlan) event.Data {
		asked = c
		return event.StepCompleted{
			Index: c.Index, Attempt: c.Attempt, Result: map[string]any{"status": "completed"}, Run: "r-2",
			Usage: &event.Usage{Steps: 4, ToolCalls: 3, PromptTokens: 1000, CompletionTokens: 100, ModelCalls: 2},
		}
	}
	result := w.play(start)
	if result.Answer != "carried out" {
		t.Fatalf("ended %s: %s", result.Reason, result.Error)
	}
	if asked.Tool.Name != prompt.PlanCreateAndExecute || asked.Args["goal"] != "sub" {
		t.Errorf("called %+v", asked)
	}
	if asked.Limits.MaxTokens != 5000-2*110 || asked.Limits.MaxToolCalls != 8 {
		t.Errorf("its limits are %+v, want the remaining budget", asked.Limits)
	}
	if u := result.Usage; u.Steps != 5 || u.ToolCalls != 4 || u.PromptTokens != 1300 || u.ModelCalls != 5 {
		t.Errorf("used %+v, want the sum of both runs", u)
	}
	if s := w.run.Step("chat.1"); s.Run != "r-2" {
		t.Errorf("the call lacks its run: %+v", s)
	}
}

func TestSubAgentsCannotCreatePlans(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{{Name: prompt.PlanCreate, Args: map[string]any{"goal": "sub"}}}}, {text: "then not"}}}
	k.join(w)
	start := scouting(t, prompt.Profile{})
	start.Prompting.PlanTools = true
	result := w.play(start)
	if result.Variables["found"] != "then not" || len(w.starts()) != 1 {
		t.Errorf("ended %s, started %v", result.Reason, w.starts())
	}
}

func TestExchangesAreRecorded(t *testing.T) {
	w := newWorld(t)
	(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {fails: "lost"}, {text: "seen"}}}).join(w)
	w.play(scouting(t, prompt.Profile{}))
	var lines []string
	for _, x := range w.run.Exchanges {
		lines = append(lines, fmt.Sprintf("%s %s %d messages, %d calls, %q, done %t", x.Purpose, x.Step, len(x.Request.Messages), len(x.Reply.Calls), x.Error, x.Done))
	}
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "agent 5") || !strings.Contains(lines[1], `"lost", done true`) {
		t.Errorf("the exchanges are\n%s", strings.Join(lines, "\n"))
	}
}

// fourBytes counts one token for every four bytes of a request.
func fourBytes(r prompt.Request) int {
	bytes := 0
	for _, m := range r.Messages {
		bytes += len(m.Content)
	}
	return bytes / 4
}

func TestServerTokenCountCalibratesPrompts(t *testing.T) {
	for _, tc := range []struct {
		name   string
		start  func(*testing.T, *world) event.RunStarted
		tokens func(prompt.Request) int
		want   float64
	}{
		{"long prompt", ofPlanning, fourBytes, 4},
		{"short prompt", ofPlanning, func(prompt.Request) int { return 199 }, 0},
		{"prompt with tools", func(t *testing.T, w *world) event.RunStarted {
			return chatting(w, &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "seen"}}})
		}, func(r prompt.Request) int {
			if len(r.Tools) == 0 {
				return 100 // the analysis
			}
			return fourBytes(r)
		}, 0},
		{"another model", func(t *testing.T, w *world) event.RunStarted {
			(&replyingModel{turns: []turn{{text: "seen"}}}).join(w)
			return scouting(t, prompt.Profile{Model: "another", Tools: []string{"none"}})
		}, fourBytes, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.tokens = tc.tokens
			w.play(tc.start(t, w))
			if got := w.run.BytesPerToken(""); got < tc.want-0.1 || got > tc.want+0.1 {
				t.Errorf("got %v bytes per token, want %v", got, tc.want)
			}
		})
	}
}

// ofPlanning returns the start of a run in which the model plans one step and
// writes no answer.
func ofPlanning(_ *testing.T, w *world) event.RunStarted {
	w.reply = script{prompt.PurposePlan: {`{"title":"One","steps":[{"index":"1","title":"Look","tool":"look","args":{"at":"x"},"depends_on":[],"expected_outcome":"x"}]}`}}.reply
	start := started(event.DefaultLimits())
	start.SkipSynthesis = true
	return start
}
