package tui_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui"
)

// lookingAtChecks opens a screen at the review of a plan with a check and an acceptance.
func lookingAtChecks(t *testing.T, width, height int) *screen {
	t.Helper()
	steps := reviewSteps()
	steps[1].Checks = []plan.Check{{Title: "the notes are there", Tool: "fs.read", Args: map[string]any{"path": "notes.md"}, Expect: "len(result) > 0"}}
	st := newStory().reviewingSteps(steps)
	created := st.events[len(st.events)-1].Data.(event.PlanCreated)
	created.Plan.Acceptance = []plan.Check{{Title: "something was read", Expect: "len(handler) > 0"}}
	st.events[len(st.events)-1].Data = created
	s := open(t, tui.Options{Theme: themes.Dark}, width, height).show(st)
	s.m.Update(s.m.ReviewRested())
	return s
}

// enter replaces the text of the open editor, and takes it.
func (s *screen) enter(text string) {
	s.t.Helper()
	s.press(tea.KeyPressMsg{Code: tea.KeyEnd, Mod: tea.ModCtrl})
	s.press(slices.Repeat([]tea.KeyPressMsg{ctrl('u'), backspace}, 20)...) // by lines, the last first
	s.m.Update(tea.PasteMsg{Content: text})
	s.press(ctrl('s'))
}

func TestReviewEditsChecksOfAStep(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).press(downKey).press(letters("e")...)
	s.wants(`"title": "the notes are there"`)
	edited := func(check string) string {
		return `{"title": "Write the notes", "args": {"path": "notes.md", "text": "x"}, "check": ` + check + `}`
	}
	for check, fault := range map[string]string{
		`[{"expect": "1 < 2"}]`:                          "gives the same answer whatever happens",
		`[{"expect": "reslt == ''"}]`:                    "did you mean result",
		`[{"tool": "fs.write", "expect": "result > 0"}]`: "marked as a tool that only reads",
		`[7]`: "a check must be an object",
	} {
		s.enter(edited(check))
		s.wants("Not changed")
		s.wants(fault)
	}
	s.enter(edited(`[{"expect": "len(result) > 1"}]`))
	s.wants("1 edited")
	s.wants("len(result) > 1")
	s.lacks("the notes are there")
	s.press(letters("e")...)
	s.enter(edited(`[]`))
	s.lacks("len(result) > 1")
	s.press(letters("uy")...)
	if got := s.reviewAnswer().Plan.Steps[1].Checks; len(got) != 1 || got[0].Expect != "len(result) > 1" {
		t.Errorf("sent the checks %+v", got)
	}
}

func TestReviewEditsConditionListAndWaitOfAStep(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).press(downKey).press(letters("e")...)
	edited := func(fields string) string {
		return `{"title": "Write the notes", "args": {"path": "notes.md", "text": "x"}, ` + fields + `}`
	}
	for fields, fault := range map[string]string{
		`"when": "handler ="`:                 "column 9",
		`"when": "handlr == ''"`:              "did you mean handler",
		`"for_each": 7`:                       "for_each must be a list",
		`"for_each": "${handlr}"`:             "handlr",
		`"for_each": ["a", "b"], "max": 1`:    "max is 1",
		`"at_once": 2`:                        "at_once needs for_each",
		`"until": {"expect": "result != ''"}`: "would repeat fs.write",
		`"until": {"every": "10s"}`:           "until",
		`"depends_on": ["1"]`:                 `"depends_on" cannot be edited here`,
	} {
		s.enter(edited(fields))
		s.wants("Not changed")
		s.wants(fault)
	}
	s.enter(edited(`"when": "handler != item", "for_each": ["a", "b"], "at_once": 1`))
	s.wants("1 edited")
	s.wants("handler != item")
	s.wants(`1 at once`)
	s.press(letters("e")...)
	s.wants(`"at_once": 1`)
	s.press(escape)
	s.press(letters("y")...)
	got := s.reviewAnswer().Plan.Steps[1]
	if got.When != "handler != item" || got.ForEach == nil || got.ForEach.AtOnce != 1 || got.ForEach.Max != plan.DefaultMax {
		t.Errorf("sent the step %+v", got)
	}
}

func TestReviewEditsTheAcceptance(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).press(letters("E")...)
	s.wants("Edit the acceptance")
	s.enter(`{"acceptance": {"expect": "len(name) > 0"}}`)
	s.wants("Not changed")
	s.wants(`name "name", only handler`)
	s.enter(`{"check": []}`)
	s.wants(`"check" cannot be edited here`)
	s.enter(`{"acceptance": [{"expect": "len(handler) > 7"}]}`)
	s.wants("acceptance edited")
	s.wants("len(handler) > 7")
	s.press(letters("E")...)
	s.enter(`{"acceptance": []}`)
	s.lacks("the goal is met if")
	s.press(letters("y")...)
	if a := s.reviewAnswer(); a.Plan == nil || len(a.Plan.Acceptance) > 0 {
		t.Errorf("sent %+v", a.Plan)
	}
}

func TestChecksUnderReviewAreDrawnWideAndNarrow(t *testing.T) {
	for name, c := range map[string]struct {
		w, h int
		keys []tea.KeyPressMsg
	}{
		"step":       {120, 30, append([]tea.KeyPressMsg{downKey}, letters("e")...)},
		"acceptance": {80, 24, letters("E")},
	} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, lookingAtChecks(t, c.w, c.h).press(c.keys...).front()+"\n")
		})
	}
}
