package dag

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/themes"
	"replan/tui/draw"
	"replan/tui/panetest"
)

// itemsPane shows a run whose second step runs for the items of a list.
func itemsPane(run *agent.Run, width int, mode themes.Mode) *Pane {
	l := draw.NewStyles(new(themes.Set).New(themes.Auto, true, mode))
	l.Now = time.Unix(104, 0)
	d := New(l, panetest.Keys())
	resize(d, width, 14)
	focus(d, true)
	d.Show(run)
	d.View()
	return d
}

func TestItemsAreDrawnBelowTheirStep(t *testing.T) {
	for _, c := range []struct {
		name  string
		width int
		mode  themes.Mode
		open  bool
	}{
		{"wide", 80, themes.Mode{}, false},
		{"narrow", 44, themes.Mode{}, false},
		{"expanded", 80, themes.Mode{}, true},
		{"expanded narrow", 44, themes.Mode{}, true},
		{"ascii", 80, themes.Mode{ASCII: true, NoColor: true}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := itemsPane(panetest.EachRun(50, 12), c.width, c.mode)
			d.selectKey("2")
			if c.open {
				d.toggleCalls()
			}
			golden.RequireEqual(t, panetest.Stripped(d.View())+"\n")
		})
	}
}

func TestKeyFoldsItemsFromTheirStepAndFromAnItem(t *testing.T) {
	d := itemsPane(panetest.EachRun(50, 12), 80, themes.Mode{})
	d.selectKey("2")
	if d.toggleFold(); !strings.Contains(panetest.Stripped(d.View()), "2.1 ") {
		t.Fatalf("the items are not shown:\n%s", panetest.Stripped(d.View()))
	}
	d.selectKey("2.3")
	if d.toggleFold(); d.Selected() != callsKey("2") || d.plan.Folds.calls["2"] {
		t.Errorf("%q is selected, and the items are folded: %v", d.Selected(), !d.plan.Folds.calls["2"])
	}
}

func TestSelectionFollowsTheItemAtItsGate(t *testing.T) {
	run := panetest.EachRun(50, 12)
	run.Step("2.14").Status, run.Step("2.15").Status = agent.StepWaiting, agent.StepWaiting
	d := itemsPane(run, 80, themes.Mode{})
	if d.Selected() != callsKey("2") || d.ChosenStep() != run.Step("2.14") {
		t.Errorf("%q is selected", d.Selected())
	}
	if got := panetest.Stripped(d.View()); !strings.Contains(got, "2 ask you  1 failed") {
		t.Errorf("the row does not say that an item asks:\n%s", got)
	}
}

// BenchmarkItems measures a key among 10,000 items, and the layout when they unfold.
func BenchmarkItems(b *testing.B) {
	for _, n := range []int{50, 10_000} {
		run := panetest.EachRun(n, n/2)
		b.Run(fmt.Sprint(n)+"/a move", func(b *testing.B) {
			d := itemsPane(run, 80, themes.Mode{})
			d.plan.Folds.calls["2"], d.stale = true, true
			d.selectKey("2.1")
			by := 1
			for b.Loop() {
				at := d.list.find(d.Selected())
				if d.Move(by); d.list.find(d.Selected()) == at {
					by = -by
				}
				d.View()
			}
		})
		b.Run(fmt.Sprint(n)+"/a fold", func(b *testing.B) {
			d := itemsPane(run, 80, themes.Mode{})
			d.selectKey("2")
			for b.Loop() {
				d.toggleFold()
				d.View()
			}
		})
		b.Run(fmt.Sprint(n)+"/an event", func(b *testing.B) {
			d := itemsPane(run, 80, themes.Mode{})
			d.plan.Folds.calls["2"], d.stale = true, true
			for b.Loop() {
				d.styles.AnimationFrame++
				d.news, d.drawn = true, false
				d.layout()
				d.View()
			}
		})
	}
}
