package tui

import (
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"replan/themes"
	"replan/tui/panes"
	"replan/tui/panetest"
)

// BenchmarkItemsKey measures a key on the whole screen and the view after it, in the plan of a
// run with so many items. Each should take at most 16 ms.
func BenchmarkItemsKey(b *testing.B) {
	down, up, fold := typed('j'), typed('k'), tea.KeyPressMsg{Code: tea.KeySpace, Text: " "}
	for _, n := range []int{50, 10_000} {
		for _, c := range []struct {
			name        string
			first, keys []tea.KeyPressMsg
		}{
			{"move/folded", nil, []tea.KeyPressMsg{down, up}},
			{"move/unfolded", []tea.KeyPressMsg{down, fold}, []tea.KeyPressMsg{down, up}},
			{"fold", []tea.KeyPressMsg{down}, []tea.KeyPressMsg{fold}},
			{"typing", []tea.KeyPressMsg{{Code: tea.KeyTab}}, []tea.KeyPressMsg{typed('a'), {Code: tea.KeyBackspace}}},
		} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				m := New(silent{}, Options{Theme: themes.Dark})
				m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
				m.dag.Show(panetest.EachRun(n, n/2))
				m.live.Shown().State = m.dag.Run()
				m.panes.SetFocus(panes.Plan)
				m.View()
				for _, k := range c.first {
					m.Update(k)
				}
				for i := 0; b.Loop(); i++ {
					m.Update(c.keys[i%len(c.keys)])
					m.View()
				}
			})
		}
	}
}
