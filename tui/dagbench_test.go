package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/themes"
)

func BenchmarkPlanPane(b *testing.B) {
	for _, c := range []struct {
		name  string
		run   *agent.Run
		level foldLevel
	}{
		{"fan-outs rolled up", fanRun(1000, 50), foldAuto},
		{"layers rolled up", wideRun(1000), foldAuto},
		{"all unfolded", fanRun(1000, 50), foldNone},
		{"layers unfolded", wideRun(1000), foldNone},
	} {
		pane := func() *dagPane {
			d := newDAGPane(darkLook())
			d.setSize(80, 50)
			d.setFocus(true)
			d.show(c.run)
			d.folds.level = c.level
			d.lines()
			return d
		}
		b.Run(c.name+"/a beat", func(b *testing.B) {
			d := pane()
			for b.Loop() {
				d.look.beat++
				d.look.now = d.look.now.Add(frameTime)
				d.touch()
				d.lines()
				d.title()
				d.summary()
			}
		})
		b.Run(c.name+"/a move", func(b *testing.B) {
			d := pane()
			by := 1
			for b.Loop() {
				at := d.position()
				if d.move(by); d.position() == at {
					by = -by
				}
				d.lines()
			}
		})
		b.Run(c.name+"/a step ends and one starts", func(b *testing.B) {
			d := pane()
			s := d.chart.steps[len(d.chart.steps)/2]
			for b.Loop() {
				if s.Status = agent.StepDone; b.N%2 == 0 {
					s.Status = agent.StepActive
				}
				d.heard(c.run, event.StepStarted{Index: s.Step.Index})
				d.touch()
				d.lines()
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
				d.news, d.replan = true, true
				d.layout()
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
		m.dag.show(wideRun(200))
		m.shown.run = m.dag.run
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
				m.dag.touch()
				m.dag.lines()
			}
		})
		b.Run(name+"/a new plan", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m.dag.graph.built = graphFace{}
				m.dag.layoutGraph()
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
			m.dag.show(wideRun(n))
			m.shown.run = m.dag.run
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
