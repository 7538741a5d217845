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

// shapes returns plans whose drawings have goldens.
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

// replanned returns a run in which two steps replaced the last step of a plan.
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

// TestGraphDrawings draws plans on the whole screen: at the zoom that fits, and in
// ASCII at one line per box.
func TestGraphDrawings(t *testing.T) {
	for name, deps := range shapes() {
		for kind, run := range map[string]*agent.Run{"plan": graphRun(deps, 0), "replan": replanned(deps)} {
			t.Run(fmt.Sprintf("%s/%s", name, kind), func(t *testing.T) {
				d := graphPane(run, themes.Mode{}, zoomAuto, planlayout.Down)
				resize(d, 118, 32)
				golden.RequireEqual(t, panetest.Stripped(d.View())+"\n")
			})
			t.Run(fmt.Sprintf("%s/%s in ascii", name, kind), func(t *testing.T) {
				d := graphPane(run, themes.Mode{ASCII: true, NoColor: true}, zoomLine, planlayout.Down)
				resize(d, 118, 32)
				golden.RequireEqual(t, panetest.Stripped(d.View())+"\n")
			})
		}
	}
}

// TestGraphIsShownByDefaultOnlyIfUseful checks when the pane of the plan shows the
// graph by default.
func TestGraphIsShownByDefaultOnlyIfUseful(t *testing.T) {
	drafting := graphRun(shapes()["diamond"], 0)
	drafting.Revision = 0
	long := func(n int) *agent.Run { // with n titles that are too long for a box
		run := graphRun(shapes()["diamond"], 0)
		for _, s := range run.Steps[:n] {
			s.Step.Title = "Read everything that the handler of sessions calls"
		}
		return run
	}
	for name, c := range map[string]struct {
		run           *agent.Run
		width, height int
		want          bool
	}{
		"a diamond":                 {graphRun(shapes()["diamond"], 0), 52, 17, true},
		"a chain":                   {graphRun(shapes()["chain"], 0), 80, 30, false},
		"independent steps":         {graphRun(shapes()["independents"], 0), 80, 30, false},
		"diamond that does not fit": {graphRun(shapes()["diamond"], 0), 40, 4, false},
		"drafted plan":              {drafting, 52, 17, false},
		"half of the titles cut":    {long(2), 60, 24, true},
		"most titles cut":           {long(3), 60, 24, false},
	} {
		d := New(panetest.DarkLook(), panetest.Keys())
		d.Show(c.run)
		resize(d, c.width, c.height)
		if d.ShowsGraph() != c.want {
			t.Errorf("%s: got graph %v, want %v:\n%s", name, !c.want, c.want, panetest.Stripped(d.View()))
		}
	}
}

// TestArrowsMoveBetweenBoxes checks which box each arrow selects.
func TestArrowsMoveBetweenBoxes(t *testing.T) {
	d := graphPane(graphRun(shapes()["diamond"], 0), themes.Mode{}, zoomLine, planlayout.Down)
	d.selectKey("1")
	for _, c := range []struct {
		dx, dy int
		want   string
	}{{0, 1, "2"}, {1, 0, "3"}, {1, 0, "3"}, {0, 1, "4"}, {0, 1, "4"}, {0, -1, "2"}, {0, -1, "1"}, {-1, 0, "1"}} {
		from := d.Selected()
		if d.chooseNode(d.graph.neighbor(d.node(), c.dx, c.dy)); d.Selected() != c.want {
			t.Errorf("from %s by %d,%d: got %s, want %s", from, c.dx, c.dy, d.Selected(), c.want)
		}
	}
	d.View()
	b := d.graph.layers.Boxes[2]
	if d.clicked(b.X+1-d.graph.x, b.Y-d.graph.y); d.Selected() != "3" {
		t.Errorf("a click on box 3 selects %s", d.Selected())
	}
}

