package draw

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// joint is how a drawn line continues the line before it.
type joint byte

// How a line joins the previous one in the text.
const (
	Apart  joint = iota // a separate line in the text, too
	Spaced              // the text was broken at a space
	joined              // the text was broken between two characters
)

// TextLine is a drawn line that knows which part of it is text.
type TextLine struct {
	Text string
	Lead int    // cells at the left that are not text: gutters, indentation
	Join joint  // with the previous line
	Run  string // whose steps it names; "" if it names none

	Action string // that a click on it does; "" for none
}

// Set turns drawn lines into text lines with no further information.
func Set(lines []string) []TextLine {
	out := make([]TextLine, len(lines))
	for i, line := range lines {
		out[i].Text = line
	}
	return out
}

// Texts returns the lines as drawn.
func Texts(lines []TextLine) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line.Text
	}
	return out
}

// broken records how the parts of a wrapped line of text join.
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

// Wrapped is like Wrap, but keeps how the lines join.
func Wrapped(s string, width int) []TextLine {
	var out []TextLine
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, broken(line, Wrap(line, width))...)
	}
	return out
}

// Led puts a sign before the first line and spaces before the others, and
// renders the text in a style.
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

// Unbroken joins the text of lines, without the content at their left and right
// and without breaks made by wrapping.
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
		b.WriteString(Unstyled(ansi.TruncateLeft(line.Text, line.Lead, "")))
	}
	return b.String()
}

// Unstyled returns a line to copy: without styles and spaces at the end.
func Unstyled(line string) string { return strings.TrimRight(ansi.Strip(line), " ") }
