package planning_test

import (
	"strings"
	"testing"

	"replan/planning/plan"
	"replan/planning/prompt"
)

// listedTurn is the request for turn n of a sub-agent whose model writes its calls.
func listedTurn(n int, last bool, window int) prompt.Request {
	b := brief()
	b.Prompting.WritesCalls, b.Prompting.ContextWindow = true, window
	return prompt.AgentRequest(b, plan.Plan{}, plan.Step{Index: "5", Title: "Look"}, prompt.Profile{}, nil, calls("5", n-1), prompt.Turn{Number: n, Last: last})
}

func TestListedRequestHoldsToolsAndForm(t *testing.T) {
	for _, window := range []int{0, 16384} {
		r := listedTurn(2, false, window)
		text := ""
		for _, m := range r.Messages {
			text += m.Content + "\n"
		}
		for _, want := range []string{"fs.read(path", `{"thought": "…", "answer": "…"}`, `"tool":"`} {
			if !strings.Contains(text, want) {
				t.Errorf("window %d: the messages lack %s:\n%s", window, want, text)
			}
		}
		if format := string(r.Format); !strings.Contains(format, `"maxLength":200`) || !strings.Contains(format, `"fs.read"`) || !strings.Contains(format, `"anyOf"`) {
			t.Errorf("window %d: the format is %s", window, r.Format)
		}
		if len(r.Tools) > 0 || len(r.Listed) == 0 || r.Think {
			t.Errorf("window %d: %d tools, %d listed, thinks: %t", window, len(r.Tools), len(r.Listed), r.Think)
		}
	}
}

func TestListedTurnsShareTheirBeginning(t *testing.T) {
	first, last := listedTurn(1, false, 16384), listedTurn(3, true, 16384)
	for i, m := range first.Messages {
		if last.Messages[i].Content != m.Content {
			t.Errorf("message %d differs:\n%s\n%s", i, m.Content, last.Messages[i].Content)
		}
	}
	if len(last.Listed) > 0 || strings.Contains(string(last.Format), `"tool"`) {
		t.Errorf("the last turn may call: %s", last.Format)
	}
}
