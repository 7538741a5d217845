// Package untrusted makes text from outside safe to draw: tool output, tool
// descriptions, project files and the words of models.
package untrusted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tabWidth is how far apart tab stops are, in cells.
const tabWidth = 4

// Visible makes text from outside safe to draw: control characters, escape
// sequences, bidi and zero-width characters come out as signs that can be
// seen, tabs as blanks, line breaks as they are.
func Visible(s string) string {
	if harmless(s) {
		return s
	}
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	b.Grow(len(s) + 16)
	column := 0
	var before rune // the one drawn last
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteByte('\n')
			column = -1
		case r == '\t':
			blanks := tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", blanks))
			column += blanks - 1
		case r == 0xFE0F, joins(before, s[i:]):
			// These only ask for another form of an emoji, or for one picture in place
			// of several; terminals disagree on how wide that is.
			i += size
			continue
		case regional(r):
			// Two are a flag. One alone is as wide as it likes.
			if second, more := utf8.DecodeRuneInString(s[i+size:]); regional(second) {
				b.WriteString(s[i : i+size+more])
				size += more
				column++
			} else {
				b.WriteString(namedRune(r))
			}
		case unsafeRune(r):
			b.WriteString(namedRune(r))
		default:
			b.WriteRune(r)
		}
		column++
		before = r
		i += size
	}
	return b.String()
}

// joins reports whether the rune that s begins with joins emoji to one picture, or
// gives the one before a colour of skin.
func joins(before rune, s string) bool {
	r, size := utf8.DecodeRuneInString(s)
	switch {
	case !pictograph(before):
		return false
	case r == 0x200D:
		next, _ := utf8.DecodeRuneInString(s[size:])
		return pictograph(next)
	default:
		return skin(r) && !skin(before)
	}
}

// pictograph reports whether r is a picture that can be part of a larger one.
func pictograph(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF && !regional(r) || r >= 0x2190 && r <= 0x2BFF
}

// skin reports whether r gives the emoji before it a colour of skin.
func skin(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// regional reports whether r is half a flag.
func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// Line is Visible for what must stay on one line.
func Line(s string) string {
	s = Visible(strings.TrimSpace(s))
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// FirstLine is the first line of text that says anything.
func FirstLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return Line(line)
		}
	}
	return ""
}

// harmless reports whether every byte is printable ASCII or a line break, so
// that nothing need be looked at rune by rune.
func harmless(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 && c != '\n') || c >= 0x7F {
			return false
		}
	}
	return true
}

// unsafeRune reports whether a terminal would obey r, or not show it at all.
func unsafeRune(r rune) bool {
	switch {
	case r >= 0x20 && r < 0x7F: // what most text is made of
		return false
	case r < 0x20 && r != '\n', r >= 0x7F && r < 0xA0: // C0 and C1
		return true
	case unicode.Is(unicode.Cf, r): // bidi, zero width, tags and their like
		return true
	case r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0100 && r <= 0xE01EF: // variation selectors can hide data
		return true
	case skin(r):
		return true // where there is nothing to colour; joins takes the others
	case r == 0x2028, r == 0x2029, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x034F:
		return true // line separators and letters that show nothing
	case unicode.Is(unicode.Co, r): // private use: any width, any shape
		return true
	}
	return false
}

// namedRune writes a rune that cannot be drawn, in caret notation or by number.
func namedRune(r rune) string {
	switch {
	case r < 0x20:
		return "^" + string(r+'@')
	case r == 0x7F:
		return "^?"
	default:
		return fmt.Sprintf("<U+%04X>", r)
	}
}

// characterReference is a character written as a number, as Markdown allows.
var characterReference = regexp.MustCompile(`(?i)&#(x[0-9a-f]{1,7}|[0-9]{1,8});`)

// Markdown is Visible for Markdown, where a character can also hide
// behind its number.
func Markdown(s string) string {
	s = Visible(s)
	if !strings.Contains(s, "&#") {
		return s
	}
	return characterReference.ReplaceAllStringFunc(s, func(ref string) string {
		digits, base := ref[2:len(ref)-1], 10
		if digits[0] == 'x' || digits[0] == 'X' {
			digits, base = digits[1:], 16
		}
		n, err := strconv.ParseInt(digits, base, 32)
		if err != nil || !utf8.ValidRune(rune(n)) || unsafeRune(rune(n)) || rune(n) == '\n' {
			return "&amp;" + ref[1:]
		}
		return ref
	})
}
