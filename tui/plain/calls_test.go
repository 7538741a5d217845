package plain_test

import (
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/plain"
)

// callReply is a reply in which a model requests calls of look.
func callReply(text string, paths ...string) reply.Reply {
	r := reply.Reply{Text: text}
	for _, p := range paths {
		r.Calls = append(r.Calls, reply.ToolUse{Name: "look", Args: map[string]any{"path": p}})
	}
	return r
}

func call(index, parent string, args map[string]any) event.StepStarted {
	return event.StepStarted{Index: index, Parent: parent, Attempt: 1, Title: "look", Executor: plan.ExecutorTool, Tool: "look", Args: args}
}

// output returns what a log prints for events of a session and its runs.
func output(t *testing.T, ascii bool, runs []string, data ...event.Data) string {
	t.Helper()
	var out strings.Builder
	log := plain.New(&out, "s", plain.Options{ASCII: ascii})
	for i, d := range data {
		e := event.Event{Seq: uint64(i + 1), Time: time.Unix(int64(i), 0), Run: runs[i], Data: d}
		if err := log.Event(e); err != nil {
			t.Fatalf("%s: %v", d.Kind(), err)
		}
	}
	return out.String()
}

func started(goal string) event.RunStarted {
	return event.RunStarted{
		Goal: untrusted.Text(goal), Model: "m", Workspace: "/w", Attended: true,
		Catalog:   plan.Catalog{{Name: "look", Server: "s", ReadOnly: true, Annotated: true}},
		Prompting: prompt.Prompting{SkipAnalysis: true, SkipPlan: true, ModelTools: true, Profiles: []prompt.Profile{{Name: "scout"}}},
	}
}

func TestAgentCallsAreIndentedBelowStep(t *testing.T) {
	agentStep := plan.Step{Index: "1", Title: "Look around", Executor: plan.ExecutorAgent, Profile: "scout"}
	runs := strings.Fields(strings.Repeat("r ", 9))
	got := output(t, false, runs, started("do it"), samplePlan(agentStep),
		event.StepStarted{Index: "1", Attempt: 1, Title: "Look around", Executor: plan.ExecutorAgent},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "1", Attempt: 1},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "1", Attempt: 1, Reply: callReply("I look.", "a", "b")},
		call("1.1", "1", map[string]any{"path": "a", "n": 3}),
		event.StepCompleted{Index: "1.1", Attempt: 1, MS: 100},
		call("1.2", "1", map[string]any{"path": "b"}),
		event.StepFailed{Index: "1.2", Attempt: 1, Error: "no such file", Failure: event.FailureTool, MS: 200},
	)
	want := "▸ 1 Look around  [agent]\n  ▸ 1.1 look  n: 3, path: a\n  ✓ 1.1 look  0.1s\n  ▸ 1.2 look  path: b\n  ✗ 1.2 look  0.2s\n      no such file\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", got, want)
	}
}

func TestChatPrintsCallsAndChildRun(t *testing.T) {
	for ascii, want := range map[bool]string{
		false: "I look first.\n▸ chat.1 look  path: a\n    ▸ goal: the rest\n      run child, model m, 1 tool, in /w\n    Done in 0.0s\n✓ chat.1 look  0.3s\n▸ you: hurry up\n· 6 messages summarized, 900 tokens became 100: it is full\n· 6 messages are back in the conversation\n",
		true:  "I look first.\n> chat.1 look  path: a\n    > goal: the rest\n      run child, model m, 1 tool, in /w\n    Done in 0.0s\nok chat.1 look  0.3s\n> you: hurry up\n. 6 messages summarized, 900 tokens became 100: it is full\n. 6 messages are back in the conversation\n",
	} {
		got := output(t, ascii, []string{"r", "r", "r", "r", "child", "child", "r", "r", "s", "s"}, started("do it"),
			event.SynthesisStarted{Direct: true},
			event.ModelReplied{Purpose: prompt.PurposeChat, Reply: callReply("I look first.", "a")},
			call("chat.1", prompt.ChatParent, map[string]any{"path": "a"}),
			started("the rest"),
			event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}},
			event.StepCompleted{Index: "chat.1", Attempt: 1, MS: 300, Run: "child"},
			event.RunSteered{Text: "hurry\nup"},
			event.ChatCompacted{Turns: 6, Before: 900, After: 100, Reason: "it is full"},
			event.ChatCompacted{Turns: 6, Undone: true},
		)
		if !strings.HasSuffix(got, want) {
			t.Errorf("got\n%s\nwant at the end\n%s", got, want)
		}
	}
}

