package draw

import (
	"strings"

	"replan/internal/untrusted"
	"replan/themes"
)

// CodeMargin is how far code stands from the left edge, in cells.
const CodeMargin = 2

// Code draws lines of code for width cells, its margin among them.
func (m *Markdown) Code(language, text string, width int, cut bool) []TextLine {
	return m.CodeLines(themes.Code(untrusted.Visible(text), language), width, cut)
}

// CodeLines draws lines of code whose kinds are known. Those that are too long
// are broken anywhere, or cut.
func (m *Markdown) CodeLines(lines [][]themes.CodeSpan, width int, cut bool) []TextLine {
	room := width - CodeMargin
	if room < 1 {
		return nil
	}
	margin := strings.Repeat(" ", CodeMargin)
	var out []TextLine
	for _, spans := range lines {
		line := m.look.Theme.Paint(spans)
		parts := []string{line}
		switch w := VisibleWidth(line); {
		case w <= room:
		case cut:
			parts[0] = m.look.Cut(line, room)
		default:
			parts = pieces(line, room)
		}
		for i, part := range parts {
			l := TextLine{Text: margin + part, Lead: CodeMargin}
			if part == "" {
				l.Text = ""
			}
			if i > 0 {
				l.Join = joined
			}
			out = append(out, l)
		}
	}
	return out
}

// OpenCode knows of code that is still being written what kind the parts of its
// lines are. A line that is whole is looked at once.
type OpenCode struct {
	code  *Code
	begin string // of the text, to know it by
	done  int    // bytes of the text that are
	lines [][]themes.CodeSpan
}

// codeContext is how many lines are looked at again with a new one, so that
// it is seen in its surroundings.
const codeContext = 6

// Spans are the lines of a text, of which the beginning is as it was.
func (o *OpenCode) Spans(c *Code, text string) [][]themes.CodeSpan {
	if o.code != c || o.done > len(text) || !strings.HasPrefix(text, o.begin) {
		*o = OpenCode{code: c}
	}
	whole := strings.LastIndexByte(text, '\n') + 1
	known := len(o.lines)
	again := max(known-codeContext, 0)
	at := o.done
	for range known - again {
		at = strings.LastIndexByte(text[:at-1], '\n') + 1
	}
	fresh := themes.Code(untrusted.Visible(text[at:]), c.Language)
	out := append(o.lines[:known:known], fresh[min(known-again, len(fresh)):]...)
	o.done, o.lines = whole, out[:strings.Count(text[:whole], "\n")]
	o.begin = text[:min(whole, 64)]
	return out
}

// Code is a block of code in a Markdown text, as its source has it.
type Code struct {
	Language string
	Text     string // without the fences and with every blank, its last line break left out
}

// Lines is how many lines the code has.
func (c *Code) Lines() int { return strings.Count(c.Text, "\n") + 1 }
