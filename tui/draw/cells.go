package draw

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"replan/internal/english"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// widest measures the maximum width of text, with every letter counted alone.
// Most terminals count like this. Terminals that combine letters, such as those
// of Hindi and Thai, need fewer cells.
const widest = ansi.WcWidth

// Wrap breaks prose into lines of at most width cells.
func Wrap(s string, width int) []string {
	return breakLines(s, width, func(line string) string {
		// Before a flag such as --host, Wrap leaves a space beyond the edge.
		broken := wrapped(line, func(line string) string { return widest.Wrap(line, width, "") })
		return strings.ReplaceAll(broken, " \n", "\n")
	})
}

// wrapped breaks prose with a function of x/ansi, which breaks lines after any hyphen, but
// not after those that begin a word, such as --host. The sign that stands for them
// meanwhile is for private use and takes one cell; text that has it is broken as it is.
func wrapped(line string, wrap func(string) string) string {
	const held = "\uE02D"
	if !strings.Contains(line, "-") || strings.Contains(line, held) {
		return wrap(line)
	}
	var b strings.Builder
	word, escape := false, false
	for _, c := range []byte(line) {
		letter := c >= utf8.RuneSelf || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
		switch {
		case c == ansi.ESC:
			escape = true
		case escape: // up to the letter that ends it
			escape = !letter || c <= '9'
		case c == '-' && !word:
			b.WriteString(held)
			continue
		default:
			word = letter
		}
		b.WriteByte(c)
	}
	return strings.ReplaceAll(wrap(b.String()), held, "-")
}

// WrapCode breaks code and output into lines of at most width cells and keeps
// every space.
func WrapCode(s string, width int) []string {
	return breakLines(s, width, func(line string) string { return widest.Hardwrap(line, width, true) })
}

// WrapKept breaks text into lines of at most width cells and keeps every space.
// It breaks between words unless that leaves a line half empty.
func WrapKept(s string, width int) []string {
	return breakLines(s, width, func(line string) string {
		var b strings.Builder
		for {
			near := line // a prefix that surely fills a row, so that the cost stays linear in the line's length
			if limit := 16 * width; len(line) > limit {
				near = strings.ToValidUTF8(line[:limit], "")
			}
			if len(near) == len(line) && widest.StringWidth(line) <= width {
				break
			}
			head := truncate(widest, near, width, "")
			if head == near && len(near) < len(line) {
				head = truncate(widest, line, width, "")
			}
			if head == "" || head == line {
				break // a letter wider than the whole line
			}
			if !strings.HasPrefix(line[len(head):], " ") {
				if at := strings.LastIndexByte(head, ' ') + 1; at > len(head)/2 {
					head = head[:at]
				}
			}
			b.WriteString(head + "\n")
			line = line[len(head):]
		}
		return b.String() + line
	})
}

// WrapStyled breaks styled prose into lines of at most width cells. Each line keeps
// its styles.
func WrapStyled(s string, width int) []string {
	var out []string
	broken := wrapped(s, func(s string) string { return lipgloss.Wrap(s, width, "") })
	for part := range strings.SplitSeq(broken, "\n") {
		out = append(out, pieces(part, width)...)
	}
	return out
}

func breakLines(s string, width int, split func(string) string) []string {
	if width <= 0 {
		return nil
	}
	var out []string
	for line := range strings.SplitSeq(s, "\n") {
		if widest.StringWidth(line) <= width {
			out = append(out, line)
			continue
		}
		for part := range strings.SplitSeq(split(line), "\n") {
			out = append(out, pieces(part, width)...)
		}
	}
	return out
}

// pieces splits a line that is still too wide: word wrapping lets some hyphens
// and wide letters exceed the width.
func pieces(line string, width int) []string {
	w := widest.StringWidth(line)
	if w <= width {
		return []string{line}
	}
	var out []string
	for at := 0; at < w; {
		part := widest.TruncateLeft(truncate(widest, line, at+width, ""), at, "") // its Cut drops nothing on the left
		got := widest.StringWidth(part)
		if got == 0 {
			break // a letter wider than the whole line
		}
		out = append(out, part)
		at += got
	}
	return out
}

