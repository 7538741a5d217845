// Package digest sums up by rule, with no model: a file, a diff, a log, the
// report of a test run, what is known of a symbol. Its numbers are counted and its
// words are taken from what it reads.
//
// What it reads is text of files and tools, which anybody may have written. It is
// quoted in code spans and fences that it cannot leave, and never followed.
package digest

import (
	"cmp"
	"strings"

	"replan/internal/markdown"
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

// span quotes text as a span of code.
func span(s string) string { return cmp.Or(markdown.Code(s, 200), "(empty)") }

// fence quotes text as a block of code of at most so many lines.
func fence(language, s string, most int) string { return markdown.Fence(language, s, most) + "\n" }

// spans are names as spans of code.
func spans(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = span(n)
	}
	return out
}
