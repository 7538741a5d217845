package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui"
	"replan/tui/panetest"
)

func TestExchangesListTokensAndTimes(t *testing.T) {
	s := settled(t, newStory().Exploring(), 120, 36).press(ctrlX)
	for _, text := range []string{"✓ analysis", "✓ agent of step 2", "1.2k in", "44 out", "read 0.1s", "1.6k in"} {
		s.wants(text)
	}
	s = settled(t, newStory().ChatAnswered(), 120, 36).press(ctrlX)
	s.wants("✓ chat")
	s.wants("✓ plan · call 4") // of the child run
	in := func(name string) int {
		for line := range strings.SplitSeq(s.front(), "\n") {
			if before, _, listed := strings.Cut(line, " in "); listed && strings.Contains(line, name) {
				return ansi.StringWidth(before)
			}
		}
		return -1
	}
	if in("✓ analysis") != in("✓ plan") || in("✓ plan") != in("2.6k in") {
		t.Errorf("the numbers are not aligned:\n%s", s.text())
	}
}

func TestTokenCountFormat(t *testing.T) {
	st := newStory().Exploring()
	for _, n := range []int{893, 1000, 1024, 1900, 2048, 12_345, 99_999, 131_072} {
		st.Run(event.ModelRequested{Purpose: prompt.PurposeRepair, Request: panetest.SampleRequest(prompt.PurposeRepair, "")},
			event.ModelReplied{Purpose: prompt.PurposeRepair, Reply: panetest.SampleReply("{}", n, 1)})
	}
	s := settled(t, st, 120, 36).press(ctrlX)
	for _, want := range []string{" 893 in", " 1.0k in", " 1.9k in", " 2.0k in", "12.3k in", " 100k in", " 131k in"} {
		s.wants(want)
	}
	s.lacks(" 1k in")
}

func TestExchangeShowsReplyFirst(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		s := settled(t, newStory().ChatAnswered(), size.w, size.h).press(ctrlX).press(letters("g")...).press(downKey, enter)
		if line := lineOf(s, "reply"); line != 2 {
			t.Errorf("the reply is on line %d, want 2:\n%s", line, s.text())
		}
		s.wants("Let me look at the log")
		s.wants("g/G top, end")
		s.press(letters("G")...).wants("still use")
		s.press(letters("g")...).wants("reply")
	}
}

func TestExchangeIsShownWhole(t *testing.T) {
	s := settled(t, newStory().ChatAnswered(), 120, 60).press(ctrlX).press(letters("g")...).press(enter)
	for _, text := range []string{
		"Exchange 1 of 5 · analysis", "sent · system", "You plan and carry out work for a developer.", "sent · user", "Say what the goal needs.",
		"sent · the form of the reply", `"enum": [`, "reply", `{"mode":"direct"}`, "860 tokens in, 20 out", "4096 tokens", "think    off",
	} {
		s.wants(text)
	}
	s.press(letters("l")...)
	for _, text := range []string{"Exchange 2 of 5 · chat", "tools    fs.patch, fs.read, fs.search, vcs.log", "think    low", `calls vcs_log {"limit":5,"path":"auth/jwt.go"}`} {
		s.wants(text)
	}
	s.press(escape)
	s.wants("Exchanges with the model")
	s.press(escape)
	s.wants("Describe a goal, or / for commands")
	s.sent()
}

