package tui_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui"
	"replan/tui/panetest"
)

func TestEveryTabOfTheStepIsDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name string
		st   func(*story) *story
		keys []tea.KeyPressMsg
	}{
		{"args", (*story).Referring, letters("1")},
		{"output", (*story).Finished, letters("gj2")},
		{"test output", (*story).Finished, letters("Gkk2")},
		{"diff", (*story).Finished, letters("gjjj3")},
		{"story of a retry", (*story).Referring, letters("g4")},
		{"story of a gate", (*story).Edited, letters("G4")},
		{"args of an edit", (*story).Edited, letters("G1")},
		{"timing", (*story).Edited, letters("G5")},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				s := open(t, tui.Options{Theme: themes.Dark, Replay: true}, size.w, size.h).show(c.st(newStory()))
				s.m.ShowList()
				s.press(tabKey).press(c.keys...).press(tabKey)
				golden.RequireEqual(t, s.pane("step")+"\n")
			})
		}
	}
}

func TestTimelineAndRevisionsAreDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name string
		st   func(*story) *story
		keys []tea.KeyPressMsg
	}{
		{"timeline", (*story).Finished, letters("t")},
		{"timeline of an active run", (*story).Tested, letters("t")},
		{"revision", (*story).Finished, letters("v")},
		{"first plan", (*story).Finished, append(letters("v"), leftKey)},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				s := open(t, tui.Options{Theme: themes.Dark, Replay: true}, size.w, size.h).show(c.st(newStory()))
				s.press(tabKey).press(c.keys...)
				golden.RequireEqual(t, s.front()+"\n")
			})
		}
	}
}

func TestKeysSwitchStepTabs(t *testing.T) {
	s := open(t, tui.Options{}, 120, 60).show(newStory().Finished()).press(tabKey).press(letters("gjjj")...)
	for _, c := range []struct{ key, want string }{
		{"4", "allowed once by you after 2.1s"}, {"5", "waited at its gate"}, {"1", "does     fs.patch"}, {"2", "expects"}, {"3", "verifyUser(r.Context()"},
	} {
		s.press(letters(c.key)...)
		s.wants(c.want)
	}
	s.press(tabKey, rightKey)
	s.wants("attempt 1, revision 1")
	s.press(rightKey, rightKey)
	s.wants("does     fs.patch")
	s.press(leftKey)
	s.wants("altogether")
}

func TestClickSwitchesStepTabs(t *testing.T) {
	for _, size := range []struct{ w, h int }{{120, 36}, {200, 60}, {60, 24}, {40, 12}} {
		s := open(t, tui.Options{Replay: true}, size.w, size.h).show(newStory().Finished())
		s.m.ShowList()
		s.press(tabKey).press(letters("gjjj")...).press(tabKey)
		for _, c := range []struct{ tab, want string }{{"timing", "altogether"}, {"story", "attempt 1"}, {"args", "does     fs.patch"}, {"diff", "auth/handler.go"}, {"output", "expect"}} {
			x, y := s.find(c.tab)
			s.m.Update(tea.MouseClickMsg{X: x, Y: y, Button: tea.MouseLeft})
			s.wants(c.want)
		}
		if s.m.Focus() != "step" {
			t.Errorf("%v: the click focuses %s", size, s.m.Focus())
		}
	}
}

func TestWheelScrollsStep(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("gjjj3")...)
	s.wants("1-14 of 24")
	x, y := s.find("// ServeHTTP")
	s.m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelDown})
	s.wants("4-17 of 24")
	s.m.Update(tea.MouseWheelMsg{X: x, Y: y, Button: tea.MouseWheelUp})
	s.wants("1-14 of 24")
}

// copied returns the text that a key copies.
func (s *screen) copied(k tea.KeyPressMsg) string {
	s.t.Helper()
	_, cmd := s.m.Update(k)
	return clipboard(cmd)
}

