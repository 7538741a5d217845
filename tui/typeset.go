package tui

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// joint says how a drawn line belongs to the one before it.
type joint byte

const (
	apart  joint = iota // a line of its own in the text, too
	spaced              // the text was broken at a blank
	joined              // the text was broken where it has nothing
)

// textLine is a drawn line that knows what of it is text.
type textLine struct {
	text string
	lead int   // cells at its left that are no text: gutters, indentation
	join joint // with the line before
}

// set makes lines of drawn ones of which nothing is known.
func set(lines []string) []textLine {
	out := make([]textLine, len(lines))
	for i, line := range lines {
		out[i].text = line
	}
	return out
}

// texts are the lines as they are drawn.
func texts(lines []textLine) []string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line.text
	}
	return out
}

// broken says how the parts belong together that the width has broken a line of
// text into.
func broken(line string, parts []string) []textLine {
	out := make([]textLine, 0, len(parts))
	rest := ansi.Strip(line)
	for i, part := range parts {
		join := apart
		if i > 0 {
			join = joined
			if trimmed := strings.TrimLeft(rest, " "); len(trimmed) < len(rest) && !strings.HasPrefix(ansi.Strip(part), " ") {
				join, rest = spaced, trimmed
			}
		}
		out = append(out, textLine{text: part, join: join})
		rest = strings.TrimPrefix(rest, strings.TrimRight(ansi.Strip(part), " "))
	}
	return out
}

// wrapped is wrap with what it broke.
func wrapped(s string, width int) []textLine {
	var out []textLine
	for line := range strings.SplitSeq(s, "\n") {
		out = append(out, broken(line, wrap(line, width))...)
	}
	return out
}

// led puts a sign before the first line and as many blanks before the others,
// and renders the text in a style.
func led(sign string, style lipgloss.Style, lines []textLine) []textLine {
	w := ansi.StringWidth(sign)
	blanks := strings.Repeat(" ", w)
	for i := range lines {
		if lines[i].text != "" {
			lines[i].text = style.Render(lines[i].text)
		}
		if i == 0 {
			lines[i].text = sign + lines[i].text
		} else {
			lines[i].text = blanks + lines[i].text
		}
		lines[i].lead += w
	}
	return lines
}

// unbroken puts the text of lines together: without what stands at their left
// and right, and without the breaks that only the width made.
func unbroken(lines []textLine) string {
	var b strings.Builder
	for i, line := range lines {
		if i > 0 {
			switch line.join {
			case apart:
				b.WriteByte('\n')
			case spaced:
				b.WriteByte(' ')
			case joined:
			}
		}
		b.WriteString(strings.TrimRight(ansi.Strip(ansi.TruncateLeft(line.text, line.lead, "")), " "))
	}
	return b.String()
}
