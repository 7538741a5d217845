package draw

import (
	"slices"
	"strings"

	"charm.land/lipgloss/v2"
)

// popupRows is the maximum number of rows of a list over the input.
const popupRows = 16

// PopupRow is one row of such a list.
type PopupRow struct {
	Text   string
	Usage  string // arguments of a command, cut before the text is
	Detail string
	Lit    []int // offsets of the matched bytes in Text
	Path   bool  // the end of the text matters most
	Folder bool
}

// Popup draws a list over the input: a titled frame, and as many rows as fit in
// maxRows lines of width cells. Without room for two edges, the lower one is left
// out.
func (l *List) Popup(styles *Styles, title, note string, rows []PopupRow, width, maxRows int) []string {
	const edges = 2
	room := min(popupRows, max(maxRows-edges, 1), maxRows-1, max(len(rows), 1))
	if room < 1 || width < 8 {
		return nil
	}
	end := l.Window(len(rows), room, 1)
	l.Count = len(rows)
	if note == "" {
		note = styles.Span(l.Top, end, len(rows))
	}
	b := styles.Glyphs.Border
	out := []string{styles.Edge(b.TopLeft, b.Top, b.TopRight, title, note, width, styles.Focus)}
	side, inner := styles.Focus.Render(b.Left), width-2
	names := 0 // width of the longest visible name
	for _, row := range rows[l.Top:end] {
		names = max(names, row.Width())
	}
	for i := l.Top; i < end; i++ {
		out = append(out, side+styles.suggestion(rows[i], i == l.At, min(names, inner/2), inner)+side)
	}
	if len(out) < maxRows {
		out = append(out, styles.Edge(b.BottomLeft, b.Bottom, b.BottomRight, "", "", width, styles.Focus))
	}
	return out
}

// Width returns the width of the text of the row with the arguments of a command, in cells.
func (r PopupRow) Width() int { return VisibleWidth(r.full()) }

// full returns the text of the row with the arguments of a command.
func (r PopupRow) full() string {
	if r.Usage == "" {
		return r.Text
	}
	return r.Text + " " + r.Usage
}

// suggestion draws one row: the name with its matches highlighted, and a short
// description.
func (l *Styles) suggestion(row PopupRow, chosen bool, names, width int) string {
	line := l.Line(chosen, true)
	style := l.Text
	if row.Folder {
		style = l.Accent
	}
	room := width - 2
	if row.Detail != "" {
		room = names
	}
	drawn := line.Cursor
	switch {
	case VisibleWidth(row.Text) <= room:
		drawn += line.Highlight(style, l.Accent.Underline(true), row.Text, row.Lit)
		if left := room - VisibleWidth(row.Text) - 1; row.Usage != "" && left > 0 {
			drawn += line.Draw(l.Muted, " "+l.Cut(row.Usage, left))
		}
	case row.Path:
		drawn += line.Draw(style, l.CutLeft(row.Text, room))
	default:
		drawn += l.Cut(line.Highlight(style, l.Accent.Underline(true), row.Text, row.Lit), room)
	}
	if row.Detail == "" {
		return line.Fill(drawn, width)
	}
	drawn = line.Fill(drawn, names+1)
	return line.Fill(drawn+line.Draw(l.Faint, "  "+l.Cut(row.Detail, width-names-4)), width)
}

// Highlight renders text with some bytes highlighted, in as few pieces as possible.
func (r LitLine) Highlight(plain, lit lipgloss.Style, text string, at []int) string {
	var b, part strings.Builder
	was := false
	flush := func() {
		style := plain
		if was {
			style = lit
		}
		if part.Len() > 0 {
			b.WriteString(r.Draw(style, part.String()))
		}
		part.Reset()
	}
	for i, letter := range text {
		if is := slices.Contains(at, i); is != was {
			flush()
			was = is
		}
		part.WriteRune(letter)
	}
	flush()
	return b.String()
}
