package untrusted

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tabWidth is the distance between tab stops, in cells.
const tabWidth = 4

// Visible makes text from outside safe to draw. It turns control, bidi and
// zero-width characters and escape sequences into visible signs, and tabs into
// blanks. It keeps line breaks.
func Visible(s string) string { return visible(s, false) }

// ForModel is like Visible, but for text that a model reads and may have to copy exactly.
// It keeps tabs, line ends, the mark that opens a file, and whole emoji.
func ForModel(s string) string { return visible(s, true) }

// visible implements Visible and, if exact, ForModel.
func visible(s string, exact bool) string {
	if harmless(s) || exact && !strings.ContainsFunc(s, mayHide) {
		return s
	}
	if !exact {
		s = strings.ReplaceAll(s, "\r\n", "\n")
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	column := 0
	var before rune // last rune drawn
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\n':
			b.WriteByte('\n')
			column = -1
		case exact && (r == '\t' || i == 0 && r == 0xFEFF || r == '\r' && strings.HasPrefix(s[i+size:], "\n")):
			b.WriteRune(r)
		case r == '\t':
			blanks := tabWidth - column%tabWidth
			b.WriteString(strings.Repeat(" ", blanks))
			column += blanks - 1
		case r == 0xFE0F && (!exact || hasVariant(s[:i])), joins(before, s[i:]):
			// These runes only select an emoji variant or join several emoji.
			// Terminals disagree on the resulting width.
			if exact {
				b.WriteRune(r)
			}
			i += size
			continue
		case regional(r):
			// Two form a flag. The width of a single one is undefined.
			if second, more := utf8.DecodeRuneInString(s[i+size:]); regional(second) {
				b.WriteString(s[i : i+size+more])
				size += more
				column++
			} else {
				b.WriteString(namedRune(r))
			}
		case r == 0xFE0F, unsafeRune(r):
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

// VisibleTabs is like Visible, but keeps tabs, for text that another program reads,
// such as a patch.
func VisibleTabs(s string) string {
	parts := strings.Split(s, "\t")
	for i, part := range parts {
		parts[i] = Visible(part)
	}
	return strings.Join(parts, "\t")
}

// joins reports whether the first rune of s joins two emoji or gives the emoji
// before it a skin tone.
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

// hasVariant reports whether the last rune of s may have a variant that is an emoji.
func hasVariant(s string) bool {
	r, size := utf8.DecodeLastRuneInString(s)
	if r == utf8.RuneError && size == 1 {
		return false // a byte that is shown by its number
	}
	return unicode.In(r, unicode.S, unicode.P, unicode.Nd) || r == 'ℹ'
}

// pictograph reports whether r is an emoji that can be part of a larger one.
func pictograph(r rune) bool {
	return r >= 0x1F000 && r <= 0x1FAFF && !regional(r) || r >= 0x2190 && r <= 0x2BFF
}

// skin reports whether r is a skin tone for the emoji before it.
func skin(r rune) bool { return r >= 0x1F3FB && r <= 0x1F3FF }

// regional reports whether r is half of a flag.
func regional(r rune) bool { return r >= 0x1F1E6 && r <= 0x1F1FF }

// Line is like Visible, but for text that must stay on one line.
func Line(s string) string {
	s = Visible(strings.TrimSpace(s))
	if !strings.Contains(s, "\n") {
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// FirstLine returns the first line of s that is not blank.
func FirstLine(s string) string {
	for line := range strings.SplitSeq(s, "\n") {
		if line = strings.TrimSpace(line); line != "" {
			return Line(line)
		}
	}
	return ""
}

// harmless reports whether every byte is printable ASCII or a line break, so that
// Visible can skip the check of each rune.
func harmless(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < 0x20 && c != '\n') || c >= 0x7F {
			return false
		}
	}
	return true
}

// mayHide reports whether ForModel may have to write r in another way.
func mayHide(r rune) bool {
	return r != '\t' && unsafeRune(r) || r == utf8.RuneError || r == 0xFE0F || regional(r)
}

// unsafeRune reports whether a terminal would interpret r or not show it.
func unsafeRune(r rune) bool {
	switch {
	case r >= 0x20 && r < 0x7F, r >= 0xAE && r < 0x300, r >= 0x370 && r < 0x600, r >= 0x3041 && r < 0x3100, r >= 0x3190 && r < 0xD7A4: // most text
		return false
	case r < 0x20 && r != '\n', r >= 0x7F && r < 0xA0: // C0 and C1
		return true
	case unicode.Is(unicode.Cf, r): // bidi, zero width, tags and similar
		return true
	case r >= 0xFE00 && r <= 0xFE0E, r >= 0xE0100 && r <= 0xE01EF: // variation selectors can hide data
		return true
	case skin(r):
		return true // no emoji to modify here; joins handles the others
	case r == 0x2028, r == 0x2029, r == 0x115F, r == 0x1160, r == 0x3164, r == 0xFFA0, r == 0x034F:
		return true // line separators and invisible letters
	case unicode.Is(unicode.Co, r): // private use: any width, any shape
		return true
	}
	return false
}

// namedRune writes an undrawable rune in caret notation or by number.
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

// characterReference matches a character written as a number, as Markdown allows.
var characterReference = regexp.MustCompile(`(?i)&#(x[0-9a-f]{1,7}|[0-9]{1,8});`)

// Markdown is like Visible, but for Markdown, where numeric references can also
// hide characters.
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
