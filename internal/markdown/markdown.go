package markdown

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/english"
)

// maxLine is the maximum number of characters shown per line in a fence.
const maxLine = 200

// Line squeezes text into one line of at most bound characters.
func Line(text string, bound int) string {
	return clip(strings.Join(strings.Fields(printable(text)), " "), bound)
}

// Code quotes text as a code span on one line of at most bound characters. It
// returns "" if the text is blank.
func Code(text string, bound int) string {
	if text = Line(text, bound); text == "" {
		return ""
	}
	ticks := strings.Repeat("`", longestRun(text, '`')+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return ticks + text + ticks
}

// Legible returns text as it is if Markdown reads it as these words and spans of code,
// and quotes it like Code otherwise.
func Legible(text string, bound int) string {
	text = strings.TrimSpace(text)
	if Line(text, bound) != text || strings.ContainsAny(text[:min(len(text), 1)], "#+-=") {
		return Code(text, bound)
	}
	parts := strings.Split(text, "`")
	for i, part := range parts {
		if i%2 == 0 && hasMarkup(part) || i%2 == 1 && part == "" {
			return Code(text, bound)
		}
	}
	if len(parts)%2 == 0 || strings.Contains(text, "``") {
		return Code(text, bound)
	}
	return text
}

// hasMarkup reports whether Markdown may read a text as more than its letters.
func hasMarkup(text string) bool {
	for _, mark := range []string{"//", "](", "][", "]:", "[ ]", "[x]", "www."} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	letters := []rune(text)
	for i, r := range letters {
		joins := r == '_' && i > 0 && i < len(letters)-1 && inWord(letters[i-1]) && inWord(letters[i+1])
		if !joins && !inWord(r) && !strings.ContainsRune(" .,:;'()/-+=%?!#$\"[]", r) {
			return true
		}
	}
	return false
}

// Fence quotes text as a fenced block of at most most lines. It states the number
// of omitted lines below the block.
func Fence(language, text string, most int) string {
	lines := strings.Split(strings.TrimRight(printable(text), "\n"), "\n")
	rest := len(lines) - most
	lines = lines[:min(len(lines), most)]
	for i, line := range lines {
		lines[i] = clip(line, maxLine)
	}
	body := strings.Join(lines, "\n")
	marks := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	block := marks + language + "\n" + body + "\n" + marks
	if rest > 0 {
		block += "\n\n… and " + english.Count(rest, "more line")
	}
	return block
}

// Block returns text as a fenced block that the text cannot close.
func Block(text string) string {
	marks := strings.Repeat("`", max(3, longestRun(text, '`')+1))
	return marks + "\n" + text + "\n" + marks
}

// Fences follows the fenced blocks of a text, line by line. The zero value is
// outside of a block.
type Fences struct {
	mark string // of the open block; "" outside
}

// Encloses reports whether the next line belongs to a fenced block, as the lines
// that open and close one do.
func (f *Fences) Encloses(line string) bool {
	line = strings.TrimSpace(line)
	switch {
	case f.mark != "":
		if strings.HasPrefix(line, f.mark) {
			f.mark = ""
		}
		return true
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		f.mark = line[:3]
		return true
	default:
		return false
	}
}

// printable replaces characters that move the cursor, reorder letters, or are not
// letters at all.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Co):
			return unicode.ReplacementChar
		default:
			return r
		}
	}, strings.ToValidUTF8(text, "\uFFFD"))
}

// clip truncates text longer than bound characters.
func clip(text string, bound int) string {
	if utf8.RuneCountInString(text) <= bound {
		return text
	}
	return strings.TrimRight(string([]rune(text)[:bound-1]), " ") + "…"
}

// longestRun returns the length of the longest run of mark in text.
func longestRun(text string, mark rune) int {
	longest, run := 0, 0
	for _, r := range text {
		if r != mark {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return longest
}
