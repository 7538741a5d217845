package tui_test

import (
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/tui"
)

func TestLetterThatMeansNothingInAPaneGoesToTheInput(t *testing.T) {
	for name, c := range map[string]struct {
		keys  []tea.KeyPressMsg
		typed string
		focus string
	}{
		"in the plan":               {append([]tea.KeyPressMsg{tabKey}, letters("why is")...), "why is", "chat"},
		"in the step":               {append([]tea.KeyPressMsg{tabKey, tabKey}, letters("why")...), "why", "chat"},
		"behind a text":             {append(append(letters("a "), tabKey), letters("wx")...), "a wx", "chat"},
		"a key of the plan":         {append([]tea.KeyPressMsg{tabKey}, letters("k")...), "", "plan"},
		"a key without text":        {[]tea.KeyPressMsg{tabKey, {Code: tea.KeyF12}}, "", "plan"},
		"a capital, and then a key": {append([]tea.KeyPressMsg{tabKey}, letters("Wk")...), "Wk", "chat"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).show(newStory().Branching())
			s.press(c.keys...)
			if s.m.Typed() != c.typed || s.m.Focus() != c.focus {
				t.Errorf("typed %q, the focus is on %s", s.m.Typed(), s.m.Focus())
			}
		})
	}
	s := open(t, tui.Options{}, 120, 36).show(newStory().Gated())
	if s.press(letters("w")...); s.m.Typed() != "" {
		t.Errorf("a gate lets %q through", s.m.Typed())
	}
	if s := open(t, tui.Options{Replay: true}, 120, 36).show(newStory().Finished()); s.press(tabKey).press(letters("w")...).m.Typed() != "" {
		t.Error("a replay takes text")
	}
}
