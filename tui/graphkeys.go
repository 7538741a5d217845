package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/draw"
	"replan/tui/keymap"
)

// graphActions returns the actions on the plan's graph.
func (m *Model) graphActions() keymap.Handlers {
	d := m.dag
	move := func(dx, dy int) func() keymap.Wanted {
		return keymap.Just(func() {
			d.MoveGraph(dx, dy)
			m.refresh()
		})
	}
	pan := func(dx, dy int) func() keymap.Wanted {
		return keymap.Just(func() { d.PanGraph(dx*max(d.Width/4, 1), dy*max(d.Height/4, 1)) })
	}
	return keymap.Handlers{
		"plan.map":       {Refuse: m.noMap, Do: keymap.Just(m.turnMap)},
		"plan.graph":     {Refuse: m.noMap, Do: m.inPlan(m.turnGraph)},
		"plan.left":      {Refuse: m.noGraph, Do: move(-1, 0)},
		"plan.right":     {Refuse: m.noGraph, Do: move(1, 0)},
		"plan.pan_left":  {Refuse: m.noGraph, Do: pan(-1, 0)},
		"plan.pan_right": {Refuse: m.noGraph, Do: pan(1, 0)},
		"plan.pan_up":    {Refuse: m.noGraph, Do: pan(0, -1)},
		"plan.pan_down":  {Refuse: m.noGraph, Do: pan(0, 1)},
		"plan.zoom_in":   {Refuse: m.noGraph, Do: m.inPlan(func() string { return d.ZoomGraph(1) })},
		"plan.zoom_out":  {Refuse: m.noGraph, Do: m.inPlan(func() string { return d.ZoomGraph(-1) })},
	}
}

// noMap returns why there is no graph to draw.
func (m *Model) noMap() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could be drawn as a graph."
	}
	return ""
}

// noGraph returns why a key of the graph does nothing.
func (m *Model) noGraph() string {
	if word := m.noMap(); word != "" {
		return word
	}
	if !m.dag.ShowsGraph() {
		return "The plan is shown as a list: " + m.keys.AsGraph.Help().Key + " shows the graph, " + m.keys.Map.Help().Key + " on the whole screen."
	}
	return ""
}

// turnMap switches the graph between the whole screen and the pane.
func (m *Model) turnMap() {
	m.mapped = !m.mapped
	m.dag.Graph.Loose = false
}

// turnGraph switches the plan between list and graph, and returns a message
// that says which.
func (m *Model) turnGraph() (word string) {
	m.mapped = false
	return m.dag.TurnGraph()
}

// inList returns an action on the rows of the list. It replaces the graph with
// the list first.
func (m *Model) inList(f func() (word string)) func() keymap.Wanted {
	return m.inPlan(func() string {
		if m.dag.ShowsGraph() {
			m.turnGraph()
		}
		return f()
	})
}

// mapping reports whether the graph fills the screen.
func (m *Model) mapping() bool { return m.mapped && m.focus == panePlan }

// mapScreen draws the plan on the whole screen.
func (m *Model) mapScreen() []string {
	lines := m.dag.Lines()
	return m.look.Frame(m.layout.width, m.look.Focus, draw.Section{
		Title: m.paneTitle(m.dag.Title(), true), Note: m.dag.Summary(), Lines: lines, Style: m.edgeStyle(panePlan),
	})
}

// wheelGraph scrolls the graph sideways for a horizontal wheel or shift with
// the wheel. It reports whether it did.
func (m *Model) wheelGraph(at tea.Mouse) bool {
	by := 2 * draw.WheelStep
	switch {
	case at.Button == tea.MouseWheelLeft, at.Button == tea.MouseWheelUp && at.Mod.Contains(tea.ModShift):
		by = -by
	case at.Button == tea.MouseWheelRight, at.Button == tea.MouseWheelDown && at.Mod.Contains(tea.ModShift):
	default:
		return false
	}
	if p, _ := m.layout.at(at.X, at.Y); p != panePlan || m.over() != nil || !m.dag.ShowsGraph() {
		return false
	}
	m.dag.PanGraph(by, 0)
	return true
}
