package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// anything allows every tool.
var anything = []rule.Rule{{Tool: "*", Verdict: rule.VerdictRun}}

func TestWaitingCallsEndWithTheirAgentStep(t *testing.T) {
	w, _ := timedOut(t, "skip")
	w.apply(event.TimerFired{ID: "agent/5/1"})
	w.finish()
	failed := slices.Index(w.kinds(), event.KindStepFailed)
	for i, e := range w.events {
		if d, ok := e.Data.(event.StepStarted); ok && i > failed {
			t.Errorf("%s (%s) started after its sub-agent failed", d.Index, d.Tool)
		}
	}
	if s := w.run.Step("5.2"); s.Status != agent.StepSkipped {
		t.Errorf("5.2 is %s", s.Status)
	}
}

func TestGateHoldsForInnerCallsAfterReplan(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "ok"}}}
	k.others = script{prompt.PurposeReplan: {`{"title":"x","steps":[{"index":"7","title":"Do it","executor":"agent","profile":"scout"}]}`}}
	k.join(w)
	start := given(t, `{"title":"x","on_failure":"replan","steps":[{"index":"1","title":"Change","tool":"change","args":{"at":"a"},"gate":true}]}`)
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
	start.Rules = anything
	first := true
	w.tool = func(c agent.CallTool) event.Data {
		if first {
			first = false
			return event.StepFailed{Index: c.Index, Attempt: c.Attempt, Error: "no", Failure: event.FailureTool}
		}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "r"}
	}
	w.play(start)
	if n := len(all[event.GateRequested](w)); n != 2 {
		t.Errorf("got %d gates, want one for the plan's call and one for the sub-agent's", n)
	}
}

func TestInnerCallsGetUnusedIndices(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {calls: []reply.ToolUse{use("look", "b")}}, {text: "seen"}}}
	k.join(w)
	start := given(t, `{"title":"x","steps":[{"index":"5","title":"Look","executor":"agent","profile":"scout"},{"index":"5.1","title":"s","tool":"look","args":{"at":"z"},"depends_on":["5"]}]}`)
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
	w.play(start)
	var started []string
	for _, d := range all[event.StepStarted](w) {
		started = append(started, d.Index)
	}
	if want := []string{"5", "5.2", "5.3", "5.1"}; !slices.Equal(started, want) {
		t.Errorf("started %v, want %v", started, want)
	}
}

func TestEveryCallOfReplyIsAnswered(t *testing.T) {
	w := newWorld(t)
	var many []reply.ToolUse
	for i := range 20 {
		many = append(many, use("look", fmt.Sprint(i)))
	}
	k := &replyingModel{turns: []turn{{calls: many}, {text: "ok"}}}
	k.join(w)
	w.play(scouting(t, prompt.Profile{}))
	asked, answered, last := 0, 0, ""
	for _, m := range k.requests[1].Messages {
		asked += len(m.Calls)
		if m.Role == prompt.RoleTool {
			answered, last = answered+1, m.Content
		}
	}
	if asked != 20 || answered != 20 || !strings.Contains(last, "not made: at most 16") {
		t.Errorf("got %d calls and %d answers, the last %q", asked, answered, last)
	}
}

func TestSteeringInLastTurnReachesPlanner(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("look", "a")}}, {text: "the answer"}}}
	k.others = script{prompt.PurposeReplan: {`{"title":"x","steps":[]}`}}
	k.join(w)
	w.apply(scouting(t, prompt.Profile{MaxTurns: 2}))
	w.until(event.KindModelRequested)
	w.until(event.KindModelRequested)
	w.apply(event.RunSteered{Text: "mind the gap"})
	w.finish()
	if started := all[event.ReplanStarted](w); len(started) != 1 || started[0].Request != "mind the gap" {
		t.Errorf("the planner got %+v", started)
	}
}

// callingModel makes the chat call a tool in each of that many turns.
func callingModel(turns int) *replyingModel {
	k := &replyingModel{}
	for i := range turns {
		k.turns = append(k.turns, turn{calls: []reply.ToolUse{use("look", fmt.Sprint(i))}})
	}
	return k
}

