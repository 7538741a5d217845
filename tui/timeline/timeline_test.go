package timeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
	"replan/planning/plan"
	"replan/themes"
	"replan/tui/keymap"
	"replan/tui/panetest"
	"replan/tui/timeline"
)

// timelineOf shows the timeline of a story at a step.
func timelineOf(t *testing.T, st *panetest.Story, step string, width, height int) *panetest.Driver {
	t.Helper()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.SetTime(st.Now)
	look.Advance()
	d := timeline.New(look, k, st.Runs(t))
	d.Open(step)
	s := panetest.Drive(t, d, k, width, height)
	s.Draw()
	return s
}

func TestTimelineIsDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name, step string
		st         *panetest.Story
	}{
		{"timeline", "6", panetest.NewStory().Finished()},
		{"timeline of an active run", "8", panetest.NewStory().Tested()},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				golden.RequireEqual(t, timelineOf(t, c.st, c.step, size.w, size.h).Front()+"\n")
			})
		}
	}
}

func TestTimelineLeadsToStep(t *testing.T) {
	s := timelineOf(t, panetest.NewStory().Finished(), "3", 120, 36)
	s.Wants("Timeline · total 21.6s", "Step 3 Read its tests")
	s.Type("jj").Wants("removed by revision 2")
	s.Press(panetest.Key("enter")).Lacks("Timeline")
	if to := keymap.First[keymap.ShowStep](s.Requests); to != "5" {
		t.Errorf("enter leads to step %q", to)
	}
	s = timelineOf(t, panetest.NewStory().Finished(), "3", 120, 36)
	s.Type("g").Wants("Planning took 7.4s: analysis 3.1s, review 2.0s, plan 2.3s")
	s.Press(panetest.Key("enter")).Wants("Timeline") // the planning is no step
	s.Type("t").Lacks("Timeline")
}

// Steps that look at what a goal names run before the model plans.
func TestTimelineShowsStepsBeforeThePlanning(t *testing.T) {
	early := panetest.NewStory().Run(
		event.RunStarted{Goal: panetest.StoryGoal, Workspace: "/src/auth-service", Model: "qwen3:8b", Limits: event.DefaultLimits()},
		event.PlanCreated{Plan: plan.Plan{Title: "Look", Steps: panetest.RenameSteps()[:1]}, Revision: 1}).Begin("1")
	early.After(500).Run(event.StepCompleted{Index: "1", Attempt: 1, MS: 500}, event.PhaseStarted{Phase: 1, Label: "analysis"}).
		After(2000).Run(event.PhaseCompleted{Phase: 1, Label: "analysis", MS: 2000})
	timelineOf(t, early, "", 120, 36).Wants("planning")
}

func TestTimelineGrowsWithTime(t *testing.T) {
	st := panetest.NewStory().Gated()
	k, look := panetest.Keys(), panetest.DarkLook()
	look.SetTime(st.Now)
	d := timeline.New(look, k, st.Runs(t))
	d.Open("4")
	s := panetest.Drive(t, d, k, 120, 36)
	s.Wants("at its gate 900ms")
	look.SetTime(st.Now.Add(3 * time.Second))
	s.Wants("at its gate 3.9s")
}

// Without colors a selected row is reversed, and its bars stay as in the other rows.
func TestBarsOfTheSelectedRowAreNoGapsWithoutColors(t *testing.T) {
	st, k, look := panetest.NewStory().Finished(), panetest.Keys(), panetest.DarkLook()
	look.Retheme(new(themes.Set).New(themes.Dark, true, themes.Mode{NoColor: true}))
	look.SetTime(st.Now)
	d := timeline.New(look, k, st.Runs(t))
	d.Open("4")
	rows := panetest.Drive(t, d, k, 120, 36).Draw()
	bar := strings.Repeat(look.Glyphs.Bars.Gate, 3)
	for _, row := range rows {
		before, _, found := strings.Cut(row, bar)
		if !found || !strings.Contains(row, look.Glyphs.Cursor) {
			continue
		}
		style, _, _ := strings.Cut(before[strings.LastIndex(before, "\x1b[")+2:], "m")
		if slices.Contains(strings.Split(style, ";"), "7") {
			t.Errorf("the bars of the selected row are reversed: %q", row)
		}
		return
	}
	t.Errorf("the selected row has no bar %s", bar)
}

func TestLegendNamesThePhasesAndTheRowOfNumbers(t *testing.T) {
	timelineOf(t, panetest.NewStory().Finished(), "4", 120, 36).Wants("A R P analysis, review, plan", "2 at once")
}

func TestTimelineTakesAWideScreen(t *testing.T) {
	top := timelineOf(t, panetest.NewStory().Finished(), "4", 200, 60).Lines()
	if !slices.ContainsFunc(top, func(line string) bool {
		return strings.HasPrefix(line, "╭─ Timeline") && ansi.StringWidth(strings.TrimRight(line, " ")) == 200
	}) {
		t.Errorf("the timeline leaves room free:\n%s", strings.Join(top, "\n"))
	}
}
