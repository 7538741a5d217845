package tui

import (
	"strings"

	"replan/planning"
	"replan/tui/untrusted"
)

// planNotes writes what a plan says besides its steps: how one will know that its
// goal is met, its milestones and its risks. It writes nothing where there is none.
func (d *document) planNotes(p planning.Plan) {
	l := d.look
	notes := planNotes(p)
	if len(notes) == 0 {
		return
	}
	d.heading("about the plan")
	for _, note := range notes {
		d.field(note.name, l.Muted, note.text)
	}
}

// planNote is one thing that a plan says besides its steps.
type planNote struct{ name, text string }

func planNotes(p planning.Plan) []planNote {
	var notes []planNote
	if p.DoneWhen != "" {
		notes = append(notes, planNote{"done if", p.DoneWhen})
	}
	for _, m := range p.Milestones {
		text := m.Title
		if len(m.Steps) > 0 {
			text += " (" + strings.Join(m.Steps, ", ") + ")"
		}
		notes = append(notes, planNote{"stage", text})
	}
	for _, risk := range p.Risks {
		notes = append(notes, planNote{"risk", risk})
	}
	return notes
}

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

// milestone is the title of the part of the plan that a step belongs to, "" for
// none.
func milestone(p planning.Plan, index string) string {
	for _, m := range p.Milestones {
		for _, step := range m.Steps {
			if step == index {
				return untrusted.Line(m.Title)
			}
		}
	}
	return ""
}
