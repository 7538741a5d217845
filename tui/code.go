package tui

import (
	"strings"

	"replan/themes"
	"replan/tui/untrusted"
)

// codeMargin is how far code stands from the left edge, in cells.
const codeMargin = 2

// code draws lines of code for width cells, its margin among them.
func (m *markdown) code(language, text string, width int, cut bool) []textLine {
	return m.codeLines(themes.Code(untrusted.Visible(text), language), width, cut)
}

// codeLines draws lines of code whose kinds are known. Those that are too long
// are broken anywhere, or cut.
func (m *markdown) codeLines(lines [][]themes.CodeSpan, width int, cut bool) []textLine {
	room := width - codeMargin
	if room < 1 {
		return nil
	}
	margin := strings.Repeat(" ", codeMargin)
	var out []textLine
	for _, spans := range lines {
		line := m.look.theme.Paint(spans)
		parts := []string{line}
		switch w := visibleWidth(line); {
		case w <= room:
		case cut:
			parts[0] = m.look.cut(line, room)
		default:
			parts = pieces(line, room)
		}
		for i, part := range parts {
			l := textLine{text: margin + part, lead: codeMargin}
			if part == "" {
				l.text = ""
			}
			if i > 0 {
				l.join = joined
			}
			out = append(out, l)
		}
	}
	return out
}

// openCode knows of code that is still being written what kind the parts of its
// lines are. A line that is whole is looked at once.
type openCode struct {
	code  *code
	begin string // of the text, to know it by
	done  int    // bytes of the text that are
	lines [][]themes.CodeSpan
}

// codeContext is how many lines are looked at again with a new one, so that
// it is seen in its surroundings.
const codeContext = 6

// spans are the lines of a text, of which the beginning is as it was.
func (o *openCode) spans(c *code, text string) [][]themes.CodeSpan {
	if o.code != c || o.done > len(text) || !strings.HasPrefix(text, o.begin) {
		*o = openCode{code: c}
	}
	whole := strings.LastIndexByte(text, '\n') + 1
	known := len(o.lines)
	again := max(known-codeContext, 0)
	at := o.done
	for range known - again {
		at = strings.LastIndexByte(text[:at-1], '\n') + 1
	}
	fresh := themes.Code(untrusted.Visible(text[at:]), c.language)
	out := append(o.lines[:known:known], fresh[min(known-again, len(fresh)):]...)
	o.done, o.lines = whole, out[:strings.Count(text[:whole], "\n")]
	o.begin = text[:min(whole, 64)]
	return out
}

// code is a block of code in a Markdown text, as its source has it.
type code struct {
	language string
	text     string // without the fences and with every blank, its last line break left out
}

// lines is how many lines the code has.
func (c *code) lines() int { return strings.Count(c.text, "\n") + 1 }
