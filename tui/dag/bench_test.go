package dag

import (
	"fmt"
	"testing"
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/tui/panetest"
)

func BenchmarkPlanPane(b *testing.B) {
	for _, c := range []struct {
		name  string
		run   *agent.Run
		level foldLevel
	}{
		{"fan-outs rolled up", panetest.FanRun(1000, 50), foldAuto},
		{"layers rolled up", panetest.WideRun(1000), foldAuto},
		{"all unfolded", panetest.FanRun(1000, 50), foldNone},
		{"layers unfolded", panetest.WideRun(1000), foldNone},
	} {
		pane := func() *Pane {
			d := New(panetest.DarkLook(), panetest.Keys())
			resize(d, 80, 50)
			focus(d, true)
			d.Show(c.run)
			d.plan.Folds.Level = c.level
			d.View()
			return d
		}
		b.Run(c.name+"/a beat", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.styles.AnimationFrame++
				d.styles.Now = d.styles.Now.Add(time.Second / 10)
				d.Invalidate()
				d.View()
				d.Title()
				d.Summary()
			}
		})
		b.Run(c.name+"/a move", func(b *testing.B) {
			d := pane()
			by := 1
			for b.Loop() {
				at := d.list.find(d.Selected())
				if d.Move(by); d.list.find(d.Selected()) == at {
					by = -by
				}
				d.View()
			}
		})
		b.Run(c.name+"/a step ends and one starts", func(b *testing.B) {
			d := pane()
			s := d.plan.Chart.Steps[len(d.plan.Chart.Steps)/2]
			for b.Loop() {
				if s.Status = agent.StepCompleted; b.N%2 == 0 {
					s.Status = agent.StepRunning
				}
				d.ApplyEvent(c.run, event.StepStarted{Index: s.Step.Index})
				d.Invalidate()
				d.View()
			}
			s.Status = agent.StepPending
		})
		b.Run(c.name+"/laid out again", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.stale = true
				d.layout()
			}
		})
		b.Run(c.name+"/a new plan", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.news, d.plan.replan = true, true
				d.layout()
			}
		})
	}
}

// BenchmarkGraph measures a graph of 200 steps: a beat of the clock, and the layout
// of a new plan.
func BenchmarkGraph(b *testing.B) {
	for _, size := range []struct{ w, h int }{{118, 32}, {198, 56}} {
		d := New(panetest.DarkLook(), panetest.Keys())
		resize(d, size.w, size.h)
		d.Show(panetest.WideRun(200))
		d.graph.mode = graphAlways
		name := fmt.Sprintf("%dx%d", size.w, size.h)
		b.Run(name+"/a beat", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.Invalidate()
				d.View()
			}
		})
		b.Run(name+"/a new plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d.graph.built = graphFace{}
				d.ShowsGraph()
			}
		})
	}
}
