package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/tui"
)

func TestUndoRevertsEditWordByWord(t *testing.T) {
	s := settled(t, schemed(newStory().revised()), 120, 36).press(letters("e")...)
	kill(s)
	s.press(letters("one two")...)
	for _, c := range []struct{ has, lacks string }{{"one two", "three"}, {"one", "two"}, {"one", "two"}} {
		s.wants(c.has)
		s.lacks(c.lacks)
		s.press(ctrl('z'))
	}
	for range 40 {
		s.press(ctrl('z'))
	}
	s.wants("Nothing was changed here.")
	s.wants("verifyUser(ctx, s.token)")
	s.sent()
	s.press(ctrl('s')) // the original text
	s.sent()
	s.wants("No changes: the call stays as it was.")
}

func TestEditedArgumentsAreValidatedAfterPause(t *testing.T) {
	s := settled(t, schemed(newStory().revised()), 120, 36).press(letters("e")...)
	s.press(backTab)
	s.m.Update(tea.PasteMsg{Content: `"yes"`})
	s.lacks("do not fit") // not while typing
	s.m.Update(s.m.Paused())
	s.wants("the args of fs.patch do not fit: all: got string, want boolean")
	before := s.m.Paused()
	s.press(backspace)
	s.lacks("do not fit")
	s.m.Update(before) // for the previous text
	s.lacks("true or false")
	s.m.Update(s.m.Paused())
	s.wants("all takes true or false")
	s.press(ctrl('z'))
	s.m.Update(s.m.Paused())
	s.wants("all: got string, want boolean")
	s.sent()
}

func TestPauseAfterClosingEditorChangesNothing(t *testing.T) {
	s := settled(t, schemed(newStory().revised()), 120, 36).press(letters("ex")...).press(escape)
	before := s.text()
	s.m.Update(s.m.Paused())
	if s.text() != before {
		t.Errorf("the screen changed:\n%s", s.text())
	}
	open(t, tui.Options{}, 80, 24).m.Update(s.m.Paused())
}
