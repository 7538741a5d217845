package review_test

import (
	"slices"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/panetest"
	"replan/tui/review"
)

func TestReviewKeys(t *testing.T) {
	down := func(n int) []tea.KeyPressMsg { return slices.Repeat([]tea.KeyPressMsg{panetest.Key("down")}, n) }
	tests := []struct {
		name  string
		keys  []tea.KeyPressMsg
		wants []string
		lacks []string
	}{
		{"selected step is shown whole", down(1), []string{"all of them", "it can change or delete data", "rule     ", "notes.md is there"}, nil},
		{"approve gate", append(down(1), panetest.Key("space")), []string{"✓ approved", "1 gate approved", "once, for exactly this call"}, nil},
		{"withdraw approval", append(down(1), panetest.Key("space"), panetest.Key("space")), []string{"No edits yet."}, []string{"approved,"}},
		{"gate with reference asks later", append(down(2), panetest.Key("space")), []string{"asks later", "because ${handler} is inserted then"}, []string{"gate approved"}},
		{"step without gate", []tea.KeyPressMsg{panetest.Key("space")}, []string{"Step 1 does not ask."}, nil},
		{"denied step stays denied", append(down(3), panetest.Key("space")), []string{"denied", "--deny says so"}, []string{"gate approved"}},
		{"approve all gates", panetest.Letters("A"), []string{"1 gate approved"}, nil},
		{"no other gate", panetest.Letters("AA"), []string{"No gate is left to approve."}, nil},
		{"remove step", append(down(4), panetest.Letters("x")...), []string{"1 out", "it will not run"}, nil},
		{"restore step", append(down(4), panetest.Letters("xx")...), []string{"No edits yet."}, nil},
		{"removal asks about dependents", append(down(1), panetest.Letters("x")...), []string{"Step 2 is needed by 4, 5. Remove all of them?"}, nil},
		{"confirm removal of dependents", append(down(1), panetest.Letters("xy")...), []string{"3 out"}, nil},
		{"cancel removal", append(down(1), panetest.Letters("xn")...), []string{"No edits yet."}, nil},
		{"restore step with its dependencies", append(append(down(1), panetest.Letters("xy")...), append(down(3), panetest.Letters("x")...)...), []string{"Restored steps: 2, 4, 5", "Nothing"[:0]}, []string{"3 out"}},
		{"move step up", append(down(1), panetest.Letters("K")...), []string{"1 moved", "after 2"}, nil},
		{"move step up by shift+up", append(down(1), tea.KeyPressMsg{Code: tea.KeyUp, Mod: tea.ModShift}), []string{"1 moved"}, nil},
		{"move step back down", append(down(1), panetest.Letters("KJ")...), []string{"No edits yet."}, []string{"after 2"}},
		{"not above its dependency", append(down(2), panetest.Letters("KK")...), []string{"Step 3 needs the result of step 1 (${handler})."}, nil},
		{"undo last change", append(down(1), panetest.Letters("KAu")...), []string{"1 moved"}, []string{"gate approved"}},
		{"nothing to undo", panetest.Letters("u"), []string{"Nothing was changed."}, nil},
		{"refusal asks", panetest.Letters("n"), []string{"Refuse this plan?"}, nil},
		{"cancel refusal", panetest.Letters("nn"), []string{"No edits yet."}, []string{"Refuse this plan?"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, size := range [][2]int{{120, 36}, {80, 40}} {
				s := looking(t, size[0], size[1]).Press(test.keys...)
				for _, text := range test.wants {
					s.Wants(text)
				}
				for _, text := range test.lacks {
					s.Lacks(text)
				}
				s.Sent()
			}
		})
	}
}

func TestReviewSendsChangedPlan(t *testing.T) {
	s := looking(t, 120, 36).Press(panetest.Key("down")).Type("A").Type("K").Press(panetest.Key("down"), panetest.Key("down"), panetest.Key("down")).Type("xy")
	s.Type("y")
	a := answered(s)
	if a.Plan == nil || len(a.Plan.Steps) != 4 && len(a.Plan.Steps) != 3 || !slices.Equal(a.Approved, []string{"2"}) {
		t.Fatalf("sent %+v", a)
	}
	if first := a.Plan.Steps[0]; !slices.Equal(first.DependsOn, []string{"2"}) {
		t.Errorf("step 1 depends on %v", first.DependsOn)
	}
}

func TestPlanRefusalNeedsConfirmation(t *testing.T) {
	s := looking(t, 80, 24).Type("ny")
	if a := answered(s); a.Decision != event.ReviewRefuse || a.Plan != nil {
		t.Errorf("sent %+v", a)
	}
}

