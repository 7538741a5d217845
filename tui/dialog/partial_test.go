package dialog_test

import (
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/dialog"
	"replan/tui/live"
	"replan/tui/panetest"
)

func TestPartialRunIsListedAsPartial(t *testing.T) {
	l := panetest.DarkLook()
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}
	d := dialog.NewRuns(l, nil, &live.Runs{}, false)
	if glyph, word, _ := d.State(agent.Summary{Status: result.Status, Reason: result.Reason}); glyph != l.Glyphs.Partial || word != "partial" {
		t.Errorf("the list of runs shows %s %s", glyph, word)
	}
}

func TestCompletedRunWithoutAnswerIsResumable(t *testing.T) {
	if !dialog.CanResume(agent.Summary{Status: event.StatusCompleted, Resumable: true}, false) {
		t.Error("the list of runs refuses it")
	}
}
