package dag

import (
	"replan/agent"
	"replan/tui/draw"
)

// planNotes draws the plan's notes below the steps, in at most room lines. The
// review and the step view show notes that do not fit.
func (d *Pane) planNotes(room int) []string {
	if d.Run == nil || d.Run.Revision == 0 || d.filter.on() || room < 2 || d.Width < 20 {
		return nil
	}
	doc := &draw.Document{Styles: d.Styles, Width: d.Width - 2}
	doc.PlanNotes(d.Run.Plan, agent.AcceptanceOf(d.Run))
	if len(doc.Lines) == 0 {
		return nil
	}
	lines := append([]string{""}, doc.Whole()...)
	lines = lines[:min(len(lines), room)]
	for i, line := range lines {
		lines[i] = d.Styles.Fit(" "+line, d.Width)
	}
	return lines
}
