package telling

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
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
		"user":                        {"", ", by user"},
		"--approve safe":              {" (by --approve safe)", ", by --approve safe"},
		"nobody was there to decide":  {" (nobody was there to decide)", " (nobody was there to decide)"},
		"--approve\x1b[2J of outside": {" (by --approve^[[2J of outside)", ", by --approve^[[2J of outside"},
	} {
		if got := [2]string{ByWords(by), SignedBy(by)}; got != want {
			t.Errorf("%q: got %q, want %q", by, got, want)
		}
	}
}

func TestQuestionNamesStateOfStep(t *testing.T) {
	for want, q := range map[string]agent.Question{
		"step 2 is in doubt: did it take effect?":         {Step: "2", Doubt: true},
		"step 2 was denied: how should the run continue?": {Step: "2", Denied: true},
		"call 3 failed: how should it continue?":          {Step: "chat.3"},
	} {
		if got := QuestionWords(q); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
