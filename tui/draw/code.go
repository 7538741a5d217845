package draw

import (
	"strings"

	"replan/internal/untrusted"
	"replan/themes"
)

// CodeMargin is the indentation of code, in cells.
const CodeMargin = 2

// Code draws lines of code in width cells, margin included.
func (m *Markdown) Code(language, text string, width int, cut bool) []TextLine {
	return m.CodeLines(themes.Code(untrusted.Visible(text), language), width, cut)
}

// CodeLines draws highlighted lines of code. It breaks long lines at any
// character, or cuts them.
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

// OpenCode caches the highlighting of code that is still being written. Each
// complete line is highlighted once.
type OpenCode struct {
	code  *Code
	begin string // start of the text, to recognize it
	done  int    // bytes of the text already highlighted
	lines [][]themes.CodeSpan
}

// codeContext is the number of earlier lines highlighted again with a new one,
// for context.
const codeContext = 6

// Spans returns the highlighted lines of a text. It reuses earlier results if
// the text only grew.
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

// Code is a code block in Markdown, as in its source.
type Code struct {
	Language string
	Text     string // without fences and the last line break, with every space
}

// Lines returns the number of lines of the code.
func (c *Code) Lines() int { return strings.Count(c.Text, "\n") + 1 }
