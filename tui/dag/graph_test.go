package dag

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	planlayout "replan/planning/plan/layout"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// shapes are plans whose drawings are kept.
func shapes() map[string][][]int {
	return map[string][][]int{
		"chain":        {{}, {0}, {1}, {2}},
		"independents": {{}, {}, {}, {}},
		"two chains":   {{}, {0}, {}, {2}},
		"diamond":      {{}, {0}, {0}, {1, 2}},
		"zigzag":       {{}, {}, {}, {0, 1}, {1, 2}},
		"fork-join":    {{}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {0}, {1, 2, 3, 4, 5, 6, 7, 8}},
	}
}

// replanned is a run in which the last step of a plan gave way to two others.
func replanned(deps [][]int) *agent.Run {
	n := len(deps)
	all := append(append([][]int{}, deps[:n-1]...), deps[n-1], []int{n - 1}, deps[n-1])
	run := graphRun(all, 1)
	for _, s := range run.Steps[n-1:] {
		s.Change = agent.ChangeAdded
		run.Revisions[0].Added = append(run.Revisions[0].Added, s.Step.Index)
	}
	run.Revisions[0].Removed[0].Status = agent.StepFailed
	return run
}

// TestPicturesOfTheGraph holds how plans are drawn on the whole screen: as the
// graph fits it, and in ASCII in lines.
func TestPicturesOfTheGraph(t *testing.T) {
	for name, deps := range shapes() {
		for kind, run := range map[string]*agent.Run{"plan": graphRun(deps, 0), "replan": replanned(deps)} {
			t.Run(fmt.Sprintf("%s/%s", name, kind), func(t *testing.T) {
				d := graphPane(run, themes.Mode{}, zoomAuto, planlayout.Down)
				d.SetSize(118, 32)
				golden.RequireEqual(t, panetest.Stripped(d.Lines())+"\n")
			})
			t.Run(fmt.Sprintf("%s/%s in ascii", name, kind), func(t *testing.T) {
				d := graphPane(run, themes.Mode{ASCII: true, NoColor: true}, zoomLine, planlayout.Down)
				d.SetSize(118, 32)
				golden.RequireEqual(t, panetest.Stripped(d.Lines())+"\n")
			})
		}
	}
}

// TestTheGraphIsShownByItselfWhereItSaysMore holds when the pane of the plan shows
// the graph without being asked.
func TestTheGraphIsShownByItselfWhereItSaysMore(t *testing.T) {
	drafting := graphRun(shapes()["diamond"], 0)
	drafting.Revision = 0
	for name, c := range map[string]struct {
		run           *agent.Run
		width, height int
		want          bool
	}{
		"a diamond":                   {graphRun(shapes()["diamond"], 0), 52, 17, true},
		"a chain":                     {graphRun(shapes()["chain"], 0), 80, 30, false},
		"independent steps":           {graphRun(shapes()["independents"], 0), 80, 30, false},
		"a diamond that does not fit": {graphRun(shapes()["diamond"], 0), 40, 4, false},
		"a plan that is drafted":      {drafting, 52, 17, false},
	} {
		d := New(panetest.DarkLook())
		d.Show(c.run)
		d.SetSize(c.width, c.height)
		if d.ShowsGraph() != c.want {
			t.Errorf("%s: as a graph is %v, not %v:\n%s", name, !c.want, c.want, panetest.Stripped(d.Lines()))
		}
	}
}

// TestTheChoiceMovesFromBoxToBox holds where the arrows lead.
func TestTheChoiceMovesFromBoxToBox(t *testing.T) {
	d := graphPane(graphRun(shapes()["diamond"], 0), themes.Mode{}, zoomLine, planlayout.Down)
	d.selectKey("1")
	for _, c := range []struct {
		dx, dy int
		want   string
	}{{0, 1, "2"}, {1, 0, "3"}, {1, 0, "3"}, {0, 1, "4"}, {0, 1, "4"}, {0, -1, "2"}, {0, -1, "1"}, {-1, 0, "1"}} {
		from := d.Selected
		if d.MoveGraph(c.dx, c.dy); d.Selected != c.want {
			t.Errorf("from %s by %d,%d it is %s, not %s", from, c.dx, c.dy, d.Selected, c.want)
		}
	}
	d.Lines()
	b := d.Graph.layers.Boxes[2]
	if d.Clicked(b.X+1-d.Graph.x, b.Y-d.Graph.y); d.Selected != "3" {
		t.Errorf("a click on box 3 chooses %s", d.Selected)
	}
}

