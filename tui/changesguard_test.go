package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// offeredChanges opens the dialog of offered changes and lets its grace time end.
func offeredChanges(t *testing.T) *screen {
	t.Helper()
	s := awaiting(t, 120, 36)
	s.show(more(newStory().Finished()).Session(oneChange()))
	s.m.Update(s.m.ChangesRested())
	return s
}

// armed reports whether the footer shows that the answer waits for another letter.
func (s *screen) armed() bool {
	lines := s.lines()
	foot := lines[len(lines)-1]
	return strings.Contains(foot, "take") && !strings.Contains(foot, "y take")
}

func TestFooterMarksTheWaitingAnswerOfTheDialogInFront(t *testing.T) {
	s := offeredChanges(t)
	if s.armed() {
		t.Error("an answer waits before a key")
	}
	s.m.Update(letters("y")[0])
	if s.sent(); !s.armed() {
		t.Errorf("the answer that waits is not marked:\n%s", s.text())
	}
}

func TestClickDropsTheWaitingAnswerOfTheDialogInFront(t *testing.T) {
	s := offeredChanges(t)
	s.m.Update(letters("y")[0])
	s.m.Update(tea.MouseClickMsg{X: 1, Y: 1, Button: tea.MouseLeft})
	if s.armed() {
		t.Error("the answer still waits")
	}
}
