package dialog

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/draw"
	"replan/tui/patch"
)

// writeChange adds a value before and after a change: one line each with the
// differing words underlined, or a diff if a value spans several lines. An empty
// string means no value.
func writeChange(p *draw.SheetPage, name, before, after string) {
	l := p.Look
	if strings.Contains(before, "\n") || strings.Contains(after, "\n") {
		p.Lines = append(p.Lines, "    "+l.Accent.Render(l.Cut(untrusted.Line(name), p.Width-4)))
		text, _, _ := plan.UnifiedDiff("before", "after", before+"\n", after+"\n")
		p.Put(draw.NewDiff(l, p.Width, text))
		return
	}
	before, after = untrusted.Visible(before), untrusted.Visible(after)
	old, now := patch.Words(before, after)
	name = untrusted.Line(name) + " "
	if before != "" {
		p.Lines = append(p.Lines, changedLine(p, l.Removed, l.Glyphs.Removed, name, before, old)...)
	}
	if after != "" {
		p.Lines = append(p.Lines, changedLine(p, l.Added, l.Glyphs.Added, name, after, now)...)
	}
}

// changedLine draws one side of a change.
func changedLine(p *draw.SheetPage, style lipgloss.Style, sign, name, text string, words []patch.Span) []string {
	l := p.Look
	const indent = 4
	lead := strings.Repeat(" ", indent) + style.Render(sign) + " "
	name = l.Cut(name, max(p.Width/3, 1))
	room := max(p.Width-indent-2-draw.VisibleWidth(name), 1)
	runs := []draw.Run{{Span: patch.Span{From: 0, To: len(text)}, Style: style}}
	for _, w := range words {
		runs = draw.Emphasise(runs, w, nil)
	}
	var out []string
	for _, row := range draw.CodeRows(text, room) {
		out = append(out, lead+l.Muted.Render(name)+draw.PaintRow(text, runs, row))
		lead, name = strings.Repeat(" ", indent+2), strings.Repeat(" ", draw.VisibleWidth(name))
	}
	return out
}
