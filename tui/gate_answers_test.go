package tui_test

import (
	"testing"

	"replan/tui"
)

func TestTypingContinuesWhenDialogOpens(t *testing.T) {
	for name, c := range map[string]struct {
		story  *story
		opened func(*screen) bool
	}{
		"gate":     {newStory().Gated(), func(s *screen) bool { return s.m.GateOpen() }},
		"question": {newStory().Failing(), func(s *screen) bool { return s.m.GateOpen() }},
		"review":   {newStory().Reviewing(), func(s *screen) bool { return s.m.Reviewing() }},
	} {
		t.Run(name, func(t *testing.T) {
			for before, typed := range map[string]string{"": "rename x", "please ": "retry a y"} {
				s := open(t, tui.Options{}, 120, 36)
				s.press(letters(before)...).show(c.story)
				if !c.opened(s) {
					t.Fatal("the dialog does not open")
				}
				for _, k := range letters(typed) {
					s.m.Update(k)
				}
				s.sent()
				if got := s.m.Typed(); got != before+typed || !c.opened(s) {
					t.Errorf("the input holds %q, dialog open %v", got, c.opened(s))
				}
			}
		})
	}
}
