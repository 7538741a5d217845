package frame

import (
	"strings"

	"replan/tui/draw"
	"replan/tui/panes"
)

// Tabs are the tabs of a narrow screen.
type Tabs struct {
	Plan, Step string // titles
	Focus      panes.Pane
}

// tabRow draws the row of tabs of a narrow screen.
type tabRow struct{ styles *draw.Styles }

// Tabs draws the row of tabs.
func (r *tabRow) Tabs(t Tabs, width int) string {
	l := r.styles
	b := strings.Builder{}
	b.WriteString(" ")
	for i, name := range r.tabNames(t, width) {
		if i > 0 {
			b.WriteString(l.Border.Render(" " + l.Glyphs.Guide + " "))
		}
		style := l.Muted
		if panes.Pane(i) == t.Focus {
			style = l.Accent.Bold(true).Underline(true)
		}
		b.WriteString(style.Render(name))
	}
	return l.Fit(b.String(), width)
}

// TabAt returns the pane whose tab is at column x.
func (r *tabRow) TabAt(t Tabs, x, width int) (panes.Pane, bool) {
	left := 1
	for i, name := range r.tabNames(t, width) {
		right := left + draw.VisibleWidth(name)
		if x >= left && x < right {
			return panes.Pane(i), true
		}
		left = right + separatorWidth
	}
	return 0, false
}

// tabNames returns the text of every tab, cut to the width of the screen.
func (r *tabRow) tabNames(t Tabs, width int) [panes.Panes]string {
	names := [panes.Panes]string{"Chat", t.Plan, t.Step}
	if width < wordsFrom {
		names[panes.Plan] = r.shortTitle(t.Plan)
	}
	left := 1
	for i, name := range names {
		names[i] = r.styles.Cut(name, max(width-left-1, 0))
		left += draw.VisibleWidth(names[i]) + separatorWidth
	}
	return names
}

// shortTitle returns the first part of the plan's title, and the part that
// counts steps.
func (r *tabRow) shortTitle(title string) string {
	parts := strings.Split(title, " "+r.styles.Glyphs.Separator+" ")
	for _, part := range parts {
		if strings.Contains(part, "/") {
			return parts[0] + " " + part
		}
	}
	return parts[0]
}