func TestGateNamesResultsReadBeforeCall(t *testing.T) {
	got := runOutput(t, false, samplePlan(step("1")), event.GateRequested{
		Gate: "1.1.1", Step: "1", Title: "Step 1", Tool: "look", Rule: rule.Rule{Why: "it has effects"},
		Provenance: []rule.Provenance{{Step: "5.1", Written: true}, {Arg: "to", Step: "5.2", Written: true}, {Arg: "text", Step: "1", Written: true}, {Arg: "text", Step: "2", Written: true}, {Arg: "text", Run: "r-20260101-000000-abcdef", Step: "3", Written: true}},
	})
	want := "    a model wrote the call after reading the result of step 5.1\n" +
		"    a model wrote text after reading the results of steps 1 and 2 and step 3 of run abcdef\n" +
		"    a model wrote to after reading the result of step 5.2\n" +
		"    a rule with a pattern for the call, to, text skips this gate\n"
	if !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s", got)
	}
}

func TestUntrustedCallCannotForgeLine(t *testing.T) {
	const evil = "\x1b]0;x\a\n✓ forged"
	got := output(t, false, []string{"r", "r", "r", "r", "s"}, started("do it"), event.SynthesisStarted{Direct: true},
		event.ModelReplied{Purpose: prompt.PurposeChat, Reply: reply.Reply{Text: "x", Calls: []reply.ToolUse{{Name: evil, Args: map[string]any{evil: evil}}}}},
		event.RunSteered{Text: evil}, event.ChatCompacted{Reason: evil})
	if strings.ContainsAny(got, "\x1b\a") || strings.Contains(got, "\n✓ forged") {
		t.Errorf("got %q", got)
	}
}

func TestToolsWithoutRoomArePrintedOnce(t *testing.T) {
	asked := event.ModelRequested{Purpose: prompt.PurposeChat, Request: prompt.Request{
		Unoffered: &prompt.Unoffered{Tools: 7, Of: 20, Servers: []string{"hub"}, Window: 16384},
	}}
	replied := event.ModelReplied{Purpose: prompt.PurposeChat, Reply: callReply("", "a")}
	got := output(t, false, []string{"r", "r", "r", "r", "r"}, started("do it"), event.SynthesisStarted{Direct: true}, asked, replied, call("chat.1", prompt.ChatParent, nil))
	if n := strings.Count(got, "7 tools of hub are not offered in this window of 16k tokens"); n != 1 {
		t.Errorf("it is printed %d times:\n%s", n, got)
	}
}

func TestToolsWithoutTypedArgumentsArePrintedOnce(t *testing.T) {
	asked := func(phase int, tools ...string) event.PhaseStarted {
		return event.PhaseStarted{Phase: phase, Label: "analysis", Request: prompt.Request{Untyped: tools}}
	}
	got := output(t, false, []string{"r", "r", "r", "r"}, started("do it"), asked(1, "big"), event.PhaseFailed{Phase: 1, Reason: "x"}, asked(3, "big", "odd\x1b[2J"))
	for _, want := range []string{
		"a plan may give any arguments to big: the schema is too large for the format of plans, or cannot be read\n",
		"a plan may give any arguments to odd^[[2J: the schema is",
	} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is not there once:\n%s", want, got)
		}
	}
}

func TestShortenedPromptIsNotPrinted(t *testing.T) {
	q := prompt.Request{Shortened: "The prompt was shortened."}
	got := output(t, false, []string{"r", "r", "r", "r"}, started("do it"), event.SynthesisStarted{Direct: true, Request: q},
		event.ModelReplied{Purpose: prompt.PurposeChat, Reply: callReply("", "a")}, call("chat.1", prompt.ChatParent, nil))
	if strings.Contains(got, "shortened") {
		t.Errorf("got:\n%s", got)
	}
}

