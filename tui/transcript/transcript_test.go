package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/internal/redact"
	"replan/planning/plan"
	"replan/tui/transcript"
)

var begun = time.Date(2026, 11, 22, 10, 4, 0, 0, time.UTC)

// say makes events of one journal, a second apart.
func say(run string, from time.Time, data ...agent.Data) []agent.Event {
	var out []agent.Event
	for i, d := range data {
		out = append(out, agent.Event{Seq: uint64(i + 1), Time: from.Add(time.Duration(i) * time.Second), Run: run, Data: d})
	}
	return out
}

func step(index, title, tool string, after ...string) plan.Step {
	return plan.Step{Index: index, Title: title, Executor: plan.ExecutorTool, Tool: tool, DependsOn: after}
}

const key = "sk-0123456789abcdefghijklmnop"

// conversation has a plan that fails, is revised and answered, and a command.
func conversation() transcript.Conversation {
	steps := []plan.Step{step("1", "Read *all* of it", "fs.read"), step("2", "Patch it", "fs.patch", "1")}
	p := plan.Plan{Title: "Mend the `slug`", Steps: steps, OnFailure: plan.OnFailureReplan}
	again := p
	again.Steps = []plan.Step{steps[0], step("3", "Patch both", "fs.patch", "1")}
	answer := "It is mended.\n\n```go\nfunc a() {\n\treturn\n}\n```"
	run := say("r-1", begun.Add(10*time.Second),
		agent.RunStarted{Goal: "mend it", Workspace: "/home/me/src", Session: "s-1", Limits: agent.DefaultLimits(), Plan: &p, OnFailure: plan.OnFailureReplan, Model: "m"},
		agent.PlanCreated{Plan: p, Revision: 1},
		agent.StepStarted{Index: "1", Attempt: 1, Title: "Read", Tool: "fs.read"},
		agent.StepCompleted{Index: "1", Attempt: 1, Result: "text", MS: 120},
		agent.GateRequested{Gate: "2.1.1", Step: "2", Tool: "fs.patch", Title: "Patch it", Rule: agent.Rule{Why: "it changes files"}},
		agent.GateResolved{Gate: "2.1.1", Decision: agent.Allow, Scope: agent.ScopeOnce, By: "user"},
		agent.StepStarted{Index: "2", Attempt: 1, Title: "Patch it", Tool: "fs.patch"},
		agent.StepFailed{Index: "2", Attempt: 1, Error: "no such line\nand more", Failure: agent.FailureTool, MS: 40},
		agent.ReplanStarted{Attempt: 1, Step: "2", Error: "no such line", Remaining: []string{"2"}},
		agent.PlanDiff{Revision: 2, Reason: "no such line", Removed: []string{"2"}, Added: []string{"3"}, Plan: again},
		agent.StepStarted{Index: "3", Attempt: 1, Title: "Patch both", Tool: "fs.patch"},
		agent.StepCompleted{Index: "3", Attempt: 1, Result: "done", MS: 30},
		agent.SynthesisStarted{}, agent.SynthesisCompleted{Text: answer},
		agent.RunCompleted{Result: agent.Result{Status: agent.StatusCompleted, Reason: agent.ReasonGoalMet, Answer: answer, DurationMS: 13_000, Usage: agent.Usage{Steps: 3, Replans: 1, PromptTokens: 900, CompletionTokens: 100}}},
	)
	session := append(
		say("s-1", begun, agent.ChatUser{Text: "mend it\nwith the key " + key}),
		say("s-1", begun.Add(time.Minute), agent.ChatReply{Run: "r-1", Text: answer, Status: agent.StatusCompleted}, agent.ChatUser{Text: "/plan list"}, agent.ChatReply{Text: "there is none\x1b[2J"})...)
	return transcript.Conversation{
		Session: session, Runs: [][]agent.Event{run}, Home: "/home/me", Workspace: "/home/me/src", Exported: begun.Add(time.Hour),
	}
}

func TestAConversationIsWrittenWhole(t *testing.T) {
	golden.RequireEqual(t, transcript.Markdown(conversation()))
}

func TestARunThatGoesOnOrCannotBeFollowedSaysSo(t *testing.T) {
	c := conversation()
	c.Runs[0] = c.Runs[0][:7]
	if text := transcript.Markdown(c); !strings.Contains(text, "*the run `r-1` goes on*") || !strings.Contains(text, "└ ▸ 2. Patch it          [fs.patch]  ← after: 1  running") {
		t.Errorf("got\n%s", text)
	}
	c = conversation()
	c.Runs[0] = append(c.Runs[0][:2:2], say("r-1", begun.Add(time.Minute), agent.GateResolved{Gate: "9.1.1"})...)
	if text := transcript.Markdown(c); !strings.Contains(text, "the rest cannot be followed") {
		t.Errorf("got\n%s", text)
	}
}

func TestWhatLooksLikeASecretIsLeftOut(t *testing.T) {
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
			t.Errorf("%q becomes %q, want %q", c.text, got, c.want)
		}
	}
}
