package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/redact"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
	"replan/tui/transcript"
)

var begun = time.Date(2026, 11, 22, 10, 4, 0, 0, time.UTC)

// journal returns events of one journal, a second apart.
func journal(run string, from time.Time, data ...event.Data) []event.Event {
	var out []event.Event
	for i, d := range data {
		out = append(out, event.Event{Seq: uint64(i + 1), Time: from.Add(time.Duration(i) * time.Second), Run: run, Data: d})
	}
	return out
}

func step(index, title, tool string, after ...string) plan.Step {
	return plan.Step{Index: index, Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: tool, DependsOn: after}
}

const key = "sk-0123456789abcdefghijklmnop"

// conversation has a command, and a run whose plan fails, is revised and answered.
func conversation() transcript.Conversation {
	steps := []plan.Step{step("1", "Read *all* of it", "fs.read"), step("2", "Patch it", "fs.patch", "1")}
	p := plan.Plan{Title: "Fix the `slug`", Steps: steps, OnFailure: plan.OnFailureReplan}
	again := p
	again.Steps = []plan.Step{steps[0], step("3", "Patch both", "fs.patch", "1")}
	answer := "It is fixed.\n\n```go\nfunc a() {\n\treturn\n}\n```"
	run := journal("r-1", begun.Add(10*time.Second),
		event.RunStarted{Goal: "fix it", Workspace: "/home/me/src", Session: "s-1", Limits: event.DefaultLimits(), Plan: &p, OnFailure: plan.OnFailureReplan, Model: "m"},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Title: "Read", Tool: "fs.read"},
		event.StepCompleted{Index: "1", Attempt: 1, Result: "text", MS: 120},
		event.GateRequested{Gate: "2.1.1", Step: "2", Tool: "fs.patch", Title: "Patch it", Rule: rule.Rule{Why: "it changes files"}},
		event.GateResolved{Gate: "2.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.StepStarted{Index: "2", Attempt: 1, Title: "Patch it", Tool: "fs.patch"},
		event.StepFailed{Index: "2", Attempt: 1, Error: "no such line\nand more", Failure: event.FailureTool, MS: 40},
		event.ReplanStarted{Attempt: 1, Step: "2", Error: "no such line", Remaining: []string{"2"}},
		event.PlanDiff{Revision: 2, Reason: "no such line", Removed: []string{"2"}, Added: []string{"3"}, Plan: again},
		event.StepStarted{Index: "3", Attempt: 1, Title: "Patch both", Tool: "fs.patch"},
		event.StepCompleted{Index: "3", Attempt: 1, Result: "done", MS: 30},
		event.SynthesisStarted{}, event.SynthesisCompleted{Text: untrusted.Text(answer)},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: untrusted.Text(answer), DurationMS: 13_000, Usage: event.Usage{Steps: 3, Replans: 1, PromptTokens: 900, CompletionTokens: 100}}},
	)
	session := append(
		journal("s-1", begun, event.ChatUser{Text: "fix it\nwith the key " + key}),
		journal("s-1", begun.Add(time.Minute), event.ChatReply{Run: "r-1", Text: untrusted.Text(answer), Status: event.StatusCompleted}, event.ChatUser{Text: "/plan list"}, event.ChatReply{Text: "there is none\x1b[2J"})...)
	return transcript.Conversation{
		Session: session, Runs: [][]event.Event{run}, Home: "/home/me", Workspace: "/home/me/src", Exported: begun.Add(time.Hour),
	}
}

func TestTranscriptHoldsWholeConversation(t *testing.T) {
	golden.RequireEqual(t, transcript.Markdown(conversation()))
}

func TestActiveAndUnreadableRunsAreMarked(t *testing.T) {
	c := conversation()
	c.Runs[0] = c.Runs[0][:7]
	if text := transcript.Markdown(c); !strings.Contains(text, "*the run `r-1` continues*") || !strings.Contains(text, "▸  2. Patch it          [fs.patch]  ← after: 1  running") {
		t.Errorf("got\n%s", text)
	}
	c = conversation()
	c.Runs[0] = append(c.Runs[0][:2:2], journal("r-1", begun.Add(time.Minute), event.GateResolved{Gate: "9.1.1"})...)
	if text := transcript.Markdown(c); !strings.Contains(text, "the rest cannot be read") {
		t.Errorf("got\n%s", text)
	}
}

func TestTranscriptNamesItemsAndWhatChecksSaw(t *testing.T) {
	each := step("1", "Read each file", "fs.read")
	each.ForEach, each.OnFailure = &plan.ForEach{Items: []any{"a.txt", "b.txt"}, As: "item", Max: 50}, plan.OnFailureSkip
	p := plan.Plan{Title: "Read them", Steps: []plan.Step{each}, Acceptance: []plan.Check{{Title: "all were read", Expect: "len(texts) == 2"}}}
	call := func(index string) event.StepStarted {
		return event.StepStarted{Index: index, Parent: "1", Attempt: 1, Title: "Read each file", Executor: plan.ExecutorTool, Tool: "fs.read"}
	}
	saw := []expression.Sight{{Path: "len(texts)", Value: "1"}}
	c := conversation()
	c.Runs[0] = journal("r-1", begun,
		event.RunStarted{Goal: "read them", Workspace: "/home/me/src", Session: "s-1", Limits: event.DefaultLimits(), Plan: &p},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepExpanded{Index: "1", Attempt: 1, Title: "Read each file", Items: []any{"a.txt", "b.txt"}},
		call("1.1"), event.StepCompleted{Index: "1.1", Attempt: 1, Result: "text", MS: 20},
		call("1.2"), event.StepFailed{Index: "1.2", Attempt: 1, Error: "no such file", Failure: event.FailureTool, MS: 20},
		event.StepCompleted{Index: "1", Attempt: 1, MS: 40},
		event.CheckCompleted{Attempt: 1, Check: 1, Title: "all were read", Expect: "len(texts) == 2", State: plan.StateRefuted, Saw: saw},
	)
	text := transcript.Markdown(c)
	for _, want := range []string{
		"1. Read each file  [fs.read]", "2 items, 1 failed", "✓ 1.1. a.txt", "✗ 1.2. b.txt",
		"### Evidence: ", "- refuted: all were read", "len(texts)",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the transcript lacks %q:\n%s", want, text)
		}
	}
}

func TestSecretsAreRedacted(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"the key " + key + " works", "the key [API key left out] works"},
		{"postgres://me:hunter22@db/x", "postgres://me:[password left out]@db/x"},
		{"Authorization: Bearer abc.def", "Authorization: Bearer [credentials left out]"},
		{"DB_PASSWORD=correcthorse next", "DB_PASSWORD=[secret left out] next"},
		{`{"api_key": "a b c d e"}`, `{"api_key": [secret left out]}`},
		{"-----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY-----\nafter", "[private key left out]\nafter"},
		{"token := next()", "token := next()"},
		{"the token of the handler is refused", "the token of the handler is refused"},
		{"http://localhost:8080/path", "http://localhost:8080/path"},
	} {
		if got := redact.Text(c.text); got != c.want {
			t.Errorf("%q: got %q, want %q", c.text, got, c.want)
		}
	}
}
