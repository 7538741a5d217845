package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	planlayout "replan/planning/plan/layout"
)

// Painter puts a row together from left to right.
type Painter struct {
	LitLine
	B      strings.Builder
	Width  int
	Lights bool // it is the chosen row, lit
}

// Add appends a text in a style.
func (p *Painter) Add(style lipgloss.Style, text string) {
	if text != "" {
		p.B.WriteString(p.Lit(style).Render(text))
		p.Width += ansi.StringWidth(text)
	}
}

// Gap leaves cells blank. Only the chosen row shows that something stands there.
func (p *Painter) Gap(cells int) {
	switch {
	case cells <= 0:
	case p.Lights:
		p.Add(p.look.Text, strings.Repeat(" ", cells))
	default:
		p.B.WriteString(strings.Repeat(" ", cells))
		p.Width += cells
	}
}

// Take is what was painted since the last time.
func (p *Painter) Take() string {
	s := p.B.String()
	p.B.Reset()
	return s
}

// ParallelWidth is the cells of the mark on steps that may run at the same time
// as another one, with the blank before it.
func (l *Look) ParallelWidth(parallel map[string]bool) int {
	if len(parallel) == 0 {
		return 0
	}
	return 1 + ansi.StringWidth(l.Glyphs.Parallel)
}

// PaintParallel paints that mark, or leaves its room blank.
func (l *Look) PaintParallel(p *Painter, width int, is bool) {
	if !is || width == 0 {
		p.Gap(width)
		return
	}
	p.Gap(1)
	p.Add(l.Faint, l.Glyphs.Parallel)
}

// LaneLimit is how many lanes a pane of that width has room for.
func LaneLimit(width int) int { return max(min(width/10, 8), 1) }

// RailsWidth is the cells that rails take with the blank behind them.
func RailsWidth(r *planlayout.Rails) int {
	if r.Width == 0 {
		return 0
	}
	return r.Width + 1
}

// Blockers names steps that one waits for: all of them where they fit in width
// cells, else the first, with a mark that there are more.
func (l *Look) Blockers(steps []string, width int) string {
	if len(steps) == 0 {
		return ""
	}
	all := l.Glyphs.Blocker + untrusted.Line(strings.Join(steps, ","))
	if len(steps) == 1 || ansi.StringWidth(all) <= width {
		return all
	}
	return l.Glyphs.Blocker + untrusted.Line(steps[0]) + l.Glyphs.Ellipsis
}
