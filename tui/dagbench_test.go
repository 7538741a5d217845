package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/themes"
	"replan/tui/panes"
	"replan/tui/panetest"
)

// BenchmarkGraph measures a key that moves the selection in a graph of 200 steps
// on the whole screen, and the screen drawn after it.
func BenchmarkGraph(b *testing.B) {
	for _, size := range []struct{ w, h int }{{120, 36}, {200, 60}} {
		m := New(silent{}, Options{Theme: themes.Dark})
		m.Update(tea.WindowSizeMsg{Width: size.w, Height: size.h})
		m.dag.Show(panetest.WideRun(200))
		m.live.Shown().State = m.dag.Run()
		m.panes.SetFocus(panes.Plan)
		m.dag.TurnMap()
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
	}
}

// BenchmarkPlanKey measures a key in the plan and the screen drawn after it.
func BenchmarkPlanKey(b *testing.B) {
	for _, n := range []int{60, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := New(silent{}, Options{Theme: themes.Dark})
			m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
			m.dag.Show(panetest.WideRun(n))
			m.live.Shown().State = m.dag.Run()
			m.panes.SetFocus(panes.Plan)
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
