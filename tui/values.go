package tui

import (
	"fmt"
	"sort"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/planning/plan"
	"replan/tui/untrusted"
)

// document collects the lines of a pane that scrolls, wrapped to its width.
type document struct {
	look  *look
	width int
	lines []string
	must  int  // lines at its beginning that have to be seen before it is answered
	diffs bool // a diff is among them
	parts []laterPart
}

// laterPart is lines of a document that are drawn when they come into view.
type laterPart struct {
	from, to int
	draw     func(i int) string
}

// later adds n lines that are drawn when they come into view.
func (d *document) later(n int, draw func(i int) string) {
	if n > 0 {
		from := len(d.lines)
		d.lines = append(d.lines, make([]string, n)...)
		d.parts = append(d.parts, laterPart{from, from + n, draw})
	}
}

// drawn draws those lines from one to another that are still to be drawn.
func (d *document) drawn(from, to int) []string {
	for _, p := range d.parts {
		for i := max(from, p.from); i < min(to, p.to); i++ {
			if d.lines[i] == "" {
				d.lines[i] = p.draw(i - p.from)
			}
		}
	}
	return d.lines[from:to]
}

// whole is every line of the document.
func (d *document) whole() []string { return d.drawn(0, len(d.lines)) }

func (d *document) blank() {
	n := len(d.lines)
	if p := len(d.parts); n > 0 && (d.lines[n-1] != "" || p > 0 && d.parts[p-1].to == n) {
		d.lines = append(d.lines, "")
	}
}

// prose adds text that is wrapped between words.
func (d *document) prose(style lipgloss.Style, text string) {
	d.lines = append(d.lines, paint(style, wrap(untrusted.Visible(text), d.width))...)
}

// field adds a named value; its further lines stand under the first.
func (d *document) field(name string, style lipgloss.Style, value string) {
	const column = 9
	if d.width < 24 {
		d.lines = append(d.lines, d.look.cut(d.look.Faint.Render(name), d.width))
		d.prose(style, value)
		return
	}
	name = d.look.fit(name, column)
	for i, line := range wrap(untrusted.Visible(value), d.width-column) {
		if i > 0 {
			name = strings.Repeat(" ", column)
		}
		d.lines = append(d.lines, d.look.Faint.Render(name)+style.Render(line))
	}
}

// output adds what a tool wrote, line by line.
func (d *document) output(style lipgloss.Style, text string) { d.prose(style, text) }

// code adds a call or a diff with every character kept.
func (d *document) code(style lipgloss.Style, text string) {
	d.lines = append(d.lines, paint(style, wrapCode(untrusted.Visible(text), d.width))...)
}

// heading adds the title of a part.
func (d *document) heading(text string) {
	d.blank()
	d.lines = append(d.lines, d.look.Accent.Render(d.look.cut(text, d.width)))
}

// object adds the members of a JSON object, sorted by name, the long ones last.
// Text of several lines stands as a block under its name.
func (d *document) object(value map[string]any) {
	names := make([]string, 0, len(value))
	column := 0
	for name := range value {
		names = append(names, name)
		column = max(column, ansi.StringWidth(untrusted.Line(name)))
	}
	sort.Slice(names, func(i, j int) bool {
		_, a := valueText(value[names[i]])
		_, b := valueText(value[names[j]])
		if a != b {
			return b
		}
		return names[i] < names[j]
	})
	column = min(column, 12, max(d.width/3, 1))
	for _, name := range names {
		d.member(name, column, value[name])
	}
}

func (d *document) member(name string, column int, value any) {
	l := d.look
	label := untrusted.Line(name)
	if ansi.StringWidth(label) > column {
		d.lines = append(d.lines, paint(l.Accent, wrapCode(label, d.width))...)
		label = ""
	}
	text, multi := valueText(value)
	if multi {
		if label != "" {
			d.lines = append(d.lines, l.Accent.Render(label))
		}
		guide := l.Border.Render(l.glyphs.Guide) + " "
		for _, line := range wrapCode(untrusted.Visible(strings.TrimRight(text, "\n")), d.width-2) {
			d.lines = append(d.lines, guide+line)
		}
		return
	}
	for i, line := range wrapCode(untrusted.Visible(text), max(d.width-column-1, 1)) {
		lead := strings.Repeat(" ", column)
		if i == 0 {
			lead = l.Accent.Render(l.fit(label, column))
		}
		d.lines = append(d.lines, lead+" "+line)
	}
}

// rows is the part of the document in view from line top on, which it keeps
// within bounds.
func (d *document) rows(top *int, height int) []string {
	*top = max(min(*top, len(d.lines)-height), 0)
	return d.look.block(d.drawn(*top, min(*top+height, len(d.lines))), d.width, height)
}

// place says which lines are in view, where they are not all.
func (d *document) place(top, height int) string {
	if len(d.lines) <= height {
		return ""
	}
	return d.look.Faint.Render(fmt.Sprintf("%d-%d of %d", top+1, min(top+height, len(d.lines)), len(d.lines)))
}

// call adds what is called, beside its title: the tool, its server and its step.
func (d *document) call(title, tool, server, step string) {
	l := d.look
	var parts []string
	for _, name := range []string{tool, server} {
		if name != "" {
			parts = append(parts, untrusted.Line(name))
		}
	}
	if step != "" {
		parts = append(parts, stepWords(step))
	}
	if title == parts[0] { // a call that a model asks for has no title of its own
		parts = parts[1:]
	}
	call := strings.Join(parts, " "+l.glyphs.Separator+" ")
	d.lines = append(d.lines, flow([]string{
		l.Strong.Render(l.cut(title, d.width)), l.Muted.Render(l.cut(call, d.width)),
	}, "  ", d.width)...)
}

// order is the names of a JSON object's members, those with long values last, and
// the width of the column they stand in.
func (d *document) order(value map[string]any) (names []string, column int) {
	long := map[string]bool{}
	for name, v := range value {
		names = append(names, name)
		column = max(column, ansi.StringWidth(untrusted.Line(name)))
		long[name] = isLong(v)
	}
	sort.Slice(names, func(i, j int) bool {
		if a, b := long[names[i]], long[names[j]]; a != b {
			return b
		}
		return names[i] < names[j]
	})
	return names, min(column, 12, max(d.width/3, 1))
}

// isLong reports whether a value stands as a block of lines.
func isLong(v any) bool {
	if s, ok := v.(string); ok {
		return strings.Contains(s, "\n") || len(s) > longestLine
	}
	_, multi := valueText(v)
	return multi
}

// planNotes writes what a plan says besides its steps: how one will know that its
// goal is met, its milestones and its risks. It writes nothing where there is none.
func (d *document) planNotes(p plan.Plan) {
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

func planNotes(p plan.Plan) []planNote {
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