func TestLastChatTurnOffersNoTools(t *testing.T) {
	w := newWorld(t)
	k := callingModel(19)
	k.turns = append(k.turns, turn{text: "this is it"})
	start := chatting(w, k)
	start.Limits.MaxSteps = 0
	if r := w.play(start); r.Answer != "this is it" {
		t.Errorf("%s: %s", r.Reason, r.Error)
	}
	if n := len(k.requests[19].Tools); n > 0 {
		t.Errorf("the last turn offers %d tools", n)
	}
}

func TestResumeAsksChatForMissingAnswer(t *testing.T) {
	w := newWorld(t)
	k := callingModel(20)
	start := chatting(w, k)
	start.Limits.MaxSteps = 0
	if r := w.play(start); r.Status != event.StatusFailed {
		t.Fatalf("%s: %s", r.Reason, r.Answer)
	}
	k.turns = []turn{{text: "now"}}
	if r := w.resume(resumed(start)); r.Answer != "now" {
		t.Errorf("%s: %s", r.Reason, r.Error)
	}
}

// delegating makes the chat call that many plans at once.
func delegating(w *world, plans int) event.RunStarted {
	k := &replyingModel{turns: []turn{{}, {text: "ok"}}}
	for i := range plans {
		k.turns[0].calls = append(k.turns[0].calls, reply.ToolUse{Name: prompt.PlanCreateAndExecute, Args: map[string]any{"goal": fmt.Sprint(i)}})
	}
	start := chatting(w, k)
	start.Rules = anything
	return start
}

func TestPlansOfOneReplyShareBudget(t *testing.T) {
	w := newWorld(t)
	start := delegating(w, 2)
	start.Limits.MaxTokens, start.Limits.MaxToolCalls = 5000, 9
	w.plan = func(c agent.CallPlan) event.Data {
		used := event.Usage{PromptTokens: 1000, ToolCalls: 2}
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "x", Run: "r-" + c.Index, Usage: &used}
	}
	var left []event.Limits
	plan := w.plan
	w.plan = func(c agent.CallPlan) event.Data { left = append(left, c.Limits); return plan(c) }
	w.play(start)
	if len(left) != 2 || left[0].MaxToolCalls != 8 || left[1].MaxToolCalls != 5 || left[0].MaxTokens-left[1].MaxTokens != 1000 {
		t.Errorf("got the limits %+v", left)
	}
}

func TestPlanCallCountsTowardBudget(t *testing.T) {
	for _, tc := range []struct {
		name             string
		limits           event.Limits
		calls, exec, max int
	}{
		{"counts as one of each", event.Limits{MaxToolCalls: 3, MaxExecutionCalls: 3, MaxSteps: 5}, 2, 2, 4},
		{"exhausts the budget", event.Limits{MaxToolCalls: 1, MaxExecutionCalls: 1, MaxSteps: 1}, event.NothingLeft, event.NothingLeft, event.NothingLeft},
		{"no limits", event.Limits{}, 0, 0, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			start := delegating(w, 1)
			start.Limits = tc.limits
			w.plan = func(c agent.CallPlan) event.Data {
				if l := c.Limits; l.MaxToolCalls != tc.calls || l.MaxExecutionCalls != tc.exec || l.MaxSteps != tc.max {
					t.Errorf("remaining: %d calls, %d with effects, %d steps", l.MaxToolCalls, l.MaxExecutionCalls, l.MaxSteps)
				}
				return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "x"}
			}
			w.play(start)
		})
	}
}

func TestSpentBudgetIsExplained(t *testing.T) {
	w := newWorld(t)
	start := given(t, `{"title":"x","steps":[{"title":"Look","tool":"look","args":{"at":"a"}}]}`)
	start.Limits.MaxToolCalls = event.NothingLeft
	r := w.play(start)
	if r.Reason != event.ReasonToolBudget || !strings.Contains(string(r.Error), "has no tool call left before step 1") {
		t.Errorf("%s: %s", r.Reason, r.Error)
	}
}

