package tui_test

import (
	"testing"

	"replan/agent/event"
	"replan/tui"
)

func TestQuitPromptShowsKeysOnSmallestScreen(t *testing.T) {
	s := open(t, tui.Options{}, 40, 12).show(newStory().Branching())
	s.m.Update(ctrl('c'))
	s.wants("Stop the run and quit?  y yes  n no")
}

func TestProgressMessageClearsOnNextEventOrKey(t *testing.T) {
	st := newStory().Branching()
	for name, then := range map[string]func(*screen){
		"a key": func(s *screen) { s.press(downKey) },
		"an event": func(s *screen) {
			s.show((&story{Now: st.Now, Seq: st.Seq}).Run(event.StepCompleted{Index: "2", Attempt: 1}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, tui.Options{}, 120, 36).show(st).press(tabKey).press(letters("x")...)
			s.wants("Step 2 is being canceled")
			then(s)
			s.lacks("is being canceled")
			s.wants("tab pane")
		})
	}
	s := open(t, tui.Options{}, 120, 36).show(st).press(tabKey).press(letters("x")...)
	s.show((&story{Now: st.Now, Seq: st.Seq}).Run(event.StepOutput{Index: "3", Chunk: "text"}))
	s.wants("Step 2 is being canceled") // streamed output does not clear it
	s = open(t, tui.Options{}, 120, 36).show(st).press(tabKey).press(letters("gx")...)
	s.show((&story{Now: st.Now, Seq: st.Seq}).Run(event.StepCompleted{Index: "2", Attempt: 1}))
	s.wants("Step 1 has ended already") // a refusal stays until the next key
}

// TestMapFooterShowsEscape checks that the footer of the map begins with the key
// that leaves it, also on the smallest screen.
func TestMapFooterShowsEscape(t *testing.T) {
	s := open(t, tui.Options{}, 40, 12).show(newStory().Branching()).press(tabKey).press(letters("m")...)
	s.wants("esc back")
	s.press(escape).lacks("esc back")
}
