package tui_test

import (
	"strings"
	"testing"

	"replan/tui"
)

// sided reports whether a line of the diff is beside the one it replaces.
func (s *screen) sided() bool {
	for _, line := range s.lines() {
		if strings.Contains(line, "authenticate(r.Context(), token)") && strings.Contains(line, "verifyUser(r.Context(), token)") {
			return true
		}
	}
	return false
}

func TestWideGateShowsDiffSideBySide(t *testing.T) {
	for width, want := range map[int]bool{80: false, 120: false, 135: false, 140: true, 200: true} {
		s := settled(t, newStory().gated(), width, 60)
		if got := s.sided(); got != want {
			t.Errorf("at %d columns: got side by side %v:\n%s", width, got, s.text())
		}
	}
}

func TestSTogglesGateDiffLayout(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 60)
	s.press(letters("s")...)
	if !s.sided() {
		t.Errorf("s does not put the lines side by side:\n%s", s.text())
	}
	s.press(letters("s")...)
	if s.sided() {
		t.Errorf("a second s does not put the lines below each other:\n%s", s.text())
	}
	s.sent()
}

func TestSReportsTooNarrowForSideBySide(t *testing.T) {
	s := settled(t, newStory().gated(), 60, 24).press(letters("s")...)
	s.wants("Side by side needs 60 columns, not 56.")
}

func TestSTogglesStepDiffLayout(t *testing.T) {
	s := open(t, tui.Options{}, 260, 60).show(newStory().gated())
	s.m.Update(s.m.Rested())
	s.press(escape, tabKey, tabKey).press(letters("s")...)
	if !s.sided() {
		t.Errorf("s does not put the lines side by side:\n%s", s.text())
	}
	s.press(letters("1s")...)
	s.wants("No diff in view")
	s.sent()
}
