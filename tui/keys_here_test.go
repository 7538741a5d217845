package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/session"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

func TestHelpScrollsToBothEnds(t *testing.T) {
	s := open(t, tui.Options{}, 80, 24).show(newStory().Branching()).press(f1)
	s.wants("Symbols")
	s.press(letters("G")...)
	if s.lacks("Symbols"); !s.m.HelpOpen() {
		t.Fatal("G closes help")
	}
	s.press(letters("g")...).wants("Symbols")
	if s.press(space); !s.m.HelpOpen() {
		t.Error("a space closes help")
	}
	if s.press(letters("x")...); s.m.HelpOpen() {
		t.Error("x does not close help")
	}
}

func TestHelpIsSearched(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {80, 24}, {40, 12}} {
		s := open(t, tui.Options{}, size.w, size.h).show(newStory().Branching()).press(f1)
		s.wants("/ search")
		s.press(letters("/gxj ")...).press(backspace, backspace, backspace, backspace)
		s.press(letters("next gate")...).wants("go to the next gate")
		s.lacks("Symbols")
		s.lacks("next pane")
		s.press(enter).wants("esc show all")
		s.press(letters("/zz")...).wants("No key matches")
		if s.press(escape); !s.m.HelpOpen() {
			t.Fatal("esc closes help instead of clearing the search")
		}
		s.wants("The keys you need first")
		if s.press(escape); s.m.HelpOpen() {
			t.Error("esc does not close help")
		}
	}
}

func TestQuestionMarkOpensHelpInDialogs(t *testing.T) {
	s := settled(t, newStory().Reviewing(), 120, 36)
	s.m.Update(s.m.Rested())
	if s.press(letters("?")...); !s.m.HelpOpen() {
		t.Error("? does not open help in a review")
	}
	s.press(escape)
	s = open(t, tui.Options{}, 120, 36).press(ctrlR).press(letters("?")...)
	if !s.m.HelpOpen() {
		t.Error("? does not open help in the list of runs")
	}
	s = open(t, tui.Options{}, 120, 36).press(ctrlK).press(letters("?")...)
	if s.m.HelpOpen() {
		t.Error("? opens help instead of searching the palette")
	}
}

func TestCtrlHomeAndEndScrollChatFromInput(t *testing.T) {
	s := settled(t, newStory().Finished(), 80, 24).press(letters("typed")...)
	s.press(tea.KeyPressMsg{Code: tea.KeyHome, Mod: tea.ModCtrl}).wants("below")
	s.press(tea.KeyPressMsg{Code: tea.KeyEnd, Mod: tea.ModCtrl}).lacks("below")
	s.wants("typed")
}

func TestReplayTakesPlanKeysAndHelpListsItsOwnFirst(t *testing.T) {
	o := tui.Options{Theme: themes.Dark, Replay: true, Recorded: session.ReplayEvents(panetest.StoryRun, recorded()), Speed: 1}
	s := open(t, o, 120, 36)
	s.quietly(tea.KeyPressMsg{Code: tea.KeyEnd})
	s.quietly(letters("?")...)
	text := s.text()
	if replay, other := strings.Index(text, "next moment"), strings.Index(text, "allow once"); replay < 0 || other >= 0 && other < replay {
		t.Errorf("help does not begin with the keys of the replay:\n%s", text)
	}
	s.quietly(escape)
	s.quietly(letters("t")...)
	s.wants("Timeline")
}
