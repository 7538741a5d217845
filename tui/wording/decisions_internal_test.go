package wording

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/rule"
)

func TestEveryDecisionHasAllTexts(t *testing.T) {
	check := func(name string, d Decision) {
		t.Helper()
		for part, words := range map[string]string{
			"choice": d.Choice, "short": d.Short, "help": d.Help, "does": d.Does, "story": d.Story, "sentence": d.sentence,
		} {
			if words == "" {
				t.Errorf("%s has no %s", name, part)
			}
		}
	}
	for d, words := range doubts {
		check(string(d), words)
	}
	for d, words := range failures {
		check(string(d), words)
	}
	if OfDoubt("unknown") != doubts[event.DoubtAbort] || OfFailure("unknown") != failures[event.FailureAbort] {
		t.Error("an unknown decision does not abort")
	}
}

func TestDeciderIsNamed(t *testing.T) {
	for by, want := range map[string][2]string{
		"":                            {"", ""},
		"user":                        {"", ", by you"},
		"--approve safe":              {" (by --approve safe)", ", by --approve safe"},
		"nobody was there to decide":  {" (nobody was there to decide)", " (nobody was there to decide)"},
		"--approve\x1b[2J of outside": {" (by --approve^[[2J of outside)", ", by --approve^[[2J of outside"},
	} {
		if got := [2]string{ByWords(by), SignedBy(by)}; got != want {
			t.Errorf("%q: got %q, want %q", by, got, want)
		}
	}
}

func TestGateAnswerIsWordedAlikeEverywhere(t *testing.T) {
	gate := &agent.Gate{GateRequested: event.GateRequested{Gate: "g", Step: "2", Tool: "test.run"}}
	tests := rule.Rule{Tool: "workspace:test.run", Args: map[string]string{"path": "", "run": ""}}
	file := rule.Rule{Tool: "workspace:fs.patch", Args: map[string]string{"path": "a.go"}}
	for name, c := range map[string]struct {
		d         event.GateResolved
		chat, log string
	}{
		"declined":    {event.GateResolved{Decision: event.Deny, By: "user"}, "declined test.run in step 2", "declined by you"},
		"with why":    {event.GateResolved{Decision: event.Deny, By: "user", Reason: "only\nb_test.go"}, "declined test.run in step 2: only b_test.go", "declined by you: only b_test.go"},
		"by a flag":   {event.GateResolved{Decision: event.Deny, By: "--approve none"}, "denied test.run in step 2 (by --approve none)", "denied by --approve none"},
		"by nobody":   {event.GateResolved{Decision: event.Deny, By: "nobody was there"}, "denied test.run in step 2 (nobody was there)", "denied (nobody was there)"},
		"edited":      {event.GateResolved{Decision: event.Edit, By: "user"}, "edited the call of test.run in step 2", "edited by you: it asks again"},
		"once":        {event.GateResolved{Decision: event.Allow, By: "user"}, "allowed test.run in step 2", "allowed by you"},
		"for the run": {event.GateResolved{Decision: event.Allow, Scope: event.ScopeRun, By: "user"}, "allowed test.run in step 2, and later calls of it in this run", "allowed by you, and later calls of it in this run"},
		"always":      {event.GateResolved{Decision: event.Allow, Scope: event.ScopeAlways, Rule: &tests, By: "user"}, "allowed test.run in step 2, and always for test.run in this workspace", "allowed by you, and always for test.run in this workspace"},
		"always with an argument": {
			event.GateResolved{Decision: event.Allow, Scope: event.ScopeAlways, Rule: &file, By: "user"},
			"allowed test.run in step 2, and always for fs.patch in this workspace with path a.go", "allowed by you, and always for fs.patch in this workspace with path a.go",
		},
	} {
		if got := ResolvedWords(gate, c.d); got != c.chat {
			t.Errorf("%s: the chat says %q", name, got)
		}
		if got := GateDecision(c.d); got != c.log {
			t.Errorf("%s: the line log says %q", name, got)
		}
	}
}

func TestQuestionNamesStateOfStep(t *testing.T) {
	for want, q := range map[string]agent.Question{
		"step 2 is in doubt: did it take effect?":           {Step: "2", Doubt: true},
		"step 2 was denied: how should the run continue?":   {Step: "2", Denied: true},
		"step 2 was declined: how should the run continue?": {Step: "2", Denied: true, Declined: true},
		"call 3 failed: how should it continue?":            {Step: "chat.3"},
	} {
		if got := QuestionWords(q); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
