package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/tui"
	"replan/tui/panetest"
)

// moves sends messages of the mouse and carries out the commands.
func (s *screen) moves(msgs ...tea.MouseMsg) *screen {
	for _, msg := range msgs {
		_, cmd := s.m.Update(msg)
		s.carryOut(cmd)
	}
	return s
}

// chatWidth is the width of the chat with its border.
func (s *screen) chatWidth() int {
	before, _, _ := strings.Cut(s.lines()[1], "╮")
	return ansi.StringWidth(before) + 1
}

// planHeight is the number of lines above the step.
func (s *screen) planHeight() int {
	_, y := s.find("Step 6 ")
	return y - 2
}

func TestDraggedBorderIsKeptOnRelease(t *testing.T) {
	s := settled(t, newStory().Finished(), 120, 36)
	s.moves(tea.MouseClickMsg(left(65, 9)), tea.MouseMotionMsg(left(70, 9)), tea.MouseMotionMsg(left(47, 10)))
	if got := s.chatWidth(); got != 48 {
		t.Errorf("the chat has %d cells, want 48:\n%s", got, s.text())
	}
	s.sent()
	s.moves(tea.MouseReleaseMsg(left(47, 10)), tea.MouseMotionMsg(left(60, 10)))
	s.sent(session.SaveSetting{Key: "screen.chat_width", Value: new("40")})
	before := s.planHeight()
	s.moves(tea.MouseClickMsg(left(100, before+2)), tea.MouseMotionMsg(left(100, before+7)), tea.MouseReleaseMsg(left(100, before+7)))
	if got := s.planHeight(); got != before+5 {
		t.Errorf("the plan has %d lines, want %d:\n%s", got, before+5, s.text())
	}
	if s.chatWidth() != 48 || s.m.Focus() != "chat" {
		t.Errorf("the chat has %d cells, the focus is on %s", s.chatWidth(), s.m.Focus())
	}
}

func TestKeysMoveBordersAndNextKeyKeepsThem(t *testing.T) {
	s := settled(t, newStory().Finished(), 120, 36).press(letters("<<>")...)
	s.sent()
	if got := s.chatWidth(); got != 64 {
		t.Errorf("the chat has %d cells, want 64", got)
	}
	s.press(letters("wide")...).press(tea.KeyPressMsg{Code: tea.KeyF8}, tea.KeyPressMsg{Code: tea.KeyF8})
	s.sent(session.SaveSetting{Key: "screen.chat_width", Value: new("54")})
	if got := s.chatWidth(); got != 68 || s.m.Typed() != "wide" {
		t.Errorf("the chat has %d cells, typed %q", got, s.m.Typed())
	}
	s.press(tabKey)
	s.sent(session.SaveSetting{Key: "screen.chat_width", Value: new("54")}, session.SaveSetting{Key: "screen.chat_width", Value: new("57")})
	s.show(newStory().Session(session.SettingSaved{Key: "screen.chat_width", Value: "57", File: "/etc/replan/config.toml"}))
	s.lacks("/etc/replan")
	before := s.planHeight()
	if s.press(letters("}}{")...); s.planHeight() != before+1 {
		t.Errorf("the plan has %d lines, had %d", s.planHeight(), before)
	}
}

func TestKeysSayWhyBorderStays(t *testing.T) {
	for _, c := range []struct {
		story  *story
		w, h   int
		keys   string
		reason string
	}{
		{newStory().Finished(), 80, 24, "<", "each pane has the whole width"},
		{newStory().Greeted(), 120, 36, ">", "no plan yet"},
		{newStory().Finished(), 120, 36, "+<", "+ shows the others"},
		{newStory().Finished(), 120, 16, "}", "too low for the plan and the step"},
		{newStory().Finished(), 100, 36, "<<<<<<<<<<<", "each pane keeps its minimum size"},
	} {
		settled(t, c.story, c.w, c.h).press(letters(c.keys)...).wants(c.reason)
	}
}

