package tui

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/planning/plan"
	"replan/tui/patch"
	"replan/tui/untrusted"
)

// writeChange adds a value before and after a change: on a line each with the words
// that differ underlined, and where it has several lines as a diff. Nothing at all
// is a value that is not there.
func writeChange(p *sheetPage, name, before, after string) {
	l := p.look
	if strings.Contains(before, "\n") || strings.Contains(after, "\n") {
		p.lines = append(p.lines, "    "+l.Accent.Render(l.cut(untrusted.Line(name), p.width-4)))
		text, _, _ := plan.UnifiedDiff("before", "after", before+"\n", after+"\n")
		p.put(newDiff(l, p.width, text))
		return
	}
	before, after = untrusted.Visible(before), untrusted.Visible(after)
	old, now := patch.Words(before, after)
	name = untrusted.Line(name) + " "
	if before != "" {
		p.lines = append(p.lines, changedLine(p, l.Removed, l.glyphs.Removed, name, before, old)...)
	}
	if after != "" {
		p.lines = append(p.lines, changedLine(p, l.Added, l.glyphs.Added, name, after, now)...)
	}
}

// changedLine draws one side of a change.
func changedLine(p *sheetPage, style lipgloss.Style, sign, name, text string, words []patch.Span) []string {
	l := p.look
	const indent = 4
	lead := strings.Repeat(" ", indent) + style.Render(sign) + " "
	name = l.cut(name, max(p.width/3, 1))
	room := max(p.width-indent-2-visibleWidth(name), 1)
	runs := []run{{patch.Span{From: 0, To: len(text)}, style}}
	for _, w := range words {
		runs = emphasise(runs, w, nil)
	}
	offsets := breaks(text, room)
	var out []string
	for n, from := range offsets {
		to := len(text)
		if n+1 < len(offsets) {
			to = offsets[n+1]
		}
		var b strings.Builder
		b.WriteString(lead + l.Muted.Render(name))
		for _, r := range runs {
			if part := (patch.Span{From: max(r.From, from), To: min(r.To, to)}); part.From < part.To {
				b.WriteString(r.style.Render(text[part.From:part.To]))
			}
		}
		out = append(out, b.String())
		lead, name = strings.Repeat(" ", indent+2), strings.Repeat(" ", visibleWidth(name))
	}
	return out
}
