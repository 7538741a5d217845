package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// joint says how a drawn line belongs to the one before it.
type joint byte

// How a line joins the one before it in the text.
const (
	Apart  joint = iota // a line of its own in the text, too
	Spaced              // the text was broken at a blank
	joined              // the text was broken where it has nothing
)

// TextLine is a drawn line that knows what of it is text.
type TextLine struct {
	Text string
	Lead int   // cells at its left that are no text: gutters, indentation
	Join joint // with the line before
}

// Set makes lines of drawn ones of which nothing is known.
func Set(lines []string) []TextLine {
	out := make([]TextLine, len(lines))
	for i, line := range lines {
		out[i].Text = line
	}
	return out
}

// Texts are the lines as they are drawn.
func Texts(lines []TextLine) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line.Text
	}
	return out
}

// broken says how the parts belong together that the width has broken a line of
// text into.
func broken(line string, parts []string) []TextLine {
	out := make([]TextLine, 0, len(parts))
	rest := ansi.Strip(line)
	for i, part := range parts {
		join := Apart
		if i > 0 {
			join = joined
			if trimmed := strings.TrimLeft(rest, " "); len(trimmed) < len(rest) && !strings.HasPrefix(ansi.Strip(part), " ") {
				join, rest = Spaced, trimmed
			}
		}
		out = append(out, TextLine{Text: part, Join: join})
		rest = strings.TrimPrefix(rest, strings.TrimRight(ansi.Strip(part), " "))
	}
	return out
}

// Wrapped is wrap with what it broke.
func Wrapped(s string, width int) []TextLine {
	var out []TextLine
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, broken(line, Wrap(line, width))...)
	}
	return out
}

// Led puts a sign before the first line and as many blanks before the others,
// and renders the text in a style.
func Led(sign string, style lipgloss.Style, lines []TextLine) []TextLine {
	w := ansi.StringWidth(sign)
	blanks := strings.Repeat(" ", w)
	for i := range lines {
		if lines[i].Text != "" {
			lines[i].Text = style.Render(lines[i].Text)
		}
		if i == 0 {
			lines[i].Text = sign + lines[i].Text
		} else {
			lines[i].Text = blanks + lines[i].Text
		}
		lines[i].Lead += w
	}
	return lines
}

// Unbroken puts the text of lines together: without what stands at their left
// and right, and without the breaks that only the width made.
func Unbroken(lines []TextLine) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			switch line.Join {
			case Apart:
				b.WriteByte('\n')
			case Spaced:
				b.WriteByte(' ')
			case joined:
			}
		}
		b.WriteString(strings.TrimRight(ansi.Strip(ansi.TruncateLeft(line.Text, line.Lead, "")), " "))
	}
	return b.String()
}
