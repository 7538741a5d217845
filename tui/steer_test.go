package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
	"replan/tui"
	"replan/tui/panetest"
)

func TestEnterQueuesAndCtrlTSteers(t *testing.T) {
	s := settled(t, newStory().Exploring(), 120, 36).press(letters("leave the tests alone")...)
	s.wants("enter queue  ctrl+t steer")
	s.press(ctrl('t'))
	s.sent(session.Steer{Text: "leave the tests alone"})
	if s.m.Typed() != "" {
		t.Errorf("the input still holds %q", s.m.Typed())
	}
	s.press(letters("then this")...).press(enter)
	s.sent(session.Steer{Text: "leave the tests alone"}, session.Submit{Text: "then this"})
}

func TestRefusedSteeringSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		st   *story
		keys []tea.KeyPressMsg
		want string
	}{
		"no run":        {newStory().ChatAnswered(), append(letters("x"), ctrl('t')), "No run is active; enter sends it."},
		"no text":       {newStory().Exploring(), []tea.KeyPressMsg{ctrl('t')}, "Type a message for the run first."},
		"another pane":  {newStory().Exploring(), []tea.KeyPressMsg{tabKey, ctrl('t')}, "moves to the input"},
		"before a run":  {newStory().Greeted(), append(letters("x"), ctrl('t')), "No run is active"},
		"while it ends": {newStory().Answering(), append(letters("x"), ctrl('t')), "No model in this run can read it now; enter queues it."},
	} {
		t.Run(name, func(t *testing.T) {
			settled(t, c.st, 120, 36).press(c.keys...).wants(c.want)
		})
	}
}

func TestSteeringMessageIsShownInChat(t *testing.T) {
	s := settled(t, newStory().Spoken(), 120, 36)
	s.wants("› leave the tests alone,")
	s.wants("sent to the current run")
	settled(t, newStory().Exploring().Run(event.RunSteered{Text: "hurry", By: "ann@laptop"}), 120, 36).wants("sent to the current run (by ann@laptop)")
	if s.press(upKey); s.m.Typed() != "leave the tests alone,\nthey are mine" {
		t.Errorf("the history returns %q", s.m.Typed())
	}
}

func TestTypingWarmsNoModelThatCannotAnswer(t *testing.T) {
	running := open(t, tui.Options{}, 120, 36).show(newStory().Exploring()).press(letters("x")...)
	if got := running.session.commands(); len(got) != 0 {
		t.Errorf("during a run it sends %v", got)
	}
	without := open(t, tui.Options{}, 120, 36).show(newStory().Session(session.Status{Problem: "Ollama does not answer"})).press(letters("x")...)
	if got := without.session.commands(); len(got) != 0 {
		t.Errorf("without a server it sends %v", got)
	}
}

func TestProjectNotesAreNamedOnce(t *testing.T) {
	s := settled(t, newStory().Choosing(), 120, 36)
	s.wants("notes        AGENTS.md")
	st := newStory().Choosing().Session(event.ChatUser{Text: "go"}, event.ChatReply{Text: "done"}, event.ChatUser{Text: "on"})
	n := strings.Count(settled(t, st, 120, 36).text(), "notes of this project")
	if n != 1 {
		t.Errorf("the notes are named %d times", n)
	}
	late := newStory().Session(event.ChatUser{Text: "go"}, session.Status{Workspace: "/src", Instructions: "../AGENTS.md"})
	settled(t, late, 120, 36).wants("notes of this project: ../AGENTS.md")
}

func TestModelTurnAfterCallsIsLabeled(t *testing.T) {
	st := newStory().Calling()
	settled(t, st, 120, 36).lacks("the model continues") // a call is running
	st = newStory().Calling().Chat(event.StepCompleted{Index: "chat.2", Attempt: 1},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: panetest.SampleRequest(prompt.PurposeChat, "")})
	settled(t, st, 120, 36).wants("the model continues")
}
