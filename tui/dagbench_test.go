package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/themes"
	"replan/tui/dag"
	"replan/tui/panetest"
)

func BenchmarkPlanPane(b *testing.B) {
	for _, c := range []struct {
		name  string
		run   *agent.Run
		level dag.FoldLevel
	}{
		{"fan-outs rolled up", panetest.FanRun(1000, 50), dag.FoldAuto},
		{"layers rolled up", panetest.WideRun(1000), dag.FoldAuto},
		{"all unfolded", panetest.FanRun(1000, 50), dag.FoldNone},
		{"layers unfolded", panetest.WideRun(1000), dag.FoldNone},
	} {
		pane := func() *dag.Pane {
			d := dag.New(panetest.DarkLook())
			d.SetSize(80, 50)
			d.SetFocus(true)
			d.Show(c.run)
			d.Folds.Level = c.level
			d.Lines()
			return d
		}
		b.Run(c.name+"/a beat", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.Look.Beat++
				d.Look.Now = d.Look.Now.Add(frameTime)
				d.Touch()
				d.Lines()
				d.Title()
				d.Summary()
			}
		})
		b.Run(c.name+"/a move", func(b *testing.B) {
			d := pane()
			by := 1
			for b.Loop() {
				at := d.Position()
				if d.Move(by); d.Position() == at {
					by = -by
				}
				d.Lines()
			}
		})
		b.Run(c.name+"/a step ends and one starts", func(b *testing.B) {
			d := pane()
			s := d.Chart.Steps[len(d.Chart.Steps)/2]
			for b.Loop() {
				if s.Status = agent.StepCompleted; b.N%2 == 0 {
					s.Status = agent.StepRunning
				}
				d.Heard(c.run, event.StepStarted{Index: s.Step.Index})
				d.Touch()
				d.Lines()
			}
			s.Status = agent.StepPending
		})
		b.Run(c.name+"/laid out again", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.Stale = true
				d.Layout()
			}
		})
		b.Run(c.name+"/a new plan", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.News, d.Replan = true, true
				d.Layout()
			}
		})
	}
}

// BenchmarkGraph is the plan of 200 steps as a graph on the whole screen: a key that
// moves the choice and the screen drawn after it, a beat of the clock, and the
// layout of a new plan.
func BenchmarkGraph(b *testing.B) {
	for _, size := range []struct{ w, h int }{{120, 36}, {200, 60}} {
		m := New(silent{}, Options{Theme: themes.Dark})
		m.Update(tea.WindowSizeMsg{Width: size.w, Height: size.h})
		m.dag.Show(panetest.WideRun(200))
		m.shown.run = m.dag.Run
		m.focus, m.mapped = panePlan, true
		m.Update(typed('g'))
		m.View()
		name := fmt.Sprintf("%dx%d", size.w, size.h)
		b.Run(name+"/a move", func(b *testing.B) {
			b.ReportAllocs()
			down, up := typed('j'), typed('k')
			for b.Loop() {
				m.Update(down)
				m.View()
				m.Update(up)
				m.View()
			}
		})
		b.Run(name+"/a beat", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.dag.Touch()
				m.dag.Lines()
			}
		})
		b.Run(name+"/a new plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.dag.Graph.Built = dag.GraphFace{}
				m.dag.LayoutGraph()
			}
		})
	}
}

// BenchmarkPlanKey is a key in the plan and the screen drawn after it.
func BenchmarkPlanKey(b *testing.B) {
	for _, n := range []int{60, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New(silent{}, Options{Theme: themes.Dark})
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
			m.dag.Show(panetest.WideRun(n))
			m.shown.run = m.dag.Run
			m.focus = panePlan
			m.View()
			down, up := typed('j'), typed('k')
			for b.Loop() {
				m.Update(down)
				m.View()
				m.Update(up)
				m.View()
			}
		})
	}
}

// typed is a press of the key of a letter.
func typed(letter rune) tea.KeyPressMsg { return tea.KeyPressMsg{Code: letter, Text: string(letter)} }
