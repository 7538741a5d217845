package tui

import (
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
)

func TestARunThatIsDoneInPartIsNotSaidToBeDone(t *testing.T) {
	l := darkLook()
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}
	d := &runsDialog{look: l, live: func(string) bool { return false }}
	if glyph, word, _ := d.state(agent.Summary{Status: result.Status, Reason: result.Reason}); glyph != l.glyphs.Partial || word != "in part" {
		t.Errorf("the list of runs says %s %s", glyph, word)
	}
	m := &Model{look: l, stage: newStage(nil), review: &reviewDialog{}, ask: &askDialog{}, closed: false}
	m.options.Replay = true
	m.run = &agent.Run{Result: &result}
	if got := stripped([]string{m.stateFact()}); !strings.Contains(got, "done in part") || strings.Contains(got, l.glyphs.Done) {
		t.Errorf("the header says %s", got)
	}
	c := &chatPane{look: l}
	if got := stripped(c.outcome(&result, "done in part", "").draw(60)); !strings.HasPrefix(got, l.glyphs.Partial) {
		t.Errorf("the chat says %s", got)
	}
}

func TestTheChatSaysThatTheAnswerIsMissingAndHowToAskForIt(t *testing.T) {
	c := &chatPane{look: darkLook()}
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Unanswered: "Ollama does not answer"}
	got := strings.Join(strings.Fields(stripped(c.outcome(&result, "done", "ctrl+r takes the run up again.").draw(60))), " ")
	if want := "The answer is missing: Ollama does not answer. ctrl+r takes the run up again and asks for it."; !strings.Contains(got, want) {
		t.Errorf("the chat says %q, not %q", got, want)
	}
	if why := whyNoResume(agent.Summary{Status: event.StatusCompleted, Resumable: true}, false); why != "" {
		t.Errorf("the list of runs refuses it: %s", why)
	}
}