// truncate shortens one line to width cells. x/ansi alone does not shorten a
// line that fits by its own count.
func truncate(m ansi.Method, s string, width int, tail string) string {
	for n := width; ; n-- {
		out := m.Truncate(s, n, tail)
		if n <= 0 || m.StringWidth(out) <= width {
			return out
		}
	}
}

// steady rewrites typed text so that it takes the same cells in every terminal.
// It keeps the first emoji of a sequence and drops characters that only affect
// how others look. The text sent stays as typed.
func steady(line string) string {
	if !strings.ContainsFunc(line, unsteady) {
		return line
	}
	var b strings.Builder
	b.Grow(len(line))
	p := ansi.GetParser()
	defer ansi.PutParser(p)
	var state byte
	for rest := line; rest != ""; {
		seq, width, n, next := ansi.DecodeSequence(rest, state, p)
		switch r, size := utf8.DecodeRuneInString(seq); {
		case !strings.ContainsFunc(seq, unsteady) || seq[0] == ansi.ESC:
			b.WriteString(seq)
		case width > 0 && !unsteady(r):
			b.WriteString(seq[:size])
			b.WriteString(strings.Repeat(" ", max(width-widest.StringWidth(seq[:size]), 0)))
		default:
			b.WriteString(strings.Repeat(" ", width))
		}
		state, rest = next, rest[n:]
	}
	return b.String()
}

// SteadyLines returns the lines of a rendered text field, made steady.
func SteadyLines(drawn string) []string {
	lines := strings.Split(drawn, "\n")
	for i, line := range lines {
		lines[i] = steady(line)
	}
	return lines
}

// unsteady reports whether terminals disagree on how r affects its neighbors.
func unsteady(r rune) bool {
	return r >= 0xAD && (unicode.Is(unicode.Cf, r) || r >= 0xFE00 && r <= 0xFE0F || r >= 0x1F3FB && r <= 0x1F3FF)
}

// outputShown is the maximum size, in bytes, of an error or a model's text on
// the screen. The journal keeps all of it.
const outputShown = 64 << 10

// Clip keeps the end of a text that is too long to draw, and says so.
func Clip(s string) string {
	if len(s) <= outputShown {
		return s
	}
	return fmt.Sprintf("(%d KB before this are not shown)\n", (len(s)-outputShown)>>10) +
		strings.ToValidUTF8(s[len(s)-outputShown:], "")
}

// Flow arranges parts on lines of at most width cells, with breaks only between
// parts.
func Flow(parts []string, between string, width int) []string {
	var lines []string
	line := ""
	for _, part := range parts {
		switch {
		case line == "":
			line = part
		case ansi.StringWidth(line)+ansi.StringWidth(between)+ansi.StringWidth(part) <= width:
			line += between + part
		default:
			lines = append(lines, line)
			line = part
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// Indent indents lines by two cells.
func Indent(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// Aside wraps text in lines of at most width cells, indented by two.
func Aside(style lipgloss.Style, text string, width int) []string {
	return Paint(style, Indent(Wrap(text, width-2)))
}

// Hang puts lead before the first line and as many blanks before the others.
func Hang(lead string, lines []string) []string {
	return leadWith(lead, strings.Repeat(" ", VisibleWidth(lead)), lines)
}

// leadWith puts first before the first line and rest before the others.
func leadWith(first, rest string, lines []string) []string {
	for i, line := range lines {
		lines[i] = first + line
		first = rest
	}
	return lines
}

// AtMost keeps maxLines lines. The last of them takes the text of the rest, cut to
// width cells.
func (l *Styles) AtMost(lines []string, maxLines, width int) []string {
	if len(lines) <= maxLines {
		return lines
	}
	return append(lines[:maxLines-1:maxLines-1], l.Cut(strings.Join(lines[maxLines-1:], " "), width))
}

// Shorten keeps maxLines lines and counts the others in one more line. A single
// other line takes the place of its count.
func (l *Styles) Shorten(lines []string, maxLines, width int) []string {
	more := len(lines) - maxLines
	if more <= 1 {
		return lines
	}
	return append(lines[:maxLines:maxLines], l.Faint.Render(l.Cut(english.Count(more, "more line"), width)))
}

// At returns line i, or "" beyond the end.
func At(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return ""
}

// VisibleWidth returns the width of text on the screen, in cells, without its
// styles.
func VisibleWidth(s string) int { return widest.StringWidth(s) }
