package dialog_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/prompt"
	"replan/tui/dialog"
	"replan/tui/live"
	"replan/tui/panetest"
)

// exchanging shows the exchanges of a story.
func exchanging(t *testing.T, st *panetest.Story, width, height int) (*panetest.Driver, *live.Runs) {
	t.Helper()
	k, runs := panetest.Keys(), st.Runs(t)
	d := dialog.NewExchanges(panetest.DarkLook(), k, runs)
	d.Open()
	s := panetest.Drive(t, d, k, width, height)
	s.Draw()
	return s, runs
}

func TestExchangesListTokensAndTimes(t *testing.T) {
	s, _ := exchanging(t, panetest.NewStory().Exploring(), 120, 36)
	s.Wants("✓ analysis", "✓ agent of step 2", "1.2k in", "44 out", "read 0.1s", "1.6k in")
	s, _ = exchanging(t, panetest.NewStory().ChatAnswered(), 120, 36)
	s.Wants("✓ chat", "✓ plan · call 4") // of the child run
	in := func(name string) int {
		for _, line := range s.Lines() {
			if before, _, listed := strings.Cut(line, " in "); listed && strings.Contains(line, name) {
				return ansi.StringWidth(before)
			}
		}
		return -1
	}
	if in("✓ analysis") != in("✓ plan") || in("✓ plan") != in("2.6k in") {
		t.Errorf("the numbers are not aligned:\n%s", s.Text())
	}
}

func TestTokenCountFormat(t *testing.T) {
	st := panetest.NewStory().Exploring()
	for _, n := range []int{893, 1000, 1024, 1900, 2048, 12_345, 99_999, 131_072} {
		st.Run(event.ModelRequested{Purpose: prompt.PurposeRepair, Request: panetest.SampleRequest(prompt.PurposeRepair, "")},
			event.ModelReplied{Purpose: prompt.PurposeRepair, Reply: panetest.SampleReply("{}", n, 1)})
	}
	s, _ := exchanging(t, st, 120, 36)
	s.Wants(" 893 in", " 1.0k in", " 1.9k in", " 2.0k in", "12.3k in", " 100k in", " 131k in")
	s.Lacks(" 1k in")
}

func TestExchangeShowsReplyFirst(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		s, _ := exchanging(t, panetest.NewStory().ChatAnswered(), size.w, size.h)
		s.Type("g").Press(panetest.Named("down", "enter")...)
		if line := s.Line("reply"); line != 1 {
			t.Errorf("the reply is on line %d, want 1:\n%s", line, s.Text())
		}
		s.Wants("Let me look at the log")
		s.Offers("g/G top, end")
		s.Type("G").Wants("still use")
		s.Type("g").Wants("reply")
	}
}

func TestExchangeIsShownWhole(t *testing.T) {
	s, _ := exchanging(t, panetest.NewStory().ChatAnswered(), 120, 60)
	s.Type("g").Press(panetest.Key("enter")).Wants(
		"Exchange 1 of 5 · analysis", "sent · system", "You plan and carry out work for a developer.", "sent · user", "Say what the goal needs.",
		"sent · the form of the reply", `"enum": [`, "reply", `{"mode":"direct"}`, "860 tokens in, 20 out", "4096 tokens", "think    off",
	)
	s.Type("l").Wants("Exchange 2 of 5 · chat", "tools    fs.patch, fs.read, fs.search, vcs.log", "think    low", `calls vcs_log {"limit":5,"path":"auth/jwt.go"}`)
	s.Press(panetest.Key("esc")).Wants("Exchanges with the model")
	s.Press(panetest.Key("esc")).Lacks("Exchanges with the model")
	s.Sent()
}

func TestPendingExchangeUpdatesLive(t *testing.T) {
	st := panetest.NewStory().Calling().Chat(event.StepCompleted{Index: "chat.2", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")})
	s, runs := exchanging(t, st, 120, 60)
	s.Wants("under way")
	s.Press(panetest.Key("enter")).Wants("The reply is not complete yet.")
	done := panetest.SampleReply("It does not.", 2500, 12)
	done.Thinking = "So the helper is the last one."
	st.Next().Chat(event.SynthesisCompleted{Text: untrusted.Text(done.Text), Reply: done}).Tell(t, runs)
	s.Wants("So the helper is the last one.", "It does not.")
	s.Lacks("not complete yet")
}

func TestOpenExchangeSurvivesNextRun(t *testing.T) {
	st := panetest.NewStory().ChatAnswered()
	s, runs := exchanging(t, st, 120, 36)
	s.Type("g").Press(panetest.Key("enter")).Wants("Exchange 1 of 5 · analysis")
	next := st.Next().Run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"})
	next.Tell(t, runs)
	s.Wants("Exchange of an earlier run · analysis")
	s.Type("l").Wants("Exchange of an earlier run · analysis") // there is no other exchange
	next.Next().Run(event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")}).Tell(t, runs)
	s.Wants("Exchange of an earlier run · analysis")
	s.Type("l").Wants("Exchange 1 of 1 · chat")
}

func TestFailedExchangeSaysWhy(t *testing.T) {
	st := panetest.NewStory().Exploring().After(10).Run(event.StepCompleted{Index: "2.3", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: panetest.SampleRequest(prompt.PurposeAgent, "2")},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Error: "the model has thought on without an answer", Failure: event.FailureModel})
	s, _ := exchanging(t, st, 120, 36)
	s.Wants("✗ agent of step 2")
	s.Press(panetest.Key("enter")).Wants("the model has thought on without an answer")
}

func TestShortenedPromptIsShownInItsExchange(t *testing.T) {
	q := panetest.SampleRequest(prompt.PurposeAgent, "2")
	q.Shortened = "The prompt was shortened: 2 results are not whole."
	st := panetest.NewStory().Exploring().Run(event.StepCompleted{Index: "2.3", Attempt: 1})
	st.Run(event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: q},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Error: "the server is busy", Failure: event.FailureModel})
	s, _ := exchanging(t, st, 120, 36)
	s.Press(panetest.Named("end", "enter")...).Wants("2 results are not whole")
}