func TestReviewEditsStepAsJSON(t *testing.T) {
	s := looking(t, 120, 36).Press(panetest.Key("down")).Type("e")
	s.Wants("Edit step 2")
	s.Wants(`"path": "notes.md"`)
	if s.Part.(*review.Dialog).Cursor() == nil {
		t.Error("there is no cursor")
	}
	s.Type("x").Press(panetest.Key("ctrl+s"))
	s.Wants("This is not JSON")
	s.Press(panetest.Key("backspace"))
	s.Update(tea.PasteMsg{Content: " "})
	s.Press(panetest.Key("ctrl+s"))
	s.Lacks("Edit step 2")
	s.Wants("No edits yet.")
}

func TestInvalidStepEditListsEveryProblem(t *testing.T) {
	s := looking(t, 120, 36).Press(panetest.Key("down")).Type("e")
	enter(s, `{"title": " ", "args": {"path": [7]}}`)
	for _, text := range []string{"Not changed", "step 2 has no title", "path: got array"} {
		s.Wants(text)
	}
	enter(s, `{"title": "Write other notes", "args": {"path": "other.md", "text": "x"}}`)
	s.Wants("Write other notes")
	s.Wants("1 edited")
	s.Type("y")
	if got := answered(s).Plan.Steps[1]; got.Title != "Write other notes" || got.Args["path"] != "other.md" {
		t.Errorf("sent %+v", got)
	}
}

func TestMouseChoosesReviewSteps(t *testing.T) {
	s := looking(t, 120, 36)
	s.Wants("Step 1")
	s.Update(tea.MouseClickMsg{X: 10, Y: 3, Button: tea.MouseLeft})
	s.Wants("Step 3")
	s.Update(tea.MouseWheelMsg{X: 90, Y: 3, Button: tea.MouseWheelDown})
	s.Wants("Step 3")
}

func TestReviewShowsTitlesBesideFreeRoomAndChosenOnesWhole(t *testing.T) {
	steps := panetest.ReviewSteps()
	steps[0].Title = "Read the handler of every request whole"
	steps[1].Title = "Write notes about every function of the package that no test calls, whatever its name"
	for _, size := range [][2]int{{120, 36}, {80, 24}} {
		s := open(t, panetest.DarkLook(), size[0], size[1], panetest.ReviewEvents(steps)...)
		s.Rest()
		s.Wants("Read the handler of every request whole ")
		s.Press(panetest.Key("down"))
		if y := s.Line("2 Write notes"); !strings.Contains(s.Lines()[y+1], "whatever its name") {
			t.Errorf("the second step is not whole:\n%s", s.Text())
		}
		s.ClickOn("Push it")
		s.Wants("Step 4")
	}
}

func TestReviewGivesTitlesTheRoomOfToolsAndBlankStates(t *testing.T) {
	steps := panetest.ReviewSteps()
	for i := range steps {
		steps[i].Title += ", as far as it is known"
		steps[i].Tool = strings.Replace(steps[i].Tool, "fs.write", "a_server:write_the_file", 1)
		steps[i].DependsOn = nil
	}
	steps[4].DependsOn = []string{"1", "2", "3", "4"}
	s := open(t, panetest.DarkLook(), 100, 30, panetest.ReviewEvents(steps)...)
	s.Wants("Sum up what was done, ")
	s.Wants("a_server:writ") // what the titles leave
}

func TestAReviewIsDrawnWideAndNarrow(t *testing.T) {
	changed := append([]tea.KeyPressMsg{panetest.Key("down")}, panetest.Letters("AK")...)
	for _, c := range []struct {
		name string
		w, h int
		look *draw.Styles
		keys []tea.KeyPressMsg
	}{
		{"wide", 120, 30, panetest.DarkLook(), changed},
		{"narrow", 80, 24, panetest.DarkLook(), changed},
		{"small", 40, 12, panetest.DarkLook(), changed},
		{"ascii", 80, 24, panetest.ASCIILook(), append([]tea.KeyPressMsg{panetest.Key("down")}, panetest.Letters("xy")...)},
		{"editing", 80, 24, panetest.DarkLook(), append([]tea.KeyPressMsg{panetest.Key("down")}, panetest.Letters("e")...)},
		{"asking", 40, 12, panetest.DarkLook(), append([]tea.KeyPressMsg{panetest.Key("down")}, panetest.Letters("x")...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := open(t, c.look, c.w, c.h, panetest.ReviewEvents(panetest.ReviewSteps())...)
			s.Rest()
			s.Press(c.keys...)
			golden.RequireEqual(t, s.Front()+"\n")
		})
	}
}

func TestReviewShowsTheListOfAStep(t *testing.T) {
	steps := panetest.ReviewSteps()
	steps[2].ForEach = &plan.ForEach{Items: "${handler}", As: "part", Max: 9, AtOnce: 2}
	s := open(t, panetest.DarkLook(), 120, 30, panetest.ReviewEvents(steps)...)
	s.Rest()
	s.Press(panetest.Key("down"), panetest.Key("down"))
	s.Wants("${handler} as part, at most 9, 2 at once")
	s.Wants("at most 9 items, known once step 1 is")
}