// TestTheChosenBoxIsInView holds that a graph larger than its pane shows the box
// that is chosen, also after the view was moved, and stays within the drawing.
func TestTheChosenBoxIsInView(t *testing.T) {
	d := graphPane(graphRun(shapes()["fork-join"], 0), themes.Mode{}, zoomLine, planlayout.Down)
	d.SetSize(40, 4)
	for _, key := range []string{"9", "1", "2", "10"} {
		d.PanGraph(-1000, -1000)
		if d.Lines(); d.Graph.x != 0 || d.Graph.y != 0 {
			t.Fatalf("the view is moved to %d,%d", d.Graph.x, d.Graph.y)
		}
		d.selectKey(key)
		d.Lines()
		b := d.Graph.layers.Boxes[d.graphAt()]
		if view := (draw.Rect{X: d.Graph.x, Y: d.Graph.y, W: d.Width, H: d.graphHeight()}); !view.Contains(b.X, b.Y) || !view.Contains(b.X+b.W-1, b.Y+b.H-1) {
			t.Errorf("box %s is at %+v, the view at %+v", key, b, view)
		}
	}
}

// TestLinesAreLitAsTheyArePassed holds which lines are drawn as passed, and which
// as leading to the chosen step or from it.
func TestLinesAreLitAsTheyArePassed(t *testing.T) {
	run := graphRun([][]int{{}, {0}, {0}, {1, 2}, {3}}, 1) // of which 1 and 4 are done
	run.Steps[3].Status = agent.StepPending
	d := graphPane(run, themes.Mode{}, zoomLine, planlayout.Down)
	d.updateNodes()
	for name, c := range map[string]struct {
		chosen int
		want   map[[2]int]tone // by the first source and the last target of a net
	}{
		"nothing is chosen": {-1, map[[2]int]tone{{1, 3}: tonePassed, {2, 4}: toneCalm, {4, 5}: toneGone}},
		"4 is chosen":       {3, map[[2]int]tone{{1, 3}: toneLit, {2, 4}: toneLit, {4, 5}: toneLit}},
	} {
		k := d.Graph.kinOf(c.chosen, true)
		for i := range d.Graph.layers.Lines {
			w := &d.Graph.layers.Lines[i]
			first, last := 99, 0
			for _, e := range d.Graph.layers.Nets[w.Net].Ends {
				if e.Source {
					first = min(first, e.Node+1)
				} else {
					last = max(last, e.Node+1)
				}
			}
			if got := d.toneOf(w, &k); got != c.want[[2]int{first, last}] {
				t.Errorf("%s: the line %+v from %d to %d has the tone %d, not %d", name, *w, first, last, got, c.want[[2]int{first, last}])
			}
		}
	}
}

// TestStepsThatWereTakenOutKeepTheirEdges holds that what a revision took out is
// joined to what it depended on, in whatever order it stood, and where it only
// referred to a result.
func TestStepsThatWereTakenOutKeepTheirEdges(t *testing.T) {
	run := graphRun([][]int{{}, {0}, {1}, {1}}, 3)
	removed := run.Revisions[0].Removed
	run.Steps[0].Step.ResultVariable = "listed"
	removed[0].Step.DependsOn = nil
	removed[0].Step.Args = map[string]any{"path": "${listed}"}
	slices.Reverse(removed)
	d := graphPane(run, themes.Mode{}, zoomLine, planlayout.Down)
	drawn := d.Lines()
	got := newTracer(drawn[:len(drawn)-1]).edges()
	if want := map[[2]int]bool{{1, 2}: true, {2, 3}: true, {2, 4}: true}; !maps.Equal(got, want) {
		t.Errorf("the edges %v are drawn, not %v:\n%s", got, want, panetest.Stripped(drawn))
	}
}

// TestTitlesAreLeftOutOnNarrowScreens holds that a graph too large for a narrow
// screen is drawn without titles where more of it is seen so.
func TestTitlesAreLeftOutOnNarrowScreens(t *testing.T) {
	chain := [][]int{{}}
	for i := range 39 {
		chain = append(chain, []int{i})
	}
	for name, c := range map[string]struct {
		deps          [][]int
		width, height int
		want          zoom
	}{
		"eight boxes side by side, on 80 columns": {shapes()["fork-join"], 78, 6, zoomSigns},
		"eight boxes side by side, on 40 columns": {shapes()["fork-join"], 38, 6, zoomSigns},
		"eight boxes side by side, a wide screen": {shapes()["fork-join"], 118, 6, zoomLine},
		"a chain of which no more would be seen":  {chain, 78, 20, zoomLine},
	} {
		d := graphPane(graphRun(c.deps, 0), themes.Mode{}, zoomAuto, planlayout.Down)
		d.SetSize(c.width, c.height)
		if d.Lines(); d.Graph.scale.zoom != c.want {
			t.Errorf("%s: drawn in zoom %d, not %d:\n%s", name, d.Graph.scale.zoom, c.want, panetest.Stripped(d.Lines()))
		}
	}
}
