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

func TestSTogglesStepDiffLayout(t *testing.T) {
	s := open(t, tui.Options{}, 260, 60).show(newStory().Gated())
	s.m.Update(s.m.Rested())
	s.press(escape, tabKey, tabKey).press(letters("s")...)
	if !s.sided() {
		t.Errorf("s does not put the lines side by side:\n%s", s.text())
	}
	s.press(letters("1s")...)
	s.wants("No diff in view")
	s.sent()
}
