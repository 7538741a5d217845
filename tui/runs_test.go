package tui_test

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/tui"
)

func TestActiveRunsOfThisSessionAreLabelled(t *testing.T) {
	st := newStory().delegating()
	st.session([]agent.Summary{
		{Run: storyChatRun, Goal: "the one around", Status: agent.StatusRunning, Started: st.now},
		{Run: storyChildRun, Goal: "the one in it", Status: agent.StatusRunning, Started: st.now, Steps: 2, Done: 1},
		{Run: "r-other", Goal: "not of this session", Status: agent.StatusRunning, Started: st.now, Steps: 3},
	})
	for name, c := range map[string]struct {
		keys        []tea.KeyPressMsg
		goal, label string
		refusal     string
	}{
		"parent run":             {nil, "the one around", "running", "This is the active run."},
		"child run":              {[]tea.KeyPressMsg{downKey}, "the one in it", "running", "This is the active run."},
		"run of another session": {[]tea.KeyPressMsg{downKey, downKey}, "not of this session", "elsewhere", "Another replan is running it."},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().delegating(), 120, 36).press(ctrlR)
			s.show(&story{answers: st.answers, now: st.now}).press(c.keys...).press(enter)
			s.wants(c.refusal)
			if line := s.lines()[lineOf(s, c.goal)]; !strings.Contains(line, c.label) {
				t.Errorf("the row lacks %q: %s", c.label, line)
			}
		})
	}
}

func TestRunWithoutPlanShowsNoFraction(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {60, 24}} {
		st := newStory().greeted()
		s := open(t, tui.Options{}, size.w, size.h).show(st).press(ctrlR)
		s.show(more(st).session([]agent.Summary{
			{Run: "r-2", Goal: "no plan yet", Status: agent.StatusUnfinished, Started: st.now, Done: 1},
			{Run: "r-1", Goal: "planned", Status: agent.StatusUnfinished, Started: st.now, Done: 1, Steps: 4},
		}))
		s.wants("1/4")
		s.lacks("1/0")
		s.lacks("·  ·")
	}
}
