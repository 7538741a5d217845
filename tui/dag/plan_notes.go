package dag

import (
	"replan/agent"
	"replan/tui/draw"
)

// notes draws the plan's notes below the steps, in at most room lines. The
// review and the step view show notes that do not fit.
func (v *shownPlan) notes(width, room int) []string {
	if v.Run == nil || v.Run.Revision == 0 || room < 2 || width < 20 {
		return nil
	}
	doc := &draw.Document{Styles: v.styles, Width: width - 2}
	acceptance := agent.AcceptanceOf(v.Run)
	if v.Run.Undone != nil {
		acceptance = nil // the run's changes are gone
	}
	doc.PlanNotes(v.Run.Plan, acceptance)
	if len(doc.Lines) == 0 {
		return nil
	}
	lines := append([]string{""}, doc.Whole()...)
	lines = lines[:min(len(lines), room)]
	for i, line := range lines {
		lines[i] = v.styles.Fit(" "+line, width)
	}
	return lines
}
