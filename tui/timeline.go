package tui

import (
	tea "charm.land/bubbletea/v2"

	"replan/tui/dag"
	"replan/tui/draw"
)

// noTimeline returns why there is no timeline.
func (m *Model) noTimeline() string {
	if m.shown.run == nil || len(m.shown.run.Steps) == 0 {
		return "There are no steps yet that could stand on a timeline."
	}
	return ""
}

// lookInto chooses a step in the plan and focuses it, even if a revision has
// removed it.
func (m *Model) lookInto(index string) {
	d := m.dag
	key := index
	if run := m.shown.run; run.Step(index) == nil {
		for i := range run.Revisions {
			r := &run.Revisions[i]
			for j := range r.Removed {
				if r.Removed[j].Step.Index == index {
					d.Open[r.Number], d.Stale = true, true
					key = dag.GoneKey(r, index)
				}
			}
		}
	}
	d.Reveal(key)
	m.focus = paneStep
	m.refresh()
}

// openTimeline opens the timeline at the step chosen in the plan. Its bars grow
// during the run.
func (m *Model) openTimeline() tea.Cmd {
	d := m.timeline
	d.Open, d.List, d.Run, d.Wish = true, draw.List{}, nil, ""
	if r := m.dag.Chosen(); r != nil && r.Step != nil {
		d.Wish = r.Step.Step.Index
		if r.Step.Parent != "" {
			d.Wish = r.Step.Parent
		}
	}
	d.Update(m.shown.run)
	return m.Animate()
}

// grows reports whether bars of an open timeline are growing.
func (m *Model) grows() bool { return m.timeline.Open && !m.closed && m.shown.goes() }
