package chat

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/tui/panetest"
	"replan/tui/story"
)

func TestPartialRunIsNotShownAsDone(t *testing.T) {
	l := panetest.DarkLook()
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonPartial}
	if got := panetest.Stripped(outcomeBlock(l, &story.Ending{Result: result, Word: "partial"}, "", func() bool { return false }).Draw(60)); !strings.HasPrefix(got, l.Glyphs.Partial) {
		t.Errorf("the chat shows %s", got)
	}
}

func TestStopNamesWhoeverElseStoppedTheRun(t *testing.T) {
	l := panetest.DarkLook()
	for why, want := range map[untrusted.Text]string{"stopped by the user": " stopped  ", "stopped by ann@laptop": " stopped by ann@laptop  "} {
		result := event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Error: why}
		if got := panetest.Stripped(outcomeBlock(l, &story.Ending{Result: result}, "", func() bool { return false }).Draw(60)); !strings.HasPrefix(got, l.Glyphs.Stopped+want) {
			t.Errorf("the chat shows %s", got)
		}
	}
}

func TestOutcomeExplainsMissingAnswer(t *testing.T) {
	result := event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Unanswered: "Ollama does not answer"}
	got := strings.Join(strings.Fields(panetest.Stripped(outcomeBlock(panetest.DarkLook(), &story.Ending{Result: result, Word: "done"}, "ctrl+r resumes the run and asks for it again.", func() bool { return false }).Draw(60))), " ")
	if want := "The answer is missing: Ollama does not answer. ctrl+r resumes the run and asks for it again."; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
}

func TestAnswerOfAnEarlierFailedRunIsMarkdown(t *testing.T) {
	l := panetest.DarkLook()
	c := New(l)
	c.Reply(event.ChatReply{Run: "r-1", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Text: "`test.run` failed:\n\n```text\n1 failed\n```\n"})
	var lines []string
	for _, b := range c.Blocks {
		for _, line := range b.Typeset(60) {
			lines = append(lines, line.Text)
		}
	}
	got := panetest.Stripped(lines)
	if strings.Contains(got, "`") || !strings.Contains(got, "1 failed") || !strings.Contains(got, "✗ failed") {
		t.Errorf("got\n%s", got)
	}
}

func TestOutcomeLeavesEvidenceOutOnceTheRunIsUndone(t *testing.T) {
	result, undone := event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet}, false
	block := outcomeBlock(panetest.DarkLook(), &story.Ending{Result: result, Word: "done", Evidence: "2 verified"}, "", func() bool { return undone })
	for _, undone = range []bool{false, true} {
		if got := panetest.Stripped(block.Draw(60)); strings.Contains(got, "verified") == undone {
			t.Errorf("undone %t: %q", undone, got)
		}
	}
}