// TestSelectedBoxIsInView checks that a graph larger than its pane shows the
// selected box, also after the view was moved, and that the view stays within the
// drawing.
func TestSelectedBoxIsInView(t *testing.T) {
	d := graphPane(graphRun(shapes()["fork-join"], 0), themes.Mode{}, zoomLine, planlayout.Down)
	resize(d, 40, 4)
	for _, key := range []string{"9", "1", "2", "10"} {
		d.scroll(-1000, -1000)
		if d.View(); d.graph.x != 0 || d.graph.y != 0 {
			t.Fatalf("the view is moved to %d,%d", d.graph.x, d.graph.y)
		}
		d.selectKey(key)
		d.View()
		b := d.graph.layers.Boxes[d.node()]
		if view := (draw.Rect{X: d.graph.x, Y: d.graph.y, W: d.state.Size.W, H: d.graph.body()}); !view.Contains(b.X, b.Y) || !view.Contains(b.X+b.W-1, b.Y+b.H-1) {
			t.Errorf("box %s is at %+v, the view at %+v", key, b, view)
		}
	}
}

// TestLineTonesFollowProgressAndSelection checks which lines are drawn as passed,
// and which as connected to the selected step.
func TestLineTonesFollowProgressAndSelection(t *testing.T) {
	run := graphRun([][]int{{}, {0}, {0}, {1, 2}, {3}}, 1) // of which 1 and 4 are done
	run.Steps[3].Status = agent.StepPending
	d := graphPane(run, themes.Mode{}, zoomLine, planlayout.Down)
	d.graph.updateNodes()
	for name, c := range map[string]struct {
		chosen int
		want   map[[2]int]tone // by the first source and the last target of a net
	}{
		"no selection":    {-1, map[[2]int]tone{{1, 3}: tonePassed, {2, 4}: toneCalm, {4, 5}: toneGone}},
		"step 4 selected": {3, map[[2]int]tone{{1, 3}: toneLit, {2, 4}: toneLit, {4, 5}: toneLit}},
	} {
		k := d.graph.relationOf(c.chosen, true)
		for i := range d.graph.layers.Lines {
			w := &d.graph.layers.Lines[i]
			first, last := 99, 0
			for _, e := range d.graph.layers.Nets[w.Net].Ends {
				if e.Source {
					first = min(first, e.Node+1)
				} else {
					last = max(last, e.Node+1)
				}
			}
			if got := d.graph.toneOf(w, &k); got != c.want[[2]int{first, last}] {
				t.Errorf("%s: the line %+v from %d to %d has the tone %d, want %d", name, *w, first, last, got, c.want[[2]int{first, last}])
			}
		}
	}
}

// TestRemovedStepsKeepTheirEdges checks that a removed step is joined to its
// dependencies, in any order, and also if it only referred to a result.
func TestRemovedStepsKeepTheirEdges(t *testing.T) {
	run := graphRun([][]int{{}, {0}, {1}, {1}}, 3)
	removed := run.Revisions[0].Removed
	run.Steps[0].Step.ResultVariable = "listed"
	removed[0].Step.DependsOn = nil
	removed[0].Step.Args = map[string]any{"path": "${listed}"}
	slices.Reverse(removed)
	d := graphPane(run, themes.Mode{}, zoomLine, planlayout.Down)
	drawn := d.View()
	got := newTracer(drawn[:len(drawn)-1]).edges()
	if want := map[[2]int]bool{{1, 2}: true, {2, 3}: true, {2, 4}: true}; !maps.Equal(got, want) {
		t.Errorf("got edges %v, want %v:\n%s", got, want, panetest.Stripped(drawn))
	}
}

// TestNarrowScreensOmitTitles checks that a graph too large for a narrow screen is
// drawn without titles if that shows more of it.
func TestNarrowScreensOmitTitles(t *testing.T) {
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
		"chain that would show no more":           {chain, 78, 20, zoomLine},
	} {
		d := graphPane(graphRun(c.deps, 0), themes.Mode{}, zoomAuto, planlayout.Down)
		resize(d, c.width, c.height)
		if d.View(); d.graph.scale.zoom != c.want {
			t.Errorf("%s: got zoom %d, want %d:\n%s", name, d.graph.scale.zoom, c.want, panetest.Stripped(d.View()))
		}
	}
}
