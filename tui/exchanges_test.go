package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui"
)

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