func TestResumeContinuesPlanOfChat(t *testing.T) {
	w := newWorld(t)
	start := delegating(w, 1)
	w.apply(start)
	w.until(event.KindStepStarted)
	w.apply(event.RunSpawned{Index: "chat.1", Attempt: 1, Run: "r-inner"})
	w.kill(len(w.events))
	again := ""
	w.plan = func(c agent.CallPlan) event.Data {
		again = c.Run
		return event.StepCompleted{Index: c.Index, Attempt: c.Attempt, Result: "x", Run: c.Run, Usage: &event.Usage{Steps: 2}}
	}
	r := w.resume(resumed(start))
	if again != "r-inner" || r.Status != event.StatusCompleted {
		t.Errorf("got the inner run %q: %s %s", again, r.Reason, r.Error)
	}
}

func TestResumeFitsPromptToNewModel(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "done"}}}
	start := chatting(w, k)
	start.Prompting.ContextWindow = 32000
	for range 20 {
		start.Prompting.Conversation = append(start.Prompting.Conversation,
			prompt.Message{Role: prompt.RoleUser, Content: strings.Repeat("word ", 500)}, prompt.Message{Role: prompt.RoleAssistant, Content: "ok"})
	}
	w.apply(start)
	w.until(event.KindSynthesisStarted)
	w.kill(len(w.events))
	d := resumed(start)
	d.Model, d.Window = "small", 4096
	w.resume(d)
	if last := k.requests[len(k.requests)-1]; !strings.Contains(last.Shortened, "4096") {
		t.Errorf("got the note %q about shortening, want one that names 4096", last.Shortened)
	}
}

// waitsAt plays until that many gates of sub-agents are open.
func waitsAt(w *world, gates int) {
	w.until(event.KindGateRequested)
	for len(w.run.Gates) < gates {
		w.advance()
		w.deliver()
	}
}

// deadline returns the time at which the sub-agent times out.
func deadline(w *world) time.Time {
	for _, a := range w.run.Next() {
		if wake, ok := a.Effect.(agent.Wake); ok && strings.HasPrefix(wake.ID, "agent/") {
			return wake.At
		}
	}
	w.t.Fatal("the sub-agent has no timeout")
	return time.Time{}
}

func allowAll(w *world) {
	for _, g := range slices.Clone(w.run.Gates) {
		w.apply(event.GateResolved{Gate: g.Gate, Decision: event.Allow, Scope: event.ScopeOnce, By: "user"})
	}
}

func TestTimeAtConcurrentGatesCountsOnce(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a"), use("change", "b")}}, {text: "late"}}}
	k.join(w)
	w.apply(scouting(t, prompt.Profile{Timeout: time.Minute}))
	waitsAt(w, 2)
	began := w.run.Step("5").StartedAt
	w.now = w.now.Add(time.Hour)
	allowAll(w)
	if d := deadline(w).Sub(began); d < time.Hour || d > time.Hour+2*time.Minute {
		t.Errorf("the timeout of one minute ends %s after the start, with an hour at gates", d)
	}
}

func TestResumeRestartsSubAgentTimeout(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "a")}}, {text: "late"}}}
	k.join(w)
	start := scouting(t, prompt.Profile{Timeout: time.Minute})
	w.apply(start)
	waitsAt(w, 1)
	w.kill(len(w.events)) // a day later
	d := resumed(start)
	d.From = w.run.Seq
	w.apply(d)
	from := w.now
	allowAll(w)
	if d := deadline(w).Sub(from); d <= 0 || d > 2*time.Minute {
		t.Errorf("after the resume the timeout ends in %s", d)
	}
}

