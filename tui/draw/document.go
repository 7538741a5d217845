package draw

import (
	"sort"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/wording"
)

// Document collects the lines of a scrolling pane, wrapped to its width.
type Document struct {
	Styles *Styles
	Width  int
	Lines  []string
	Diffs  bool // it contains a diff
	files  []int
	hunks  []int
	exact  bool // it shows a call to approve: values show invisible characters
	parts  []laterPart
}

// laterPart is a range of lines drawn only when they come into view.
type laterPart struct {
	from, to int
	draw     func(i int) string
}

// later adds n lines that are drawn only when they come into view.
func (d *Document) later(n int, draw func(i int) string) {
	if n > 0 {
		from := len(d.Lines)
		d.Lines = append(d.Lines, make([]string, n)...)
		d.parts = append(d.parts, laterPart{from, from + n, draw})
	}
}

// Files returns the first line of each file of the diffs, in order.
func (d *Document) Files() []int { return d.files }

// HunkLines returns the first line of each hunk of the diffs, in order.
func (d *Document) HunkLines() []int { return d.hunks }

// drawn returns lines from to to, drawing those that are not drawn yet.
func (d *Document) drawn(from, to int) []string {
	for _, p := range d.parts {
		for i := max(from, p.from); i < min(to, p.to); i++ {
			if d.Lines[i] == "" {
				d.Lines[i] = p.draw(i - p.from)
			}
		}
	}
	return d.Lines[from:to]
}

// Whole returns every line of the document.
func (d *Document) Whole() []string { return d.drawn(0, len(d.Lines)) }

// Add adds drawn lines.
func (d *Document) Add(lines ...string) { d.Lines = append(d.Lines, lines...) }

// ShowExact has values show invisible characters: they are of a call to approve.
func (d *Document) ShowExact() { d.exact = true }

// SetWidth changes the width of what is added from now on, in cells.
func (d *Document) SetWidth(width int) { d.Width = width }

// CutLines adds each text as one line and cuts long ones.
func (d *Document) CutLines(style lipgloss.Style, texts []string) {
	for _, text := range texts {
		d.Add(style.Render(d.Styles.Cut(untrusted.Line(text), d.Width)))
	}
}

// take returns the lines so far, and starts again without any.
func (d *Document) take() []string {
	lines := d.Lines
	d.Lines = nil
	return lines
}

// Blank appends an empty line unless the last line is empty.
func (d *Document) Blank() {
	n := len(d.Lines)
	if p := len(d.parts); n > 0 && (d.Lines[n-1] != "" || p > 0 && d.parts[p-1].to == n) {
		d.Add("")
	}
}

// Prose adds word-wrapped text.
func (d *Document) Prose(style lipgloss.Style, text string) {
	d.Add(Paint(style, Wrap(untrusted.Visible(text), d.Width))...)
}

// Field adds a named value; its continuation lines align with the first.
func (d *Document) Field(name string, style lipgloss.Style, value string) {
	d.FieldLines(name, func(width int) []string { return Paint(style, Wrap(untrusted.Visible(value), width)) })
}

// FieldLines adds a named value of drawn lines.
func (d *Document) FieldLines(name string, value func(width int) []string) {
	const column = 9
	if d.Width < 24 {
		d.Add(d.Styles.Cut(d.Styles.Faint.Render(name), d.Width))
		d.Add(value(d.Width)...)
		return
	}
	faint := func(name string) string { return d.Styles.Faint.Render(d.Styles.Fit(name, column)) }
	d.Add(leadWith(faint(name), faint(""), value(d.Width-column))...)
}

// Item adds word-wrapped text behind a lead; its continuation lines align with the
// first.
func (d *Document) Item(lead string, style lipgloss.Style, text string) {
	room := max(d.Width-VisibleWidth(lead), 1)
	d.Add(Hang(lead, Paint(style, Wrap(untrusted.Visible(text), room)))...)
}

// Output adds tool output.
func (d *Document) Output(style lipgloss.Style, text string) { d.Prose(style, text) }

// Code adds a call or a diff and keeps every character.
func (d *Document) Code(style lipgloss.Style, text string) {
	d.Add(Paint(style, WrapCode(untrusted.Visible(text), d.Width))...)
}

// Heading adds a section title.
func (d *Document) Heading(text string) {
	d.Blank()
	d.Add(d.Title(text))
}

// Title draws the title of a section.
func (d *Document) Title(text string) string {
	return d.Styles.Accent.Render(d.Styles.Cut(text, d.Width))
}

// Object adds the members of a JSON object, sorted by name, long ones last.
// Text of several lines becomes a block below its name.
func (d *Document) Object(value map[string]any) {
	names, column := d.Order(value)
	for _, name := range names {
		d.Member(name, column, value[name])
	}
}

