package input

import (
	"slices"
	"strings"

	"replan/internal/untrusted"
	"replan/tui/draw"
	"replan/tui/keymap"
)

const (
	previewLines  = 12 // of a file at most, beside the list
	previewBelow  = 6  // of a file at most, below a list with
	listAbove     = 8  // rows
	previewWidest = 90 // cells
	narrowest     = 36 // cells of a list beside it, at least
	besideFrom    = 90 // cells of the screen from which the preview is beside the list
	belowFrom     = 16 // lines from which it is below
)

// previews keeps the beginnings of the files that were selected in a list, by name. Those that
// cannot be shown have none.
type previews map[string][]string

// preview asks for the beginning of the selected file, once.
func (p *Pane) preview() keymap.Requests {
	name := p.completer.previewed()
	if _, known := p.files[name]; name == "" || known {
		return nil
	}
	const most = 200 // files
	if len(p.files) >= most {
		clear(p.files)
	}
	p.files[name] = nil
	return keymap.Requests{keymap.QueryFile(name)}
}

// keepPreview keeps the beginning of a file: text that is there as a whole.
func (p *Pane) keepPreview(f keymap.FileMsg) {
	text := f.Head.Text.Visible()
	if f.Err != nil || !f.Head.Whole || strings.TrimSpace(text) == "" {
		return
	}
	lines := strings.SplitN(text, "\n", previewLines+1)
	lines = lines[:min(len(lines), previewLines)]
	p.files[f.Name] = lines
}

// withPreview draws the completions, and the beginning of the selected file beside them or
// below, where there is room for it.
func (p *Pane) withPreview(width, height, most int) []string {
	c := &p.completer
	name := c.previewed()
	text := p.files[name]
	switch {
	case name == "" || len(text) == 0 || most < besideFrom && height < belowFrom:
	case most < besideFrom:
		return p.previewUnder(name, text, width, height)
	case height > previewLines+2:
		list := c.width(narrowest, most/2)
		return p.previewBeside(c.draw(list, height), name, text, list, min(most-list, previewWidest))
	}
	p.listWidth = c.width(width, most)
	return c.draw(p.listWidth, height)
}

// previewUnder draws a shorter list, and the beginning of the file in the same frame.
func (p *Pane) previewUnder(name string, text []string, width, height int) []string {
	l, b := p.styles, p.styles.Glyphs.Border
	p.listWidth = width
	drawn := p.completer.draw(width, min(listAbove+2, height-previewBelow-1))
	drawn[len(drawn)-1] = l.Edge(b.MiddleLeft, b.Bottom, b.MiddleRight, l.Strong.Render(untrusted.Line(name)), "", width, l.Focus)
	return append(drawn, p.framed(text[:min(len(text), previewBelow)], previewBelow, width)...)
}

// previewBeside puts the beginning of the file to the right of the list, which gets blank rows
// until both are of one height.
func (p *Pane) previewBeside(list []string, name string, text []string, listWidth, width int) []string {
	l, b := p.styles, p.styles.Glyphs.Border
	rows := max(len(list)-2, previewLines)
	side := l.Focus.Render(b.Left)
	for len(list)-2 < rows {
		list = slices.Insert(list, len(list)-1, side+strings.Repeat(" ", listWidth-2)+side)
	}
	p.listWidth = listWidth
	box := append([]string{l.Edge(b.TopLeft, b.Top, b.TopRight, l.Strong.Render(l.CutLeft(untrusted.Line(name), width-8)), "", width, l.Focus)}, p.framed(text, rows, width)...)
	for i := range list {
		list[i] += box[i]
	}
	return list
}

// framed draws lines of a file between the sides of a frame, with its lower edge.
func (p *Pane) framed(text []string, rows, width int) []string {
	l, b := p.styles, p.styles.Glyphs.Border
	side := l.Focus.Render(b.Left)
	var out []string
	for i := range rows {
		out = append(out, side+" "+l.Fit(l.Muted.Render(l.Cut(draw.At(text, i), width-4)), width-4)+" "+side)
	}
	return append(out, l.Edge(b.BottomLeft, b.Bottom, b.BottomRight, "", "", width, l.Focus))
}
