package draw

import (
	"strings"

	"replan/internal/untrusted"
	"replan/themes"
)

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
