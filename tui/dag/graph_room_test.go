package dag

import (
	"strings"
	"testing"

	"replan/agent"
	planlayout "replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/panetest"
)

// titled returns a run whose steps have long titles.
func titled(deps [][]int) *agent.Run {
	run := graphRun(deps, 0)
	for i, s := range run.Steps {
		s.Step.Title += " with a long title that says what it is for in part " + s.Step.Title
		run.Plan.Steps[i].Title = s.Step.Title
	}
	return run
}

func TestGraphCutsNoTitleWhereThereIsRoom(t *testing.T) {
	for _, zoom := range []zoom{zoomAuto, zoomBox, zoomLine} {
		d := graphPane(titled([][]int{{}, {0}, {1}}), themes.Mode{}, zoom, planlayout.Down)
		resize(d, 118, 32)
		if got := panetest.Stripped(d.View()); strings.Contains(got, "…") {
			t.Errorf("zoom %v cuts titles:\n%s", zoom, got)
		}
	}
}

func TestGraphSaysAtItsEdgesHowMuchIsOutOfView(t *testing.T) {
	deps := [][]int{{}}
	for range 12 {
		deps = append(deps, []int{0})
	}
	d := graphPane(graphRun(deps, 0), themes.Mode{}, zoomLine, planlayout.Down)
	resize(d, 60, 12)
	for i, want := range []struct{ shown, hidden string }{{"more ▶", ""}, {"◀", "more ▶"}} {
		d.chooseNode(i * 12)
		got := panetest.Stripped(d.View())
		if !strings.Contains(got, want.shown) || want.hidden != "" && strings.Contains(got, want.hidden) {
			t.Errorf("at box %d:\n%s", i*12+1, got)
		}
	}
	tall := make([][]int, 30)
	for i := range tall[1:] {
		tall[i+1] = []int{i}
	}
	d = graphPane(graphRun(tall, 0), themes.Mode{}, zoomBox, planlayout.Down)
	resize(d, 60, 12)
	d.chooseNode(15)
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "▲ ") || !strings.Contains(got, "▼ ") {
		t.Errorf("in the middle of a chain:\n%s", got)
	}
}
