package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/runner"
	"replan/tui"
)

var ctrlK = tea.KeyPressMsg{Code: 'k', Mod: tea.ModCtrl}

// TestEveryActionIsInPaletteAndHelp holds both against the tables: what has a key
// has a line in help, and what can be done has one in the palette, with its key.
func TestEveryActionIsInPaletteAndHelp(t *testing.T) {
	s := open(t, tui.Options{}, 120, 400).show(newStory().branching())
	s.press(tea.KeyPressMsg{Code: tea.KeyF1})
	help := s.text()
	s.press(escape)
	for _, a := range s.m.Actions() {
		shown := strings.Fields(a.Does)
		if !strings.Contains(help, a.Key) || !strings.Contains(help, strings.Join(shown[:min(len(shown), 3)], " ")) {
			t.Errorf("help does not have %s: %s %s", a.ID, a.Key, a.Does)
		}
		if !a.Done || a.ID == "palette" {
			continue
		}
		s.press(ctrlK).press(letters(a.ID)...)
		if found := s.text(); !strings.Contains(found, a.Does) || !strings.Contains(found, a.Key) {
			t.Errorf("the palette does not find %s:\n%s", a.ID, found)
		}
		s.press(escape, escape)
	}
}

func TestThePaletteDoesWhatIsChosenAndSaysWhyNot(t *testing.T) {
	s := settled(t, newStory().branching(), 120, 36).press(ctrlK)
	s.wants("Commands")
	s.press(letters("follow what")...).press(enter)
	s.lacks("Commands")
	if s.m.Focus() != "plan" {
		t.Errorf("an action of the plan leads to %s", s.m.Focus())
	}
	s.press(ctrlK).press(letters("open gate or")...).press(enter)
	s.wants("Commands")
	s.wants("No gate is open.")
	s.press(escape).press(letters("stop what runs")...)
	s.press(enter)
	s.lacks("Commands")
	s.sent(runner.Stop{})
}

func TestThePaletteOpensOverAGateAndAnswersIt(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36).press(ctrlK)
	s.wants("Commands")
	s.press(letters("gate.deny")...).press(enter)
	s.sent(runner.Resolve{Run: storyRun, Gate: "4.1.1", Decision: agent.Deny, Scope: agent.ScopeOnce})
}

func TestAnAnswerFromThePaletteShowsAGateThatWasLeftFirst(t *testing.T) {
	s := settled(t, newStory().gated(), 120, 36).press(escape).press(ctrlK).press(letters("gate.once")...).press(enter)
	if s.sent(); !s.m.GateOpen() {
		t.Error("the gate is not on the screen")
	}
}

func TestKeysCanBeChanged(t *testing.T) {
	for name, c := range map[string]struct {
		keys tui.Keys
		says string // "" where they hold
	}{
		"another key":                      {keys: tui.Keys{"plan.follow": {"F"}, "gate": {"ctrl+b"}}},
		"two keys":                         {keys: tui.Keys{"help": {"?", "f2"}}},
		"none":                             {keys: tui.Keys{"models": {}}},
		"keys that change places":          {keys: tui.Keys{"plan.follow": {"x"}, "plan.cancel": {"f"}}},
		"an action that is none":           {keys: tui.Keys{"plan.fly": {"f"}}, says: `there is no action "plan.fly"`},
		"a key that is none":               {keys: tui.Keys{"plan.follow": {"hyper+f"}}, says: `there is no key "hyper+f"`},
		"a key that another has":           {keys: tui.Keys{"plan.follow": {"x"}}, says: `the key of plan.cancel already`},
		"a key that works everywhere":      {keys: tui.Keys{"plan.follow": {"ctrl+r"}}, says: `the key of runs already`},
		"a letter where text is typed":     {keys: tui.Keys{"gate": {"g"}}, says: "would be typed as text"},
		"a letter for sending in the chat": {keys: tui.Keys{"chat.send": {"s"}}, says: "would be typed as text"},
	} {
		t.Run(name, func(t *testing.T) {
			err := tui.CheckKeys(c.keys)
			if c.says == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q in it", err, c.says)
			}
		})
	}
	s := open(t, tui.Options{Keys: tui.Keys{"pane.next": {"ctrl+b"}}}, 120, 36).show(newStory().branching())
	if s.press(tabKey); s.m.Focus() != "chat" {
		t.Error("the old key still works")
	}
	if s.press(tea.KeyPressMsg{Code: 'b', Mod: tea.ModCtrl}); s.m.Focus() != "plan" {
		t.Error("the new key does nothing")
	}
	s.wants("ctrl+b pane")
}
