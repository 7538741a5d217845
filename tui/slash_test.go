package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/tui"
	"replan/tui/keymap"
)

func commandsOfChat() keymap.AnswerMsg[session.Completions] {
	return keymap.AnswerMsg[session.Completions]{Value: session.Completions{Of: session.CompleteCommands, Items: []session.Completion{
		{Text: "/compact", Usage: "[undo]", Detail: "Summarize the oldest part of the conversation; /compact undo restores it"},
		{Text: "/models", Detail: "List the models of the server"},
	}}}
}

func TestListOfCommandsReachesOverThePlan(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Branching()).press(letters("/")...)
	s.m.Update(commandsOfChat())
	s.wants("Summarize the oldest part of the conversation; /compact undo restores it")
	s.wants("Plan · ") // the rest of the plan stays in view
	_, row := s.find("List the models")
	s.m.Update(tea.MouseClickMsg{X: 80, Y: row, Button: tea.MouseLeft}) // beside the chat
	s.typed("/models")
}

func TestThemeIsChosenByItsName(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(letters("/theme pap")...)
	s.m.Update(commandsOfChat())
	s.wants("/theme [NAME]")
	s.wants("/theme paper")
	s.press(enter)
	s.typed("/theme paper")
	s.press(enter)
	name := "paper"
	s.sent(session.SaveSetting{Key: "screen.theme", Value: &name})
	s.press(letters("/theme pink")...).press(enter)
	s.wants("There is no theme \"pink\"")
}
