package tui

import (
	tea "charm.land/bubbletea/v2"
)

// graphActions work on the plan as a graph.
func (m *Model) graphActions() handlers {
	d := m.dag
	move := func(dx, dy int) func() wanted {
		return just(func() {
			d.moveGraph(dx, dy)
			m.refresh()
		})
	}
	pan := func(dx, dy int) func() wanted {
		return just(func() { d.panGraph(dx*max(d.width/4, 1), dy*max(d.height/4, 1)) })
	}
	return handlers{
		"plan.map":       {refuse: m.noMap, do: just(m.turnMap)},
		"plan.graph":     {refuse: m.noMap, do: m.inPlan(m.turnGraph)},
		"plan.left":      {refuse: m.noGraph, do: move(-1, 0)},
		"plan.right":     {refuse: m.noGraph, do: move(1, 0)},
		"plan.pan_left":  {refuse: m.noGraph, do: pan(-1, 0)},
		"plan.pan_right": {refuse: m.noGraph, do: pan(1, 0)},
		"plan.pan_up":    {refuse: m.noGraph, do: pan(0, -1)},
		"plan.pan_down":  {refuse: m.noGraph, do: pan(0, 1)},
		"plan.zoom_in":   {refuse: m.noGraph, do: m.inPlan(func() string { return d.zoomGraph(1) })},
		"plan.zoom_out":  {refuse: m.noGraph, do: m.inPlan(func() string { return d.zoomGraph(-1) })},
	}
}

// noMap is why there is nothing to draw a graph of.
func (m *Model) noMap() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could be drawn as a graph."
	}
	return ""
}

// noGraph is why a key of the graph does nothing.
func (m *Model) noGraph() string {
	if word := m.noMap(); word != "" {
		return word
	}
	if !m.dag.showsGraph() {
		return "The plan is shown as a list: " + m.keys.AsGraph.Help().Key + " shows the graph, " + m.keys.Map.Help().Key + " on the whole screen."
	}
	return ""
}

// turnMap gives the graph the whole screen, or the pane again.
func (m *Model) turnMap() {
	m.mapped = !m.mapped
	m.dag.graph.loose = false
}

// turnGraph shows the plan as a list in place of the graph, or as a graph, and
// says which.
func (m *Model) turnGraph() (word string) {
	m.mapped = false
	return m.dag.turnGraph()
}

// inList is an action on rows of the list, which it shows in place of the graph.
func (m *Model) inList(f func() (word string)) func() wanted {
	return m.inPlan(func() string {
		if m.dag.showsGraph() {
			m.turnGraph()
		}
		return f()
	})
}

// mapping reports whether the graph has the whole screen.
func (m *Model) mapping() bool { return m.mapped && m.focus == panePlan }

// mapScreen draws the plan on the whole screen.
func (m *Model) mapScreen() []string {
	lines := m.dag.lines()
	return m.look.frame(m.layout.width, m.look.Focus, section{
		title: m.paneTitle(m.dag.title(), true), note: m.dag.summary(), lines: lines, style: m.edgeStyle(panePlan),
	})
}

// wheelGraph moves the view of the graph to the side, where the wheel is turned
// or pushed so over it, and reports whether it was.
func (m *Model) wheelGraph(at tea.Mouse) bool {
	by := 2 * wheelStep
	switch {
	case at.Button == tea.MouseWheelLeft, at.Button == tea.MouseWheelUp && at.Mod.Contains(tea.ModShift):
		by = -by
	case at.Button == tea.MouseWheelRight, at.Button == tea.MouseWheelDown && at.Mod.Contains(tea.ModShift):
	default:
		return false
	}
	if p, _ := m.layout.at(at.X, at.Y); p != panePlan || m.over() != nil || !m.dag.showsGraph() {
		return false
	}
	m.dag.panGraph(by, 0)
	return true
}