// Member appends a named value and pads the name to column.
func (d *Document) Member(name string, column int, value any) {
	l := d.Styles
	label := untrusted.Line(name)
	if ansi.StringWidth(label) > column {
		d.Add(Paint(l.Accent, WrapCode(label, d.Width))...)
		label = ""
	}
	text, multi := wording.ValueText(value)
	if d.exact {
		text, multi = wording.MarkedValue(value)
	}
	if multi {
		if label != "" {
			d.Add(l.Accent.Render(label))
		}
		guide := l.Border.Render(l.Glyphs.Guide) + " "
		for _, line := range WrapCode(untrusted.Visible(strings.TrimRight(text, "\n")), d.Width-2) {
			d.Add(guide + line)
		}
		return
	}
	lead := l.Accent.Render(l.Fit(label, column)) + " "
	d.Add(Hang(lead, WrapCode(untrusted.Visible(text), max(d.Width-column-1, 1)))...)
}

// Rows returns the visible part of the document from line top, which it keeps
// within bounds.
func (d *Document) Rows(top *int, height int) []string {
	*top = max(min(*top, len(d.Lines)-height), 0)
	return d.Styles.Block(d.drawn(*top, min(*top+height, len(d.Lines))), d.Width, height)
}

// Place returns which lines are in view, or "" if all are.
func (d *Document) Place(top, height int) string {
	return d.Styles.Span(top, min(top+height, len(d.Lines)), len(d.Lines))
}

// Call adds what is called beside its title: tool, server and step.
func (d *Document) Call(title, tool, server, step string) {
	l := d.Styles
	var parts []string
	for _, name := range []string{tool, server} {
		if name != "" {
			parts = append(parts, untrusted.Line(name))
		}
	}
	if step != "" {
		parts = append(parts, wording.StepWords(step))
	}
	if title == parts[0] { // a model's call has no title of its own
		parts = parts[1:]
	}
	call := strings.Join(parts, " "+l.Glyphs.Separator+" ")
	d.Add(Flow([]string{
		l.Strong.Render(l.Cut(title, d.Width)), l.Muted.Render(l.Cut(call, d.Width)),
	}, "  ", d.Width)...)
}

// Order returns the member names of a JSON object, long values last, and the
// width of the name column.
func (d *Document) Order(value map[string]any) (names []string, column int) {
	long := map[string]bool{}
	for name, v := range value {
		names = append(names, name)
		column = max(column, ansi.StringWidth(untrusted.Line(name)))
		long[name] = IsLong(v)
	}
	sort.Slice(names, func(i, j int) bool {
		if a, b := long[names[i]], long[names[j]]; a != b {
			return b
		}
		return names[i] < names[j]
	})
	return names, min(column, 12, max(d.Width/3, 1))
}

// IsLong reports whether a value takes a block of lines.
func IsLong(v any) bool {
	if s, ok := v.(string); ok {
		return strings.Contains(s, "\n") || len(s) > LongestLine
	}
	_, multi := wording.ValueText(v)
	return multi
}

// PlanNotes adds the plan's notes besides its steps: success criteria, what is known
// about its acceptance, milestones and risks. It adds nothing if there are none.
func (d *Document) PlanNotes(p plan.Plan, acceptance []plan.Evidence) {
	notes := d.Styles.PlanNotes(p, d.Width, false)
	if p.DoneWhen == "" && len(notes) == 0 && len(acceptance) == 0 {
		return
	}
	d.Heading("about the plan")
	if p.DoneWhen != "" {
		d.Field("done if", d.Styles.Muted, p.DoneWhen.Visible())
	}
	for _, e := range acceptance {
		glyph, style := EvidenceGlyph(d.Styles, e.State)
		d.Item(style.Render(glyph)+" ", style, wording.EvidenceLine(e))
	}
	d.Add(notes...)
}

// PlanNotes draws the milestones and risks of a plan, each behind its sign. If cut,
// each has one line.
func (l *Styles) PlanNotes(p plan.Plan, width int, cut bool) []string {
	var lines []string
	note := func(sign, name, text string) {
		rows := Wrap(name+": "+text, max(width-2, 1))
		if cut {
			rows = []string{l.Cut(name+": "+text, max(width-2, 1))}
		}
		lines = append(lines, Hang(sign+" ", Paint(l.Muted, rows))...)
	}
	for _, m := range p.Milestones {
		text := m.Title.Line()
		if len(m.Steps) > 0 {
			text += " (" + untrusted.Line(strings.Join(m.Steps, ", ")) + ")"
		}
		note(l.Accent.Render(l.Glyphs.Milestone), "milestone", Unmarked(text))
	}
	for _, risk := range p.Risks {
		note(l.Warning.Render(l.Glyphs.Warning), "risk", Unmarked(untrusted.Line(risk)))
	}
	return lines
}
