package tui

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/ask"
	"replan/tui/chat"
	"replan/tui/dialog"
	"replan/tui/panetest"
	"replan/tui/review"
)

func TestARunThatIsDoneInPartIsNotSaidToBeDone(t *testing.T) {
	l := panetest.DarkLook()
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}
	d := &dialog.Runs{Look: l, Live: func(string) bool { return false }}
	if glyph, word, _ := d.State(agent.Summary{Status: result.Status, Reason: result.Reason}); glyph != l.Glyphs.Partial || word != "in part" {
		t.Errorf("the list of runs says %s %s", glyph, word)
	}
	m := &Model{look: l, stage: newStage(nil), review: &review.Dialog{}, ask: &ask.Dialog{}, closed: false}
	m.options.Replay = true
	m.run = &agent.Run{Result: &result}
	if got := panetest.Stripped([]string{m.stateFact()}); !strings.Contains(got, "done in part") || strings.Contains(got, l.Glyphs.Done) {
		t.Errorf("the header says %s", got)
	}
	c := &chat.Pane{Look: l}
	if got := panetest.Stripped(c.Outcome(&result, "done in part", "").Draw(60)); !strings.HasPrefix(got, l.Glyphs.Partial) {
		t.Errorf("the chat says %s", got)
	}
}

func TestTheChatSaysThatTheAnswerIsMissingAndHowToAskForIt(t *testing.T) {
	c := &chat.Pane{Look: panetest.DarkLook()}
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Unanswered: "Ollama does not answer"}
	got := strings.Join(strings.Fields(panetest.Stripped(c.Outcome(&result, "done", "ctrl+r takes the run up again.").Draw(60))), " ")
	if want := "The answer is missing: Ollama does not answer. ctrl+r takes the run up again and asks for it."; !strings.Contains(got, want) {
		t.Errorf("the chat says %q, not %q", got, want)
	}
	if why := dialog.WhyNoResume(agent.Summary{Status: event.StatusCompleted, Resumable: true}, false); why != "" {
		t.Errorf("the list of runs refuses it: %s", why)
	}
}
