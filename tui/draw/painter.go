package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	planlayout "replan/planning/plan/layout"
)

// Painter builds a row from left to right.
type Painter struct {
	LitLine
	B      strings.Builder
	Width  int
	Lights bool // the row is selected and highlighted
}

// Start begins a row with the cursor.
func (p *Painter) Start() {
	p.B.WriteString(p.Cursor)
	p.Width = 1
}

// Add appends text in a style.
func (p *Painter) Add(style lipgloss.Style, text string) {
	if text != "" {
		p.B.WriteString(p.Lit(style).Render(text))
		p.Width += ansi.StringWidth(text)
	}
}

// Gap appends blank cells. They show only on the selected row.
func (p *Painter) Gap(cells int) {
	switch {
	case cells <= 0:
	case p.Lights:
		p.Add(p.styles.Text, strings.Repeat(" ", cells))
	default:
		p.B.WriteString(strings.Repeat(" ", cells))
		p.Width += cells
	}
}

// StepCell is a text of a step's row and its style.
type StepCell struct {
	Style lipgloss.Style
	Text  string
}

// StepColumns holds the widths of the columns of a step's row, in cells. A row
// without a column for the title or the tool has a Title or Tool of 0.
type StepColumns struct{ Index, Title, Tool int }

// Step appends the columns of a step: its index at the right of its column, its
// title with what follows it, and its tool. Title and tail must fit their column.
func (p *Painter) Step(c StepColumns, index, title, tail, tool StepCell) {
	number := p.styles.Cut(index.Text, c.Index)
	p.Gap(1 + c.Index - ansi.StringWidth(number))
	p.Add(index.Style, number)
	if c.Title > 0 {
		p.Gap(1)
		p.Add(title.Style, title.Text)
		p.Add(tail.Style, tail.Text)
		p.Gap(c.Title - ansi.StringWidth(title.Text) - ansi.StringWidth(tail.Text))
	}
	if c.Tool > 0 {
		name := p.styles.Cut(tool.Text, c.Tool)
		p.Gap(2)
		p.Add(tool.Style, name)
		p.Gap(c.Tool - ansi.StringWidth(name))
	}
}

// BreakTitle cuts a title to room cells. If whole, it breaks the title between words
// instead, and returns the rest for a second line.
func (l *Styles) BreakTitle(title string, room int, whole bool) (first, rest string) {
	if !whole || ansi.StringWidth(title) <= room {
		return l.Cut(title, room), ""
	}
	first = Wrap(title, max(room, 1))[0]
	return first, strings.TrimSpace(strings.TrimPrefix(title, first))
}

// Take returns what was painted since the last call.
func (p *Painter) Take() string {
	s := p.B.String()
	p.B.Reset()
	return s
}

// ParallelWidth returns the width of the mark for steps that may run
// concurrently, with its leading space, in cells.
func (l *Styles) ParallelWidth(parallel map[string]bool) int {
	if len(parallel) == 0 {
		return 0
	}
	return 1 + ansi.StringWidth(l.Glyphs.Parallel)
}

// PaintParallel paints that mark, or blanks of the same width.
func (l *Styles) PaintParallel(p *Painter, width int, is bool) {
	if !is || width == 0 {
		p.Gap(width)
		return
	}
	p.Gap(1)
	p.Add(l.Faint, l.Glyphs.Parallel)
}

// LaneLimit returns how many lanes fit a pane of that width.
func LaneLimit(width int) int { return max(min(width/10, 8), 1) }

// RailsWidth returns the width of rails with the space after them, in cells.
func RailsWidth(r *planlayout.Rails) int {
	if r.Width == 0 {
		return 0
	}
	return r.Width + 1
}

// Blockers lists the steps that one waits for. If they do not fit in width
// cells, it lists the first one and a mark for the rest.
func (l *Styles) Blockers(steps []string, width int) string {
	if len(steps) == 0 {
		return ""
	}
	all := l.Glyphs.Blocker + untrusted.Line(strings.Join(steps, ","))
	if len(steps) == 1 || ansi.StringWidth(all) <= width {
		return all
	}
	return l.Glyphs.Blocker + untrusted.Line(steps[0]) + l.Glyphs.Ellipsis
}
