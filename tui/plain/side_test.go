package plain_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/tui/plain"
)

func TestSideQuestionIsPrintedWithWhatItTook(t *testing.T) {
	for name, c := range map[string]struct {
		end  event.ChatSide
		want string
	}{
		"an answer": {
			event.ChatSide{
				ID: 1, Question: "why?", Text: "Since **a.go** is old.", Status: event.StatusCompleted, Usage: event.Usage{PromptTokens: 1200, CompletionTokens: 30}, MS: 3100,
				Calls: []event.SideCall{{Tool: "fs.read", Args: map[string]any{"path": "a.go"}, Done: true}, {Tool: "fs.write", Error: "denied: a side question only reads", Done: true}},
			},
			"✓ side question: why?  not part of the run · 2 calls · 1.2k tokens · 3.1s\n  ✓ fs.read  a.go\n  ✗ fs.write\n      denied: a side question only reads\n  Since **a.go** is old.\n",
		},
		"a failure": {
			event.ChatSide{ID: 1, Question: "why?", Error: "no model", Status: event.StatusFailed, MS: 5},
			"✗ side question: why?  not part of the run · 5ms\n  no answer: no model\n",
		},
		"canceled": {
			event.ChatSide{ID: 1, Question: "why?", Text: "Since", Error: "canceled by the user", Status: event.StatusCanceled, MS: 5},
			"— side question: why?  not part of the run · 5ms\n  Since\n  canceled\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if err := plain.New(&out, "s", plain.Options{}).Event(event.Event{Seq: 1, Run: "s", Data: c.end}); err != nil {
				t.Fatal(err)
			}
			if out.String() != c.want {
				t.Errorf("got\n%s\nwant\n%s", out.String(), c.want)
			}
		})
	}
}
