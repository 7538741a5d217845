package tui_test

import (
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/tui"
)

func TestWheelScrollsStep(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("gjjj3")...)
	s.wants("1-14 of 24")
	x, y := s.find("// ServeHTTP")
	s.m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
	s.wants("4-17 of 24")
	s.m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelUp})
	s.wants("1-14 of 24")
}

func TestTimelineOpensAndLeadsToStep(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("gjjt")...)
	s.wants("Step 3 Read its tests")
	s.press(letters("jj")...).press(enter)
	s.lacks("Timeline")
	if s.m.Focus() != "step" || s.m.Selected() != "gone 2 5" {
		t.Errorf("enter focuses %s with row %s", s.m.Focus(), s.m.Selected())
	}
	open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(tabKey).press(letters("t")...).wants("There are no steps to show on a timeline yet.")
}

func TestTimelineGrowsDuringRun(t *testing.T) {
	st := newStory().Gated()
	s := open(t, tui.Options{}, 120, 36).show(st)
	s.m.Update(s.m.Rested())
	s.press(escape, tabKey)
	if s.m.Beating() {
		t.Fatal("the clock beats without an animation")
	}
	s.press(letters("t")...)
	s.wants("at its gate 900ms")
	if !s.m.Beating() {
		t.Fatal("the clock does not beat")
	}
	s.m.Update(tui.Beat(st.Now.Add(3 * time.Second)))
	s.wants("at its gate 3.9s")
	s.press(escape)
	s.m.Update(tui.Beat(st.Now.Add(4 * time.Second)))
	if s.m.Beating() {
		t.Error("the clock beats after the timeline was closed")
	}
}

func TestKeysOpenRevisions(t *testing.T) {
	altV := tea.KeyPressMsg{Code: 'v', Mod: tea.ModAlt}
	for name, o := range map[string]tui.Options{"live": {}, "in a replay": {Replay: true}} {
		s := open(t, o, 120, 50).show(newStory().Finished())
		for _, open := range [][]tea.KeyPressMsg{{altV}, append([]tea.KeyPressMsg{tabKey}, letters("v")...)} {
			s.press(open...).wants("Revision 2 of 2")
			s.press(escape)
			if s.lacks("Revision 2 of 2"); t.Failed() {
				t.Fatal(name)
			}
		}
	}
	open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(altV).wants("There is no plan to show revisions of yet.")
}

func TestKeyOnARevisionOpensThatRevision(t *testing.T) {
	s := open(t, tui.Options{}, 120, 50).show(newStory().Finished()).press(tabKey).press(letters("G")...)
	for range 20 {
		if s.m.Selected() == "revision 2" {
			break
		}
		s.press(upKey)
	}
	if s.m.Selected() != "revision 2" {
		t.Fatalf("no row of the revision:\n%s", s.text())
	}
	s.press(letters("v")...)
	s.wants("Revision 2 of 2")
}
