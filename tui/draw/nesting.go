package draw

import (
	"strings"

	"replan/internal/markdown"
)

// Limits for Glamour's input. Its time grows with a power of the nesting depth
// of quotes and lists: 500 levels take minutes.
const (
	mostNested   = 12 // quotes and list items that one line opens or continues
	mostIndented = 24 // columns before and between these
)

// shallow removes quotes, list items and indentation nested deeper than anybody
// reads. It never removes text or fenced code.
func shallow(text string) string {
	var out strings.Builder
	var fences markdown.Fences
	changed := false
	for line := range strings.Lines(text) {
		if !fences.Encloses(line) {
			lead, rest := containers(line)
			changed = changed || len(lead)+len(rest) != len(line)
			out.WriteString(lead)
			line = rest
		}
		out.WriteString(line)
	}
	if !changed {
		return text
	}
	return out.String()
}

// containers splits a line into its kept leading quotes and list items, and the
// content of the innermost one.
func containers(line string) (lead, rest string) {
	var kept strings.Builder
	nested, columns := 0, 0
	for {
		blanks := len(line) - len(strings.TrimLeft(line, " \t"))
		n := marker(line[blanks:])
		if n > 0 && nested == mostNested {
			line = line[blanks+n:]
			continue
		}
		for _, blank := range line[:blanks] {
			width := 1
			if blank == '\t' {
				width = 4
			}
			if columns += width; columns <= mostIndented {
				kept.WriteRune(blank)
			}
		}
		kept.WriteString(line[blanks : blanks+n])
		line = line[blanks+n:]
		if n == 0 {
			return kept.String(), line
		}
		nested++
	}
}

// Limits for a text that Glamour renders at once, whatever it says.
const (
	longestFlat = 2048 // bytes
	mostMarks   = 100  // of emphasis and links, which nest
)

// isFlat reports whether a text is short, holds no fenced code and nests almost nothing.
// No line is indented or below two markers, and marks of emphasis and links are few.
func isFlat(text string) bool {
	if len(text) > longestFlat || strings.Contains(text, "```") || strings.Contains(text, "~~~") {
		return false
	}
	marks := 0
	for _, mark := range []string{"*", "_", "~", "["} {
		marks += strings.Count(text, mark)
	}
	if marks > mostMarks {
		return false
	}
	for line := range strings.Lines(text) {
		inner := line[marker(line):]
		if line[0] == ' ' || line[0] == '\t' || marker(strings.TrimLeft(inner, " \t")) > 0 {
			return false
		}
	}
	return true
}

// marker returns the length in bytes of a quote or list marker at the start of
// text, or 0.
func marker(text string) int {
	if text == "" {
		return 0
	}
	n := 1
	switch c := text[0]; {
	case c == '>':
		return 1
	case c == '-', c == '*', c == '+':
	case '0' <= c && c <= '9':
		for n < len(text) && n < 10 && '0' <= text[n] && text[n] <= '9' {
			n++
		}
		if n == len(text) || text[n] != '.' && text[n] != ')' {
			return 0
		}
		n++
	default:
		return 0
	}
	if n < len(text) && !strings.ContainsRune(" \t\r\n", rune(text[n])) {
		return 0
	}
	return n
}
