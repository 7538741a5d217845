package tui

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

// look is what every pane draws with: the theme, and what the clock says. The
// model owns it and the panes hold a pointer to it.
type look struct {
	themes.Styles
	theme  themes.Theme
	glyphs themes.Glyphs
	now    time.Time // as the events count time
	beat   int       // of the animation
	diffs  diffView  // as the user wants them
	themed int       // how often the theme was changed

	method ansi.Method // by which the terminal counts cells
}

func newLook(t themes.Theme) *look {
	return &look{Styles: t.Styles, theme: t, glyphs: t.Glyphs}
}

// retheme takes another theme and keeps the time.
func (l *look) retheme(t themes.Theme) {
	l.Styles, l.theme, l.glyphs = t.Styles, t, t.Glyphs
	l.themed++
}

func (l *look) spinner() string {
	return l.glyphs.Spinner[l.beat%len(l.glyphs.Spinner)]
}

// since is how long ago at was, never less than nothing.
func (l *look) since(at time.Time) time.Duration {
	if at.IsZero() || l.now.Before(at) {
		return 0
	}
	return l.now.Sub(at)
}

// cut shortens one line to width cells, with an ellipsis where it was longer.
func (l *look) cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if l.method.StringWidth(s) <= width {
		return s
	}
	tail := l.glyphs.Ellipsis
	if width <= l.method.StringWidth(tail) {
		tail = ""
	}
	return truncate(l.method, s, width, tail)
}

// cutLeft shortens one line to width cells and keeps its end.
func (l *look) cutLeft(s string, width int) string {
	w := l.method.StringWidth(s)
	if w <= width {
		return s
	}
	tail := l.glyphs.Ellipsis
	if width <= l.method.StringWidth(tail) {
		return l.method.Truncate(tail, max(width, 0), "")
	}
	return tail + l.method.TruncateLeft(s, w-width+l.method.StringWidth(tail), "")
}

// fit makes a line exactly width cells wide.
func (l *look) fit(s string, width int) string {
	s = l.cut(s, width)
	if w := l.method.StringWidth(s); w < width {
		s += strings.Repeat(" ", width-w)
	}
	return s
}

// exactly is a line that should be width cells wide already, and is so too where
// it has text of which the terminal counts the cells in another way than who has
// measured it.
func (l *look) exactly(line string, width int) string {
	if l.method.StringWidth(line) == width {
		return line
	}
	return l.fit(truncate(l.method, line, width, ""), width) // what is lost are mostly blanks
}

// sides puts left and right at the ends of a line of width cells. Right is
// shortened first, and left out where it would leave no room.
func (l *look) sides(left, right string, width int) string {
	lw, rw := l.method.StringWidth(left), l.method.StringWidth(right)
	switch {
	case right == "" || width-lw < 4:
		return l.fit(left, width)
	case lw+2+rw > width:
		right = l.cut(right, width-lw-2)
		rw = l.method.StringWidth(right)
	}
	return left + strings.Repeat(" ", width-lw-rw) + right
}

// block makes exactly height lines of exactly width cells.
func (l *look) block(lines []string, width, height int) []string {
	out := make([]string, max(height, 0))
	for i := range out {
		if i < len(lines) {
			out[i] = l.fit(lines[i], width)
		} else {
			out[i] = strings.Repeat(" ", max(width, 0))
		}
	}
	return out
}

// section is a part of a frame: lines of equal width under a titled edge. The
// note stands in the edge below it.
type section struct {
	title string
	note  string
	lines []string
	style lipgloss.Style // of its edges and sides
}

// frame draws sections one below the other in one border. The lines should be
// width-2 cells wide already. Between a calm and a focused section the edge
// takes the colour of the focused one, which strong names.
func (l *look) frame(width int, strong lipgloss.Style, sections ...section) []string {
	b := l.glyphs.Border
	out := make([]string, 0, 16)
	var above *section
	for i := range sections {
		s := &sections[i]
		if above == nil {
			out = append(out, l.edge(b.TopLeft, b.Top, b.TopRight, s.title, "", width, s.style))
		} else {
			style := s.style
			if above.style.GetForeground() == strong.GetForeground() {
				style = strong
			}
			out = append(out, l.edge(b.MiddleLeft, b.Top, b.MiddleRight, s.title, above.note, width, style))
		}
		side := s.style.Render(b.Left)
		for _, line := range s.lines {
			out = append(out, side+l.exactly(line, width-2)+side)
		}
		above = s
	}
	if above != nil {
		out = append(out, l.edge(b.BottomLeft, b.Bottom, b.BottomRight, "", above.note, width, above.style))
	}
	return out
}

// edge draws a horizontal edge with a title at its left and a note at its right.
func (l *look) edge(left, bar, right, title, note string, width int, style lipgloss.Style) string {
	room := width - 4 // between the corners and a bar at each
	if title != "" {
		title = " " + l.cut(title, room-2) + " "
	}
	if note != "" {
		if left := room - l.method.StringWidth(title) - 4; left >= 4 {
			note = " " + l.cut(note, left) + " "
		} else {
			note = ""
		}
	}
	fill := room - l.method.StringWidth(title) - l.method.StringWidth(note)
	if title == "" && note == "" {
		return style.Render(left + strings.Repeat(bar, room+2) + right)
	}
	return style.Render(left+bar) + title + style.Render(strings.Repeat(bar, max(fill, 0))) + note + style.Render(bar+right)
}

// padded puts a blank at both sides of each line.
func padded(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = " " + line + " "
	}
	return out
}

// paint renders each line on its own, so that no style runs over a line's end.
func paint(style lipgloss.Style, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = style.Render(line)
		}
	}
	return out
}
