package wording

import (
	"fmt"
	"strings"
	"unicode"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// longBlank matches blanks that push what follows out of sight, and empty lines that do.
var longBlank = lazyregexp.New(` {40,}|\t{10,}|\n{6,}`)

// blankAtEnd matches blanks at the end of a line.
var blankAtEnd = lazyregexp.New(`[ \t]+(\n|$)`)

// Marked shows what would not be seen in a text that a user approves. Long runs of
// blanks and of line ends become their number. Carriage returns, characters that look
// like a blank, and blanks and line ends at the end are shown too.
func Marked(text string) string {
	body := strings.TrimRight(text, "\n")
	ends := len(text) - len(body)
	body = strings.ReplaceAll(body, "\r", "^M")
	body = longBlank.ReplaceAllStringFunc(body, func(run string) string {
		if run[0] == '\n' {
			return fmt.Sprintf("\n[%d line ends]\n", len(run))
		}
		return fmt.Sprintf(" [%d blanks] ", len(run))
	})
	body = blankAtEnd.ReplaceAllStringFunc(body, func(end string) string {
		blanks := strings.TrimSuffix(end, "\n")
		return blanks + "[blank at the end]" + end[len(blanks):]
	})
	if body = VisibleBlanks(body); ends > 0 {
		return fmt.Sprintf("%s\n[%s]", body, english.Count(ends, "line end"))
	}
	return body
}

// MarkedValue is [ValueText] for a value that a user approves.
func MarkedValue(value any) (text string, multi bool) {
	text, multi = ValueText(value)
	if _, raw := value.(string); raw && multi {
		return Marked(text), true
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		words := strings.TrimLeft(line, " ") // JSON indents
		lines[i] = line[:len(line)-len(words)] + Marked(words)
	}
	return strings.Join(lines, "\n"), multi
}

// VisibleBlanks names the characters that look like a blank and are none.
func VisibleBlanks(text string) string {
	const braille = '\u2800' // no dots
	unlike := func(r rune) bool { return r > ' ' && (unicode.Is(unicode.Zs, r) || r == braille) }
	if !strings.ContainsFunc(text, unlike) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		if unlike(r) {
			fmt.Fprintf(&b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}
