package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent/event"
	"replan/tui"
	"replan/tui/panetest"
)

// replayed opens a screen on a replay of a story.
func replayed(t *testing.T, st *story, width, height int) *screen {
	t.Helper()
	return open(t, tui.Options{Theme: "dark", Replay: true}, width, height).show(st)
}

func TestReplayIsLabeled(t *testing.T) {
	for _, size := range []struct {
		w, h   int
		closed string
	}{
		{120, 36, "replay of " + panetest.StoryRun + " · q quits"},
		{40, 12, "replay of " + panetest.StoryRun[strings.LastIndex(panetest.StoryRun, "-")+1:] + " · q quits"},
	} {
		s := replayed(t, newStory().Finished(), size.w, size.h)
		s.wants("replan  replay")
		s.wants(size.closed)
		s.lacks("Describe a goal, or / for commands")
		if s.m.View().Cursor != nil {
			t.Error("a replay shows a text cursor")
		}
		for i, line := range s.lines() {
			if n := len([]rune(line)); n > size.w {
				t.Errorf("line %d is %d cells wide:\n%s", i, n, line)
			}
		}
	}
	open(t, tui.Options{}, 120, 36).show(newStory().Finished()).lacks("replay")
}

func TestReplaySendsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		st   *story
		keys []tea.KeyPressMsg
		want string
	}{
		"text":                   {newStory().Finished(), letters("yes"), "A replay takes no input; q quits"},
		"enter":                  {newStory().Finished(), []tea.KeyPressMsg{enter}, "A replay takes no input; q quits"},
		"ctrl+r":                 {newStory().Ended(), []tea.KeyPressMsg{ctrlR}, "no run can be resumed here"},
		"ctrl+g":                 {newStory().Gated(), []tea.KeyPressMsg{ctrl('g')}, "gates were answered in the recorded run"},
		"esc":                    {newStory().Branching(), []tea.KeyPressMsg{escape}, "A replay has nothing to stop"},
		"x on a running step":    {newStory().Branching(), append([]tea.KeyPressMsg{tabKey}, letters("x")...), "nothing can be canceled"},
		"letters in the plan":    {newStory().Branching(), append([]tea.KeyPressMsg{tabKey}, letters("w")...), "A replay takes no input; q quits"},
		"answers to a gate":      {newStory().Gated(), letters("y"), "A replay takes no input"},
		"ctrl+t":                 {newStory().Exploring(), []tea.KeyPressMsg{ctrl('t')}, "A replay takes no input; q quits"},
		"x on a call":            {newStory().Exploring(), append([]tea.KeyPressMsg{tabKey}, letters("jx")...), "nothing can be canceled"},
		"enter on a failed step": {newStory().Ended(), []tea.KeyPressMsg{tabKey, enter}, "Step 3"},
	} {
		t.Run(name, func(t *testing.T) {
			s := replayed(t, c.st, 120, 36)
			s.m.Update(s.m.Rested())
			s.press(c.keys...)
			s.sent()
			s.wants(c.want)
			if s.m.GateOpen() || s.m.Typed() != "" {
				t.Errorf("got dialog %v, typed %q", s.m.GateOpen(), s.m.Typed())
			}
		})
	}
	s := replayed(t, newStory().Finished(), 120, 36)
	s.m.Update(tea.PasteMsg{Content: "x"})
	s.wants("A replay takes no input")
}

func TestReplayShowsGatesWithoutAsking(t *testing.T) {
	st := newStory().Gated()
	s := replayed(t, st, 120, 36)
	s.wants("asked about fs.patch in step 4: it changes files of the")
	s.wants("step 4 waited for an answer")
	s.lacks("ctrl+g")
	next := &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"}))
	s.wants("allowed fs.patch in step 4")

	st = newStory().Failing()
	s = replayed(t, st, 120, 36)
	if s.m.GateOpen() {
		t.Fatal("a replay asks the user")
	}
	s.wants("step 3 failed: the server answered 422")
	s.wants("step 3 failed: how should it continue?")
	next = &story{Now: st.Now, Seq: st.Seq}
	s.show(next.Plan(event.FailureResolved{Step: "3", Decision: event.FailureSkip, By: "user"}))
	s.wants("step 3 is skipped")
	if n := strings.Count(s.text(), "step 3 failed: the server"); n != 1 {
		t.Errorf("the failure is shown %d times:\n%s", n, s.text())
	}
}

func TestQQuitsReplayFromEveryPane(t *testing.T) {
	for _, keys := range [][]tea.KeyPressMsg{nil, {tabKey}, {tabKey, tabKey}} {
		s := replayed(t, newStory().Branching(), 120, 36).press(keys...)
		if _, cmd := s.m.Update(letters("q")[0]); !quits(cmd) {
			t.Errorf("q does not quit from %s", s.m.Focus())
		}
	}
	s := replayed(t, newStory().Branching(), 120, 36)
	if _, cmd := s.m.Update(ctrl('c')); !quits(cmd) {
		t.Error("ctrl+c does not quit a replay")
	}
	s = open(t, tui.Options{}, 120, 36).show(newStory().Branching()).press(letters("q")...)
	if s.m.Typed() != "q" {
		t.Errorf("got %q typed, want q", s.m.Typed())
	}
}

func TestReplayOfStoppedRunNamesResumeCommand(t *testing.T) {
	s := replayed(t, newStory().Stopped(), 120, 36)
	s.wants("replan plan resume k3fq")
	s.lacks("ctrl+r")
}
