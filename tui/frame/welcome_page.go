package frame

import (
	"strings"

	"charm.land/lipgloss/v2"

	"replan/tui/draw"
	"replan/tui/keymap"
)

// page is text for new users: prose, headings, commands to type, keys.
type page struct {
	draw.Document
	brief bool // for little space
}

// gap adds a blank line unless there is one already.
func (p *page) gap() {
	if !p.brief {
		p.Blank()
	}
}

// note adds something the user should know, led by a sign.
func (p *page) note(sign, text string) {
	p.Item(sign+" ", p.Styles.Muted, strings.TrimSpace(text))
}

func (p *page) heading(text string) {
	p.gap()
	if !p.brief {
		p.Add(p.Styles.Muted.Render(text))
	}
}

// command adds a command to type and its purpose.
func (p *page) command(text, purpose string) { p.entry(p.Styles.Code, text, purpose) }

// key adds a key and its effect.
func (p *page) key(h keymap.Hint) { p.entry(p.Styles.Key, h.Label, h.Does) }

// entry adds a text and what it is about, side by side if there is room.
func (p *page) entry(style lipgloss.Style, text, about string) {
	l := p.Styles
	const column, indent = 26, 2
	if about == "" {
		p.Add("  " + style.Render(l.Cut(text, p.Width-indent)))
		return
	}
	if p.brief || p.Width < 2*column {
		p.Add("  " + style.Render(l.Cut(text, p.Width-indent)) + l.Cut("  "+l.Faint.Render(about), max(p.Width-indent-draw.VisibleWidth(text), 0)))
		return
	}
	p.Item("  "+l.Fit(style.Render(l.Cut(text, column-2)), column), l.Faint, about)
}

// labeled adds lines beside a label, or alone if space is scarce.
func (p *page) labeled(label string, lines ...string) {
	lead := p.Styles.Fit(p.Styles.Faint.Render(label), p.Width-p.room())
	for _, line := range draw.Hang(lead, lines) {
		p.Add(p.Styles.Cut(line, p.Width))
	}
}

// room returns the width beside the labels.
func (p *page) room() int {
	if p.brief || p.Width < 4*labels {
		return p.Width
	}
	return p.Width - labels
}

// keys adds several keys beside a label.
func (p *page) keys(hints ...keymap.Hint) {
	l := p.Styles
	var parts []string
	for _, h := range hints {
		parts = append(parts, l.Key.Render(h.Label)+" "+l.Faint.Render(h.Does))
	}
	p.labeled("keys", draw.Flow(parts, "  ", p.room())...)
}
