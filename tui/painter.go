package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	planlayout "replan/planning/plan/layout"
	"replan/tui/untrusted"
)

// painter puts a row together from left to right.
type painter struct {
	litLine
	b      strings.Builder
	width  int
	lights bool // it is the chosen row, lit
}

func (p *painter) add(style lipgloss.Style, text string) {
	if text != "" {
		p.b.WriteString(p.lit(style).Render(text))
		p.width += ansi.StringWidth(text)
	}
}

// gap leaves cells blank. Only the chosen row shows that something stands there.
func (p *painter) gap(cells int) {
	switch {
	case cells <= 0:
	case p.lights:
		p.add(p.look.Text, strings.Repeat(" ", cells))
	default:
		p.b.WriteString(strings.Repeat(" ", cells))
		p.width += cells
	}
}

// take is what was painted since the last time.
func (p *painter) take() string {
	s := p.b.String()
	p.b.Reset()
	return s
}

// parallelWidth is the cells of the mark on steps that may run at the same time
// as another one, with the blank before it.
func (l *look) parallelWidth(parallel map[string]bool) int {
	if len(parallel) == 0 {
		return 0
	}
	return 1 + ansi.StringWidth(l.glyphs.Parallel)
}

// paintParallel paints that mark, or leaves its room blank.
func (l *look) paintParallel(p *painter, width int, is bool) {
	if !is || width == 0 {
		p.gap(width)
		return
	}
	p.gap(1)
	p.add(l.Faint, l.glyphs.Parallel)
}

// laneLimit is how many lanes a pane of that width has room for.
func laneLimit(width int) int { return max(min(width/10, 8), 1) }

// railsWidth is the cells that rails take with the blank behind them.
func railsWidth(r *planlayout.Rails) int {
	if r.Width == 0 {
		return 0
	}
	return r.Width + 1
}

// blockers names steps that one waits for: all of them where they fit in width
// cells, else the first, with a mark that there are more.
func (l *look) blockers(steps []string, width int) string {
	if len(steps) == 0 {
		return ""
	}
	all := l.glyphs.Blocker + untrusted.Line(strings.Join(steps, ","))
	if len(steps) == 1 || ansi.StringWidth(all) <= width {
		return all
	}
	return l.glyphs.Blocker + untrusted.Line(steps[0]) + l.glyphs.Ellipsis
}