func TestSizesOfConfigurationApply(t *testing.T) {
	s := open(t, tui.Options{ChatWidth: 40, PlanHeight: 20}, 120, 36).show(newStory().Finished())
	if s.chatWidth() != 48 || s.planHeight() != 6 {
		t.Errorf("the chat has %d cells, the plan %d lines", s.chatWidth(), s.planHeight())
	}
	s.press(alt('o')).show(newStory().Session(session.Settings{Settings: []session.Setting{
		{Key: "screen.chat_width", Value: "40", Literal: "40", Source: "user file", Saved: new("40")},
	}}))
	s.press(enter, backspace).press(letters("5")...).press(enter)
	s.wants("this session")
	s.press(letters("r")...).press(escape)
	s.sent(asks("settings"), session.SaveSetting{Key: "screen.chat_width", Value: new("45")}, session.SaveSetting{Key: "screen.chat_width"})
	if got := s.chatWidth(); got != 66 {
		t.Errorf("after a reset the chat has %d cells", got)
	}
}

func TestShownThinkingIsKept(t *testing.T) {
	keep := func(value string) session.SaveSetting {
		return session.SaveSetting{Key: "screen.show_thinking", Value: &value}
	}
	s := open(t, tui.Options{}, 120, 36).show(newStory().Asked()).press(alt('T'))
	s.wants("▾ thinking")
	s.press(alt('T')).lacks("▾ thinking")
	s.sent(keep("true"), keep("false"))
	open(t, tui.Options{ShowThinking: true}, 120, 36).show(newStory().Asked()).wants("▾ thinking")
}

// listsFiles: an order that needs no model is planned as one step, which lists files.
func listsFiles(status event.Data, readOnly bool) *story {
	st := newStory().Greeted()
	step := plan.Step{Index: "1", Title: "List the files", Executor: plan.ExecutorTool, Tool: "fs.list"}
	st.Run(event.RunStarted{Goal: "list the files", Session: panetest.StorySession, Catalog: plan.Catalog{{Name: "fs.list", Server: "s", ReadOnly: readOnly, Annotated: true}}, Limits: event.DefaultLimits()},
		event.RouteMatched{},
		event.PlanCreated{Revision: 1, Plan: plan.Plan{Title: "List the files", Steps: []plan.Step{step}}},
		event.StepStarted{Index: "1", Attempt: 1, Title: step.Title, Executor: step.Executor, Tool: step.Tool})
	return st.After(5).Run(status)
}

func TestChatHasTheWholeWidthWhenItsAnswerIsTheOnlyResult(t *testing.T) {
	done := event.StepCompleted{Index: "1", Attempt: 1, MS: 5, Result: "main.go"}
	failed := event.StepFailed{Index: "1", Attempt: 1, MS: 5, Error: "no such folder"}
	for name, c := range map[string]struct {
		st   *story
		o    tui.Options
		want int // cells of the chat
	}{
		"one step that reads":     {listsFiles(done, true), tui.Options{}, 120},
		"one step that changes":   {listsFiles(done, false), tui.Options{}, 66},
		"the step failed":         {listsFiles(failed, true), tui.Options{}, 66},
		"the user set the widths": {listsFiles(done, true), tui.Options{ChatWidth: 50}, 60},
		"several steps":           {newStory().Finished(), tui.Options{}, 66},
	} {
		t.Run(name, func(t *testing.T) {
			if got := open(t, c.o, 120, 36).show(c.st).chatWidth(); got != c.want {
				t.Errorf("the chat has %d cells, want %d", got, c.want)
			}
		})
	}
	s := open(t, tui.Options{}, 120, 36).show(listsFiles(done, true)).press(tea.KeyPressMsg{Code: tea.KeyF6})
	s.wants("Step 1 ")
	if got := s.chatWidth(); got != 66 || s.m.Focus() != "chat" {
		t.Errorf("after the zoom key the chat has %d cells, the focus is on %s", got, s.m.Focus())
	}
	if s.press(tea.KeyPressMsg{Code: tea.KeyF6}); s.chatWidth() != 120 {
		t.Errorf("the second zoom gives the chat %d cells", s.chatWidth())
	}
}