func TestResultOfChildPlanIsNotPrinted(t *testing.T) {
	got := output(t, false, strings.Fields("r r r r c c c c c r r r"), started("do it"),
		event.SynthesisStarted{Direct: true},
		event.ModelReplied{Purpose: prompt.PurposeChat, Reply: callReply("", "a")},
		call("chat.1", prompt.ChatParent, map[string]any{"path": "a"}),
		started("the rest"), samplePlan(step("1")),
		event.StepStarted{Index: "1", Attempt: 1, Title: "Step 1", Executor: plan.ExecutorTool, Tool: "look"},
		event.StepCompleted{Index: "1", Attempt: 1, Result: map[string]any{"diff": "-a\n+b"}},
		event.RunCompleted{Result: event.Result{
			Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Plan: &plan.Plan{Steps: []plan.Step{step("1")}},
			History: []plan.HistoryItem{{Index: "1", Title: "Step 1", Status: plan.ItemCompleted, Result: map[string]any{"diff": "-a\n+b"}}},
		}},
		event.StepCompleted{Index: "chat.1", Attempt: 1, MS: 300, Run: "c", Result: map[string]any{"status": "completed"}},
		event.SynthesisCompleted{Text: "All done."},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonDirect, Answer: "All done."}},
	)
	if strings.Contains(got, "result of") || !strings.Contains(got, "✓ 1 Step 1") || !strings.Contains(got, "\nAll done.\n") {
		t.Errorf("got\n%s", got)
	}
}

func TestCallWithFailedPlanIsMarkedFailed(t *testing.T) {
	got := output(t, false, strings.Fields("r r r r r"), started("do it"),
		event.SynthesisStarted{Direct: true},
		event.ModelReplied{Purpose: prompt.PurposeChat, Reply: callReply("", "a")},
		call("chat.1", prompt.ChatParent, map[string]any{"path": "a"}),
		event.StepCompleted{Index: "chat.1", Attempt: 1, MS: 300, Run: "c", Result: map[string]any{"status": "failed", "reason": "guard", "error": "no more\ncalls"}},
	)
	if want := "✗ chat.1 look  0.3s\n    no more\n    calls\n"; !strings.HasSuffix(got, want) {
		t.Errorf("got\n%s\nwant at the end\n%s", got, want)
	}
}

func TestCutOffAnswerIsMarked(t *testing.T) {
	for name, c := range map[string]struct {
		purpose prompt.Purpose
		reply   reply.Reply
		want    string
	}{
		"direct answer":       {prompt.PurposeChat, reply.Reply{CutOff: true, CompletionTokens: 64}, "It begins\n· the answer was cut off at 64 tokens\n\n"},
		"synthesis":           {prompt.PurposeSynthesis, reply.Reply{CutOff: true, CompletionTokens: 64}, "It begins\n· the answer was cut off at 64 tokens\n\n"},
		"unknown token count": {prompt.PurposeChat, reply.Reply{CutOff: true}, "· the answer was cut off at 4096 tokens\n"},
		"complete answer":     {prompt.PurposeChat, reply.Reply{CompletionTokens: 64}, "It begins\n\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := output(t, false, strings.Fields("r r r r"), started("do it"),
				event.SynthesisStarted{Direct: c.purpose == prompt.PurposeChat, Request: prompt.Request{Purpose: c.purpose, MaxTokens: 4096}},
				event.SynthesisCompleted{Text: "It begins", Reply: c.reply},
				event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonDirect, Answer: "It begins"}},
			)
			if !strings.Contains(got, c.want) {
				t.Errorf("got\n%s", got)
			}
		})
	}
}

func TestProjectNotesAreNamedOnce(t *testing.T) {
	status := session.Status{Workspace: "/w", Instructions: "AGENTS.md"}
	got := output(t, false, strings.Fields("s r s c"), status, started("do it"), status, started("the rest"))
	if want := "▸ goal: do it\n  run r, model m, 1 tool, in /w\n  notes of this project: AGENTS.md\n"; !strings.HasPrefix(got, want) || strings.Count(got, "AGENTS.md") != 1 {
		t.Errorf("got\n%s", got)
	}
	if got := output(t, false, strings.Fields("s r"), session.Status{Workspace: "/w"}, started("do it")); strings.Contains(got, "notes") {
		t.Errorf("got\n%s", got)
	}
}
