package draw

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/internal/untrusted"
	"replan/themes"
)

// CodeMargin is the width of the rule at the left of code, in cells.
const CodeMargin = 2

// Code draws lines of code in width cells, margin included.
func (m *Markdown) Code(language, text string, width int, cut bool) []TextLine {
	return m.CodeLines(themes.Code(untrusted.Visible(text), language), width, cut)
}

// CodeLabel draws the language above code, nothing if it is unknown or only text.
func (m *Markdown) CodeLabel(language string, width int) []TextLine {
	language = m.styles.Cut(untrusted.Line(language), max(width-CodeMargin, 0))
	if language == "" || language == "text" {
		return nil
	}
	margin := strings.Repeat(" ", CodeMargin)
	return []TextLine{{Text: margin + m.styles.Faint.Render(language), Lead: CodeMargin + VisibleWidth(language)}}
}

// CodeLines draws highlighted lines of code beside a rule. It breaks long lines and
// keeps their indentation. A table, whose lines are cut, has no rule.
func (m *Markdown) CodeLines(lines [][]themes.CodeSpan, width int, cut bool) []TextLine {
	room := width - CodeMargin
	if room < 1 {
		return nil
	}
	margin := m.styles.Border.Render(m.styles.Glyphs.Guide) + " "
	if cut {
		margin = strings.Repeat(" ", CodeMargin)
	}
	var out []TextLine
	for _, spans := range lines {
		line := m.styles.Theme.Paint(spans)
		if cut {
			line = m.styles.Cut(line, room)
		}
		for _, l := range codeRows(line, room) {
			l.Text = strings.TrimRight(margin+l.Text, " ")
			l.Lead += CodeMargin
			out = append(out, l)
		}
	}
	return out
}

// codeRows breaks a line of code into rows of at most width cells, at a space where
// there is one. The rows after the first are indented as the first is.
func codeRows(line string, width int) []TextLine {
	plain := ansi.Strip(line)
	indent := len(plain) - len(strings.TrimLeft(plain, " "))
	if indent > width/2 {
		indent = 0
	}
	var out []TextLine
	join, lead := Apart, 0
	for widest.StringWidth(line) > width-lead {
		head := truncate(widest, plain, width-lead, "")
		next := joined
		rest := plain[len(head):]
		if at := strings.LastIndexByte(head, ' '); !strings.HasPrefix(rest, " ") && at > len(head)/2 && at > indent && head[at-1] != ' ' {
			head, rest = head[:at], plain[at:]
		}
		if strings.HasPrefix(rest, " ") && !strings.HasPrefix(rest, "  ") && strings.TrimRight(head, " ") == head {
			next, rest = Spaced, rest[1:]
		}
		if head == "" {
			break // a letter wider than the whole line
		}
		out = append(out, TextLine{Text: strings.Repeat(" ", lead) + widest.Truncate(line, widest.StringWidth(head), ""), Lead: lead, Join: join})
		line = widest.TruncateLeft(line, widest.StringWidth(plain[:len(plain)-len(rest)]), "")
		plain, join, lead = rest, next, indent
	}
	return append(out, TextLine{Text: strings.Repeat(" ", lead) + line, Lead: lead, Join: join})
}
