package dialog_test

import (
	"strings"
	"testing"

	"replan/agent/session"
	"replan/planning/fit"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/draw"
	"replan/tui/keymap"
	"replan/tui/panetest"
)

func TestListShowsWhatWasFoundOfModels(t *testing.T) {
	found := &fit.Finding{Reads: fit.Share{Done: 12, Of: 12}, Changes: fit.Share{Done: 10, Of: 12}}
	d := dialog.NewModels(panetest.DarkLook(), panetest.Keys())
	d.Open(session.Status{})
	d.Update(keymap.AnswerMsg[session.Models]{Value: session.Models{
		Model: "first:1b", Models: []prompt.ModelInfo{{Name: "first:1b", Chats: true, Tools: true, Fit: found}, {Name: "second:2b", Chats: true}},
	}})
	for width, want := range map[int]string{120: "first:1b answers and changes files · 22 of 24 goals", 80: "first:1b answers and changes files · 22 of 24 goals", 40: "first:1b answers and changes"} {
		lines := d.View(draw.Rect{W: width, H: 30})
		text := panetest.Stripped(lines)
		if !strings.Contains(text, want) || width > 40 && strings.Count(text, "22 of 24 goals") != 2 {
			t.Errorf("at width %d the dialog shows\n%s", width, text)
		}
		if row := panetest.Stripped(lines[lineOf(t, lines, "second:2b"):][:1]); strings.Contains(row, "goals") {
			t.Errorf("goals of a model that was not measured: %s", row)
		}
	}
}