func TestYCopiesShownStepTab(t *testing.T) {
	y := letters("y")[0]
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("gj2")...)
	if got := s.copied(y); !strings.HasPrefix(got, "package auth\n\nimport") {
		t.Errorf("the output is copied as %q", got)
	}
	s.wants("output of step 2, 9 lines, sent to the clipboard")
	s.press(letters("1")...)
	if got, want := s.copied(y), "{\n  \"path\": \"auth/handler.go\"\n}\n"; got != want {
		t.Errorf("the args are copied as %q, want %q", got, want)
	}
	s.press(letters("jj3")...)
	if got := s.copied(y); got != panetest.HandlerDiff {
		t.Errorf("the diff is copied as %q", got)
	}
	s.press(tabKey).press(letters("4")...)
	if got := s.copied(y); !strings.Contains(got, "asked at its gate") || strings.Contains(got, "\x1b") {
		t.Errorf("the story is copied as %q", got)
	}
	s.press(tabKey, tabKey).press(letters("gj3y")...)
	s.wants("There is nothing to copy: diff of step 2 is empty.")
}

func TestTimelineOpensAndLeadsToStep(t *testing.T) {
	s := open(t, tui.Options{}, 120, 36).show(newStory().Finished()).press(tabKey).press(letters("gjjt")...)
	s.wants("Timeline · total 21.6s")
	s.wants("Step 3 Read its tests")
	s.press(letters("jj")...)
	s.wants("removed by revision 2")
	s.press(enter)
	s.lacks("Timeline")
	if s.m.Focus() != "step" || s.m.Selected() != "gone 2 5" {
		t.Errorf("enter focuses %s with row %s", s.m.Focus(), s.m.Selected())
	}
	s.press(letters("t")...).press(letters("g")...)
	s.wants("Planning took 7.4s: analysis 3.1s, review 2.0s, plan 2.3s")
	s.press(letters("t")...)
	s.lacks("Timeline")
	open(t, tui.Options{}, 120, 36).show(newStory().Greeted()).press(tabKey).press(letters("t")...).wants("There are no steps to show on a timeline yet.")
}

// Steps that look at what a goal names run before the model plans.
func TestTimelineShowsStepsBeforeThePlanning(t *testing.T) {
	early := newStory().Greeted().Run(
		event.RunStarted{Goal: panetest.StoryGoal, Workspace: "/src/auth-service", Session: panetest.StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits()},
		event.PlanCreated{Plan: plan.Plan{Title: "Look", Steps: panetest.RenameSteps()[:1]}, Revision: 1}).Begin("1")
	early.After(500).Run(event.StepCompleted{Index: "1", Attempt: 1, MS: 500}, event.PhaseStarted{Phase: 1, Label: "analysis"}).
		After(2000).Run(event.PhaseCompleted{Phase: 1, Label: "analysis", MS: 2000})
	open(t, tui.Options{}, 120, 36).show(early).press(tabKey).press(letters("t")...).wants("planning")
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

func TestRevisionsCanBeSteppedThrough(t *testing.T) {
	altV := tea.KeyPressMsg{Code: 'v', Mod: tea.ModAlt}
	for name, o := range map[string]tui.Options{"live": {}, "in a replay": {Replay: true}} {
		s := open(t, o, 120, 50).show(newStory().Finished()).press(altV)
		s.wants("Revision 2 of 2")
		s.wants("failed   step 5 · Run the tests")
		s.wants("+ title Sum up both changes")
		s.press(rightKey)
		s.wants("Revision 2 of 2")
		s.press(leftKey)
		s.wants("the plan as first made")
		if strings.Contains(s.front(), "Rename in the token helper") {
			t.Errorf("%s: a step of the next revision is shown:\n%s", name, s.front())
		}
		s.press(leftKey, rightKey)
		s.wants("Revision 2 of 2")
		s.press(escape)
		if s.lacks("Revision 2 of 2"); t.Failed() {
			t.Fatal(name)
		}
	}
	s := open(t, tui.Options{}, 120, 50).show(newStory().Finished()).press(tabKey).press(letters("v")...)
	s.wants("Revision 2 of 2")
	s.press(letters("v")...)
	s.lacks("Revision 2 of 2")
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
