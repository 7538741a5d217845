// Package digest sums up by rule, with no model: a file, a diff, a log, the
// report of a test run, what is known of a symbol. Its numbers are counted and its
// words are taken from what it reads.
//
// What it reads is text of files and tools, which anybody may have written. It is
// quoted in code spans and fences that it cannot leave, and never followed.
package digest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Digest is what something comes to.
type Digest struct {
	Kind    string // file, folder, diff, log, tests or symbol; with a + where it is of several
	Title   string // one line without Markdown; of a diff, a commit subject
	Summary string // Markdown
}

// Join puts several digests into one, the first giving the title.
func Join(all ...Digest) Digest {
	var out Digest
	for _, d := range all {
		switch {
		case d.Kind == "":
		case out.Kind == "":
			out = d
		default:
			out.Kind += "+" + d.Kind
			out.Summary = strings.TrimRight(out.Summary, "\n") + "\n\n" + d.Summary
		}
	}
	return out
}

// MaxTitle is how long a title is at most, in letters: what git shows of a
// subject in one line.
const MaxTitle = 72

// span is text as a code span that it cannot leave.
func span(s string) string {
	s = clipped(visible(s), 200)
	if s == "" {
		return "(empty)"
	}
	ticks := strings.Repeat("`", longest(s, '`')+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return ticks + s + ticks
}

// fence is text as a code block that it cannot leave, of at most so many lines.
func fence(language, s string, most int) string {
	var lines []string
	left := 0
	for line := range strings.Lines(s) {
		if len(lines) == most {
			left++
			continue
		}
		lines = append(lines, clipped(strings.TrimRight(printable(line), " \r\n"), 240))
	}
	body := strings.Join(lines, "\n")
	ticks := strings.Repeat("`", max(3, longest(body, '`')+1))
	out := ticks + language + "\n" + body + "\n" + ticks + "\n"
	if left > 0 {
		out += fmt.Sprintf("(%s)\n", extra(left, "line"))
	}
	return out
}

// visible is text on one line, without anything that is not drawn.
func visible(s string) string { return strings.Join(strings.Fields(printable(s)), " ") }

// printable leaves out what moves a cursor, or changes the order of letters.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case r == utf8.RuneError || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r):
			return -1
		default:
			return r
		}
	}, s)
}

// longest is the longest run of a letter in a text.
func longest(s string, letter rune) int {
	most, run := 0, 0
	for _, r := range s {
		if r != letter {
			run = 0
			continue
		}
		run++
		most = max(most, run)
	}
	return most
}

func clipped(s string, most int) string {
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:most-1]), " ") + "…"
}

// plural counts things: 1 file, 2 files.
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	switch {
	case strings.HasSuffix(what, "match") || strings.HasSuffix(what, "class"):
		what += "es"
	case strings.HasSuffix(what, "y"):
		what = strings.TrimSuffix(what, "y") + "ies"
	default:
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// extra counts what is left: 1 more file, 2 more files.
func extra(n int, what string) string { return strings.Replace(plural(n, what), " ", " more ", 1) }

// some names the first few of many: a, b and 3 more.
func some(names []string, most int, what string) string {
	if len(names) <= most {
		return and(names)
	}
	return fmt.Sprintf("%s and %s", strings.Join(names[:most], ", "), extra(len(names)-most, what))
}

func and(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// spans are names as code spans.
func spans(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = span(n)
	}
	return out
}