func TestPendingExchangeUpdatesLive(t *testing.T) {
	st := newStory().Calling().Chat(event.StepCompleted{Index: "chat.2", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")})
	s := settled(t, st, 120, 60).press(ctrlX)
	s.wants("under way")
	s.press(enter)
	s.wants("The reply is not complete yet.")
	next := &story{Now: st.Now, Seq: st.Seq}
	done := panetest.SampleReply("It does not.", 2500, 12)
	done.Thinking = "So the helper is the last one."
	s.show(next.Chat(event.SynthesisCompleted{Text: untrusted.Text(done.Text), Reply: done}))
	s.wants("So the helper is the last one.")
	s.wants("It does not.")
	s.lacks("not whole yet")
}

func TestOpenExchangeSurvivesNextRun(t *testing.T) {
	st := newStory().ChatAnswered()
	s := settled(t, st, 120, 36).press(ctrlX).press(letters("g")...).press(enter)
	s.wants("Exchange 1 of 5 · analysis")
	next := more(st).Session(event.ChatUser{Text: "again"}).Run(event.RunStarted{Goal: "again", Workspace: "/src", Model: "qwen3:8b"})
	s.show(next)
	s.wants("Exchange of an earlier run · analysis")
	s.press(letters("l")...).wants("Exchange of an earlier run · analysis") // there is no other exchange
	s.show(more(next).Run(event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")}))
	s.wants("Exchange of an earlier run · analysis")
	s.press(letters("l")...).wants("Exchange 1 of 1 · chat")
}

func TestFailedExchangeSaysWhy(t *testing.T) {
	st := newStory().Exploring().After(10).Run(event.StepCompleted{Index: "2.3", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: panetest.SampleRequest(prompt.PurposeAgent, "2")},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Error: "the model has thought on without an answer", Failure: event.FailureModel})
	s := settled(t, st, 120, 36)
	s.wants("! the model has thought on without an answer")
	s.press(ctrlX)
	s.wants("✗ agent of step 2")
	s.press(enter)
	s.wants("the model has thought on without an answer")
}

func TestExchangesOpenInReplayAndOverGate(t *testing.T) {
	s := replayed(t, newStory().ChatAnswered(), 120, 36).press(ctrlX)
	s.wants("Exchanges with the model")
	s.press(escape)
	s.wants("replay of")

	s = settled(t, newStory().Patching(), 120, 36).press(ctrlX)
	s.wants("Exchanges with the model")
	s.press(escape)
	if !s.m.GateOpen() {
		t.Error("the gate is closed")
	}
	s.sent()
}

func TestExchangeTextIsEscaped(t *testing.T) {
	const evil = "a\x1b]0;owned\x07b\x1b[2Jc\u202ed\u200be\x9b1m"
	q := prompt.Request{
		Purpose: evil, Model: evil, Shortened: evil, Format: []byte(`"` + evil), Tools: plan.Offer{{Name: evil}},
		Messages: []prompt.Message{{Role: evil, Content: evil, Tool: evil, Calls: []reply.ToolUse{{Name: evil, Args: map[string]any{evil: evil}}}}},
	}
	st := newStory().Exploring()
	st.Run(event.ModelRequested{Purpose: evil, Request: q}, event.ModelReplied{Purpose: evil, Reply: reply.Reply{Text: evil, Thinking: evil, Calls: q.Messages[0].Calls}})
	st.Session(session.Models{Models: []prompt.ModelInfo{{Name: evil, Parameters: evil, Quantization: evil, Chats: true}}, Profiles: []session.ProfileChoice{{Name: evil, Description: evil}}, Problem: evil},
		session.Status{Workspace: evil, Model: evil, Profile: evil, Think: evil, Instructions: evil}, event.ChatCompacted{Reason: evil})
	st.Run(event.RunSteered{Text: evil})
	for _, keys := range [][]tea.KeyPressMsg{nil, {ctrlX}, {ctrlX, enter}, {ctrlO}, {ctrlO, tabKey}} {
		for _, size := range []struct{ w, h int }{{120, 60}, {60, 24}} {
			s := open(t, tui.Options{}, size.w, size.h).show(st).press(keys...)
			s.m.Update(tui.Batch(st.Events[len(st.Events)-3:], st.Now))
			s.answered(st)
			content := s.m.View().Content
			for _, bad := range []string{"\x1b]", "\x1b[2J", "\x07", "\u202e", "\u200b", "\u009b", "\x9b1m"} {
				if strings.Contains(content, bad) {
					t.Errorf("%q reaches the terminal after %v", bad, keys)
				}
			}
		}
	}
}

func TestShortenedPromptIsShownInItsExchangeOnly(t *testing.T) {
	q := panetest.SampleRequest(prompt.PurposeAgent, "2")
	q.Shortened = "The prompt was shortened: 2 results are not whole."
	st := newStory().Exploring().Run(event.StepCompleted{Index: "2.3", Attempt: 1})
	st.Run(event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: q},
		event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Error: "the server is busy", Failure: event.FailureModel})
	s := settled(t, st, 120, 36)
	s.lacks("2 results are not whole")
	s.press(ctrlX, endKey, enter).wants("2 results are not whole")
}

// TestPanesSayWhatFollowsAPlan: an answer without a plan takes the place of the plan
// before it.
func TestPanesSayWhatFollowsAPlan(t *testing.T) {
	st := newStory().Finished()
	st.Chat(event.RunStarted{Goal: "hello", Workspace: "/src", Model: "m"}, event.SynthesisStarted{Direct: true}, event.SynthesisCompleted{Text: "Hello."},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted}})
	s := settled(t, st, 120, 36).press(tabKey)
	s.wants("Answered without a plan.")
	s.wants("opens the plans of")
	s.wants("This run has no step to inspect.")
	s.lacks("enter open")
}

func TestMissingAnswerIsExplainedOnce(t *testing.T) {
	const why = "the window is too small"
	st := newStory().Greeted().Chat(event.RunStarted{Goal: "why", Workspace: "/src", Model: "m", Prompting: prompt.Prompting{SkipAnalysis: true, SkipReview: true, SkipPlan: true}})
	for phase, label := range []string{"analysis", "review", "plan"} {
		st.Chat(event.PhaseSkipped{Phase: phase + 1, Label: label, Reason: "switched off"})
	}
	st.Chat(event.SynthesisStarted{Direct: true}, event.SynthesisCompleted{Error: why},
		event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonPlannerError, Error: why}})
	s := settled(t, st, 120, 36)
	if n := strings.Count(s.text(), why); n != 1 {
		t.Errorf("reported %d times", n)
	}
	s.wants("failed: planner error")
	s.lacks("skipped") // without planning no phase is shown
	s.lacks("Answered without a plan")
}
