package review_test

import (
	"slices"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/panetest"
)

// lookingAtChecks opens a screen at the review of a plan with a check and an acceptance.
func lookingAtChecks(t *testing.T, width, height int) *panetest.Driver {
	t.Helper()
	steps := panetest.ReviewSteps()
	steps[1].Checks = []plan.Check{{Title: "the notes are there", Tool: "fs.read", Args: map[string]any{"path": "notes.md"}, Expect: "len(result) > 0"}}
	data := panetest.ReviewEvents(steps)
	created := data[1].(event.PlanCreated)
	created.Plan.Acceptance = []plan.Check{{Title: "something was read", Expect: "len(handler) > 0"}}
	data[1] = created
	s := open(t, panetest.DarkLook(), width, height, data...)
	s.Rest()
	return s
}

// enter replaces the text of the open editor, and takes it.
func enter(s *panetest.Driver, text string) {
	s.T.Helper()
	s.Press(tea.KeyPressMsg{Code: tea.KeyEnd, Mod: tea.ModCtrl})
	draw := s.Draw
	s.Draw = func() []string { return nil }                                                             // no frame is drawn in between
	s.Press(slices.Repeat([]tea.KeyPressMsg{panetest.Key("ctrl+u"), panetest.Key("backspace")}, 20)...) // by lines, the last first
	s.Draw = draw
	s.Update(tea.PasteMsg{Content: text})
	s.Press(panetest.Key("ctrl+s"))
}

func TestReviewEditsChecksOfAStep(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).Press(panetest.Key("down")).Type("e")
	s.Wants(`"title": "the notes are there"`)
	edited := func(check string) string {
		return `{"title": "Write the notes", "args": {"path": "notes.md", "text": "x"}, "check": ` + check + `}`
	}
	for check, fault := range map[string]string{
		`[{"expect": "1 < 2"}]`:                          "gives the same answer whatever happens",
		`[{"expect": "reslt == ''"}]`:                    "did you mean result",
		`[{"tool": "fs.write", "expect": "result > 0"}]`: "marked as a tool that only reads",
		`[7]`: "a check must be an object",
	} {
		enter(s, edited(check))
		s.Wants("Not changed")
		s.Wants(fault)
	}
	enter(s, edited(`[{"expect": "len(result) > 1"}]`))
	s.Wants("1 edited")
	s.Wants("len(result) > 1")
	s.Lacks("the notes are there")
	s.Type("e")
	enter(s, edited(`[]`))
	s.Lacks("len(result) > 1")
	s.Type("uy")
	if got := answered(s).Plan.Steps[1].Checks; len(got) != 1 || got[0].Expect != "len(result) > 1" {
		t.Errorf("sent the checks %+v", got)
	}
}

func TestReviewEditsConditionListAndWaitOfAStep(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).Press(panetest.Key("down")).Type("e")
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
		enter(s, edited(fields))
		s.Wants("Not changed")
		s.Wants(fault)
	}
	enter(s, edited(`"when": "handler != item", "for_each": ["a", "b"], "at_once": 1`))
	s.Wants("1 edited")
	s.Wants("handler != item")
	s.Wants(`1 at once`)
	s.Type("e")
	s.Wants(`"at_once": 1`)
	s.Press(panetest.Key("esc"))
	s.Type("y")
	got := answered(s).Plan.Steps[1]
	if got.When != "handler != item" || got.ForEach == nil || got.ForEach.AtOnce != 1 || got.ForEach.Max != plan.DefaultMax {
		t.Errorf("sent the step %+v", got)
	}
}

func TestReviewEditsTheAcceptance(t *testing.T) {
	s := lookingAtChecks(t, 120, 36).Type("E")
	s.Wants("Edit the acceptance")
	enter(s, `{"acceptance": {"expect": "len(name) > 0"}}`)
	s.Wants("Not changed")
	s.Wants(`name "name", only handler`)
	enter(s, `{"check": []}`)
	s.Wants(`"check" cannot be edited here`)
	enter(s, `{"acceptance": [{"expect": "len(handler) > 7"}]}`)
	s.Wants("acceptance edited")
	s.Wants("len(handler) > 7")
	s.Type("E")
	enter(s, `{"acceptance": []}`)
	s.Lacks("the goal is met if")
	s.Type("y")
	if a := answered(s); a.Plan == nil || len(a.Plan.Acceptance) > 0 {
		t.Errorf("sent %+v", a.Plan)
	}
}

func TestChecksUnderReviewAreDrawnWideAndNarrow(t *testing.T) {
	for name, c := range map[string]struct {
		w, h int
		keys []tea.KeyPressMsg
	}{
		"step":       {120, 30, append([]tea.KeyPressMsg{panetest.Key("down")}, panetest.Letters("e")...)},
		"acceptance": {80, 24, panetest.Letters("E")},
	} {
		t.Run(name, func(t *testing.T) {
			golden.RequireEqual(t, lookingAtChecks(t, c.w, c.h).Press(c.keys...).Front()+"\n")
		})
	}
}
