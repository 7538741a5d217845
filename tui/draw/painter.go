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

// LaneLimit returns how many lanes fit a pane of that width.
func LaneLimit(width int) int { return max(min(width/10, 8), 1) }

// Lane returns the style of the lane in a column of rails, as git log --graph colors them. None
// has the color of what is lit, nor that of a warning.
func (l *Styles) Lane(column int) lipgloss.Style {
	styles := [...]lipgloss.Style{l.Muted, l.Code, l.Success, l.Running}
	return styles[column%len(styles)]
}

// Rail paints cells of rails in the colors of their lanes, those that are lit in bold.
func (l *Styles) Rail(p *Painter, cells []planlayout.Cell, lit func(i int) bool) {
	for i, cell := range cells {
		switch {
		case cell.Sides == 0:
			p.Gap(1)
		case lit != nil && lit(i):
			p.Add(l.Accent.Bold(true), l.Glyphs.Lanes.Cell(cell.Sides))
		default:
			p.Add(l.Lane(cell.Lane), l.Glyphs.Lanes.Cell(cell.Sides))
		}
	}
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
