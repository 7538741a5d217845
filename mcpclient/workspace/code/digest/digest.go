// Package digest sums up by rule, without a model: a file, a diff, a log, the
// report of a test run, the facts about a symbol. It counts its numbers, and takes
// its words from its input.
//
// The input is untrusted text of files and tools. It is quoted in code spans and
// fences it cannot leave, and never followed. The package imports source, and
// internal/english and internal/markdown; start reading at [Digest].
package digest

import (
	"cmp"
	"strings"

	"replan/internal/markdown"
)

// Digest is a summary.
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

// MaxTitle is the length of the longest title, in letters: git shows so much of a
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
