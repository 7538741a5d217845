package draw

import "strings"

// Bounds of what is given to Glamour, whose time grows with a power of how deep
// quotes and lists stand in each other: 500 levels take minutes.
const (
	mostNested   = 12 // quotes and list items that one line opens or goes on with
	mostIndented = 24 // columns before and between these
)

// shallow is Markdown without the quotes, list items and columns of a line that
// nest deeper than anybody reads. Text is never taken out, nor is anything of
// code between fences.
func shallow(text string) string {
	var out strings.Builder
	fence, changed := "", false
	for line := range strings.Lines(text) {
		trimmed := strings.TrimSpace(line)
		switch {
		case fence != "":
			if strings.HasPrefix(trimmed, fence) {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"), strings.HasPrefix(trimmed, "~~~"):
			fence = trimmed[:3]
		default:
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

// containers parts a line into the quotes and list items that it begins with, as
// far as they are kept, and what stands in the innermost of all.
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

// marker is how many bytes the sign of a quote or a list item takes at the
// beginning of text, 0 where there is none.
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
