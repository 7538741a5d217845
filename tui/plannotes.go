package tui

// planNotes draws below the steps what the plan says besides them, in at most
// room lines; what finds no room is left to the review and the step.
func (d *dagPane) planNotes(room int) []string {
	if d.run == nil || d.run.Revision == 0 || d.filter.on() || room < 2 || d.width < 20 {
		return nil
	}
	doc := &document{look: d.look, width: d.width - 2}
	doc.planNotes(d.run.Plan)
	if len(doc.lines) == 0 {
		return nil
	}
	lines := append([]string{""}, doc.whole()...)
	lines = lines[:min(len(lines), room)]
	for i, line := range lines {
		lines[i] = d.look.fit(" "+line, d.width)
	}
	return lines
}
