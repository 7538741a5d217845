package draw

import (
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"replan/themes"
)

// Styles holds what every pane draws with: the theme and the clock. The model
// owns it, and panes keep a pointer.
type Styles struct {
	themes.Styles
	Theme          themes.Theme
	Glyphs         themes.Glyphs
	Now            time.Time // on the clock of the events
	AnimationFrame int       // animation frame
	Diffs          DiffView  // the user's choice
	Themed         int       // number of theme changes

	Method ansi.Method // how the terminal counts cells
}

// NewStyles returns the styles of a theme.
func NewStyles(t themes.Theme) *Styles {
	return &Styles{Styles: t.Styles, Theme: t, Glyphs: t.Glyphs}
}

// Retheme changes the theme and keeps the time.
func (l *Styles) Retheme(t themes.Theme) {
	l.Styles, l.Theme, l.Glyphs = t.Styles, t, t.Glyphs
	l.Themed++
}

// Advance moves what spins by one frame.
func (l *Styles) Advance() { l.AnimationFrame++ }

// SetTime sets the time on the clock of the events.
func (l *Styles) SetTime(now time.Time) { l.Now = now }

// Spinner returns the glyph of running work.
func (l *Styles) Spinner() string {
	return l.Glyphs.Spinner[l.AnimationFrame%len(l.Glyphs.Spinner)]
}

// Since returns the time since at, never negative.
func (l *Styles) Since(at time.Time) time.Duration {
	if at.IsZero() || l.Now.Before(at) {
		return 0
	}
	return l.Now.Sub(at)
}

// Cut shortens one line to width cells and marks the cut with an ellipsis.
func (l *Styles) Cut(s string, width int) string {
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
func (l *Styles) CutLeft(s string, width int) string {
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

// Fit cuts or pads a line to exactly width cells.
func (l *Styles) Fit(s string, width int) string {
	s = l.Cut(s, width)
	if w := l.Method.StringWidth(s); w < width {
		s += strings.Repeat(" ", width-w)
	}
	return s
}

// Exactly returns a line of exactly width cells. It corrects lines that were
// measured in another way than the terminal counts cells.
func (l *Styles) Exactly(line string, width int) string {
	if l.Method.StringWidth(line) == width {
		return line
	}
	return l.Fit(truncate(l.Method, line, width, ""), width) // mostly drops spaces
}

// Sides puts left and right at the ends of a line of width cells. It shortens
// right first, and drops it if there is no room.
func (l *Styles) Sides(left, right string, width int) string {
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

// Block returns exactly height lines of exactly width cells.
func (l *Styles) Block(lines []string, width, height int) []string {
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

// Section is a part of a frame: lines of equal width below a titled edge. The
// Note appears in the edge below the lines.
type Section struct {
	Title string
	Note  string
	Lines []string
	Style lipgloss.Style // of its edges and sides
}

// Frame draws sections below each other in one border. Lines should already be
// width-2 cells wide. The edge between a calm and a focused section takes the
// focused style, strong.
func (l *Styles) Frame(width int, strong lipgloss.Style, sections ...Section) []string {
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

// Edge draws a horizontal edge with a title at the left and a note at the
// right.
func (l *Styles) Edge(left, bar, right, title, note string, width int, style lipgloss.Style) string {
	room := width - 4 // without the corners and one bar at each
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

// Padded adds a space at both ends of each line.
func Padded(lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = " " + line + " "
	}
	return out
}

// Paint renders each line separately, so that no style crosses a line break.
func Paint(style lipgloss.Style, lines []string) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		if line != "" {
			out[i] = style.Render(line)
		}
	}
	return out
}

// Gauge returns a bar of cells, filled in proportion to share.
func (l *Styles) Gauge(share float64, cells int, style lipgloss.Style) string {
	full, empty := l.GaugeParts(share, cells)
	return style.Render(full) + l.Faint.Render(empty)
}

// GaugeParts returns the full and the empty part of a bar.
func (l *Styles) GaugeParts(share float64, cells int) (filled, empty string) {
	full := int(share*float64(cells) + 0.5)
	if share > 0 {
		full = max(full, 1)
	}
	full = max(min(full, cells), 0)
	return strings.Repeat(l.Glyphs.Full, full), strings.Repeat(l.Glyphs.Empty, cells-full)
}

// HitStyle returns the style of a match, the current one or another.
func (l *Styles) HitStyle(now bool) lipgloss.Style {
	if now {
		return l.Accent.Reverse(true)
	}
	return l.Selected(l.Warning).Underline(true)
}

// Middle centers lines of width cells in height lines of screenWidth cells.
func (l *Styles) Middle(lines []string, width, screenWidth, height int) []string {
	out := make([]string, 0, height)
	for range max((height-len(lines))/2, 0) {
		out = append(out, "")
	}
	for _, line := range lines {
		out = append(out, strings.Repeat(" ", max((screenWidth-width)/2, 0))+line)
	}
	return l.Block(out, screenWidth, height)
}

// ShortPath returns a path with the home folder shortened to ~; home is "" if
// unknown.
func ShortPath(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}

// ArmedKey draws the key of an answer that waits for another letter: as wide as
// otherwise, since it is only for a moment.
func (l *Styles) ArmedKey(name, does string) string {
	return l.Selected(l.Key.Bold(true)).Render(name) + l.Selected(l.Accent).Render(l.Glyphs.Cursor) + l.Selected(l.Text).Render(does)
}
