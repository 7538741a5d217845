package draw

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

// Look is what every pane draws with: the theme, and what the clock says. The
// model owns it and the panes hold a pointer to it.
type Look struct {
	themes.Styles
	Theme  themes.Theme
	Glyphs themes.Glyphs
	Now    time.Time // as the events count time
	Beat   int       // of the animation
	Diffs  DiffView  // as the user wants them
	Themed int       // how often the theme was changed

	Method ansi.Method // by which the terminal counts cells
}

// NewLook makes the styles of a theme.
func NewLook(t themes.Theme) *Look {
	return &Look{Styles: t.Styles, Theme: t, Glyphs: t.Glyphs}
}

// Retheme takes another theme and keeps the time.
func (l *Look) Retheme(t themes.Theme) {
	l.Styles, l.Theme, l.Glyphs = t.Styles, t, t.Glyphs
	l.Themed++
}

// Spinner is the sign of something that is running.
func (l *Look) Spinner() string {
	return l.Glyphs.Spinner[l.Beat%len(l.Glyphs.Spinner)]
}

// Since is how long ago at was, never less than nothing.
func (l *Look) Since(at time.Time) time.Duration {
	if at.IsZero() || l.Now.Before(at) {
		return 0
	}
	return l.Now.Sub(at)
}

// Cut shortens one line to width cells, with an ellipsis where it was longer.
func (l *Look) Cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if l.Method.StringWidth(s) <= width {
		return s
	}
	tail := l.Glyphs.Ellipsis
	if width <= l.Method.StringWidth(tail) {
		tail = ""
	}
	return truncate(l.Method, s, width, tail)
}

// CutLeft shortens one line to width cells and keeps its end.
func (l *Look) CutLeft(s string, width int) string {
	w := l.Method.StringWidth(s)
	if w <= width {
		return s
	}
	tail := l.Glyphs.Ellipsis
	if width <= l.Method.StringWidth(tail) {
		return l.Method.Truncate(tail, max(width, 0), "")
	}
	return tail + l.Method.TruncateLeft(s, w-width+l.Method.StringWidth(tail), "")
}

// Fit makes a line exactly width cells wide.
func (l *Look) Fit(s string, width int) string {
	s = l.Cut(s, width)
	if w := l.Method.StringWidth(s); w < width {
		s += strings.Repeat(" ", width-w)
	}
	return s
}

// Exactly is a line that should be width cells wide already, and is so too where
// it has text of which the terminal counts the cells in another way than who has
// measured it.
func (l *Look) Exactly(line string, width int) string {
	if l.Method.StringWidth(line) == width {
		return line
	}
	return l.Fit(truncate(l.Method, line, width, ""), width) // what is lost are mostly blanks
}

// Sides puts left and right at the ends of a line of width cells. Right is
// shortened first, and left out where it would leave no room.
func (l *Look) Sides(left, right string, width int) string {
	lw, rw := l.Method.StringWidth(left), l.Method.StringWidth(right)
	switch {
	case right == "" || width-lw < 4:
		return l.Fit(left, width)
	case lw+2+rw > width:
		right = l.Cut(right, width-lw-2)
		rw = l.Method.StringWidth(right)
	}
	return left + strings.Repeat(" ", width-lw-rw) + right
}

// Block makes exactly height lines of exactly width cells.
func (l *Look) Block(lines []string, width, height int) []string {
	out := make([]string, max(height, 0))
	for i := range out {
		if i < len(lines) {
			out[i] = l.Fit(lines[i], width)
		} else {
			out[i] = strings.Repeat(" ", max(width, 0))
		}
	}
	return out
}

// Section is a part of a frame: lines of equal width under a titled edge. The
// Note stands in the edge below it.
type Section struct {
	Title string
	Note  string
	Lines []string
	Style lipgloss.Style // of its edges and sides
}

// Frame draws sections one below the other in one border. The lines should be
// width-2 cells wide already. Between a calm and a focused section the edge
// takes the colour of the focused one, which strong names.
func (l *Look) Frame(width int, strong lipgloss.Style, sections ...Section) []string {
	b := l.Glyphs.Border
	out := make([]string, 0, 16)
	var above *Section
	for i := range sections {
		s := &sections[i]
		if above == nil {
			out = append(out, l.Edge(b.TopLeft, b.Top, b.TopRight, s.Title, "", width, s.Style))
		} else {
			style := s.Style
			if above.Style.GetForeground() == strong.GetForeground() {
				style = strong
			}
			out = append(out, l.Edge(b.MiddleLeft, b.Top, b.MiddleRight, s.Title, above.Note, width, style))
		}
		side := s.Style.Render(b.Left)
		for _, line := range s.Lines {
			out = append(out, side+l.Exactly(line, width-2)+side)
		}
		above = s
	}
	if above != nil {
		out = append(out, l.Edge(b.BottomLeft, b.Bottom, b.BottomRight, "", above.Note, width, above.Style))
	}
	return out
}

// Edge draws a horizontal edge with a title at its left and a note at its right.
func (l *Look) Edge(left, bar, right, title, note string, width int, style lipgloss.Style) string {
	room := width - 4 // between the corners and a bar at each
	if title != "" {
		title = " " + l.Cut(title, room-2) + " "
	}
	if note != "" {
		if left := room - l.Method.StringWidth(title) - 4; left >= 4 {
			note = " " + l.Cut(note, left) + " "
		} else {
			note = ""
		}
	}
	fill := room - l.Method.StringWidth(title) - l.Method.StringWidth(note)
	if title == "" && note == "" {
		return style.Render(left + strings.Repeat(bar, room+2) + right)
	}
	return style.Render(left+bar) + title + style.Render(strings.Repeat(bar, max(fill, 0))) + note + style.Render(bar+right)
}

// Padded puts a blank at both sides of each line.
func Padded(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = " " + line + " "
	}
	return out
}

// Paint renders each line on its own, so that no style runs over a line's end.
func Paint(style lipgloss.Style, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = style.Render(line)
		}
	}
	return out
}

// Gauge is a small bar of that many cells that is full as far as share says.
func (l *Look) Gauge(share float64, cells int, style lipgloss.Style) string {
	full := int(share*float64(cells) + 0.5)
	if share > 0 {
		full = max(full, 1)
	}
	full = max(min(full, cells), 0)
	return style.Render(strings.Repeat(l.Glyphs.Full, full)) + l.Faint.Render(strings.Repeat(l.Glyphs.Empty, cells-full))
}

// HitStyle is the style of a match: of the one that is shown, or of another.
func (l *Look) HitStyle(now bool) lipgloss.Style {
	if now {
		return l.Accent.Reverse(true)
	}
	return l.Selected(l.Warning).Underline(true)
}

// Middle puts lines of width cells in the middle of exactly height lines of
// screenWidth cells.
func (l *Look) Middle(lines []string, width, screenWidth, height int) []string {
	out := make([]string, 0, height)
	for range max((height-len(lines))/2, 0) {
		out = append(out, "")
	}
	for _, line := range lines {
		out = append(out, strings.Repeat(" ", max((screenWidth-width)/2, 0))+line)
	}
	return l.Block(out, screenWidth, height)
}