func TestInnerGateShowsProvenanceOfStepInput(t *testing.T) {
	w := newWorld(t)
	(&replyingModel{turns: []turn{{calls: []reply.ToolUse{use("change", "from the page")}}, {text: "ok"}}}).join(w)
	start := given(t, `{"title":"x","steps":[{"index":"1","title":"Fetch","tool":"look","args":{"at":"url"},"result_variable":"page"},{"index":"2","title":"Apply it","executor":"agent","profile":"scout","depends_on":["1"]}]}`)
	start.Prompting.ModelTools, start.Prompting.Profiles = true, []prompt.Profile{{Name: "scout"}}
	w.play(start)
	want := []rule.Provenance{{Step: "1", Tool: "look", Written: true}}
	if g := all[event.GateRequested](w)[0]; !slices.Equal(g.Provenance, want) {
		t.Errorf("got the provenance %+v", g.Provenance)
	}
}

func TestCutOffAnswerIsRequestedAgain(t *testing.T) {
	w := newWorld(t)
	k := &replyingModel{turns: []turn{{text: "the first half of"}, {text: "short"}}}
	k.join(w)
	w.cutOff = func(prompt.Request) bool { return len(k.requests) == 1 }
	r := w.play(scouting(t, prompt.Profile{}))
	if r.Variables["found"] != "short" {
		t.Errorf("%s: %v", r.Reason, r.Variables)
	}
	last := k.requests[1].Messages[len(k.requests[1].Messages)-1]
	if !strings.Contains(last.Content, "cut off") {
		t.Errorf("got the message %q", last.Content)
	}
}

func TestSelfStepRejectsUnusableReplies(t *testing.T) {
	for _, tc := range []struct {
		name, reply string
		cut         bool
		want        any
		fails       string
	}{
		{"thinking is removed", "<think>secret</think>open", false, "open", ""},
		{"blank reply", "  \n", false, nil, "reply was empty"},
		{"reply cut off", "the first half of", true, nil, "cut off"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			w := newWorld(t)
			w.reply = func(prompt.Request) (string, error) { return tc.reply, nil }
			w.cutOff = func(prompt.Request) bool { return tc.cut }
			r := w.play(given(t, `{"title":"x","steps":[{"title":"Say","executor":"self","result_variable":"said"}]}`))
			if r.Variables["said"] != tc.want || !strings.Contains(string(r.Error), tc.fails) {
				t.Errorf("%v, %q", r.Variables["said"], r.Error)
			}
		})
	}
}

func TestStoppedPhaseIsRequestedAgain(t *testing.T) {
	for _, purpose := range []prompt.Purpose{prompt.PurposeAnalysis, prompt.PurposePlan, prompt.PurposeRepair} {
		t.Run(string(purpose), func(t *testing.T) {
			w := newWorld(t)
			replies := script{
				prompt.PurposeAnalysis: {`{"mode":"plan","complexity":"medium"}`}, prompt.PurposePlan: {"no plan at all {"},
				prompt.PurposeRepair: {`{"title":"x","steps":[{"title":"Look","tool":"look","args":{"at":"a"}}]}`}, prompt.PurposeSynthesis: {"seen"},
			}
			var asked []prompt.Purpose
			stopped := false
			w.reply = func(r prompt.Request) (string, error) {
				asked = append(asked, r.Purpose)
				if r.Purpose == purpose && !stopped {
					stopped = true
					w.apply(event.RunPaused{Reason: "stopped by the user"})
					return "", errStopped
				}
				return replies.reply(r)
			}
			start := started(event.DefaultLimits())
			start.Prompting.SkipAnalysis = false
			w.play(start)
			r := w.resume(resumed(start))
			if r.Status != event.StatusCompleted {
				t.Fatalf("%s: %s", r.Reason, r.Error)
			}
			want := []prompt.Purpose{prompt.PurposeAnalysis, prompt.PurposePlan, prompt.PurposeRepair, prompt.PurposeSynthesis}
			at := slices.Index(want, purpose)
			want = slices.Insert(want, at, purpose)
			if !slices.Equal(asked, want) {
				t.Errorf("got the requests %v", asked)
			}
		})
	}
}
