package digest

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/markdown"
)

// Digest is a summary.
type Digest struct {
	Kind    string // file, folder, diff, log, tests or symbol; several are joined by +
	Title   string // one line without Markdown; of a diff, a commit subject
	Summary string // Markdown
}

// Join joins several digests; the first gives the title.
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

// MaxTitle is the maximum length of a title in characters: git shows that much of
// a subject on one line.
const MaxTitle = 72

// fits returns the first wording that is short enough, on one line; the last is
// cut.
func fits(wordings ...string) string {
	for _, s := range wordings {
		if s = markdown.Line(s, 200); utf8.RuneCountInString(s) <= MaxTitle {
			return s
		}
	}
	return markdown.Line(wordings[len(wordings)-1], MaxTitle)
}

// span quotes text as a span of code.
func span(s string) string { return cmp.Or(markdown.Code(s, 200), "(empty)") }

// spans quotes names as spans of code.
func spans(names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = span(n)
	}
	return out
}

// fence quotes text as a block of code of at most so many lines, below a blank
// line; "" if there is none.
func fence(language, s string, most int) string {
	if s == "" {
		return ""
	}
	return "\n" + markdown.Fence(language, s, most) + "\n"
}

var special = lazyregexp.New("[\\\\`*_{}\\[\\]<>()#+!|~&]")

// escaped is text without a meaning in Markdown.
func escaped(s string) string {
	return special.ReplaceAllString(markdown.Line(s, 200), `\$0`)
}

// note is a remark as a paragraph of its own.
func note(s string) string {
	if s == "" {
		return ""
	}
	return "\n" + escaped(s) + "\n"
}

// list writes lines as a list; those beyond shown are counted.
func list(lines []string, shown int, noun string) string {
	var b strings.Builder
	for _, line := range lines[:min(shown, len(lines))] {
		b.WriteString("- " + line + "\n")
	}
	if left := len(lines) - shown; left > 0 {
		b.WriteString("- and " + strings.TrimSpace(english.Count(left, "more "+noun)) + "\n")
	}
	return b.String()
}

// place is path:line; without a line it is the path.
func place(path string, line int) string {
	if line > 0 {
		return fmt.Sprintf("%s:%d", path, line)
	}
	return path
}

// tally counts names, in the order of their first use.
type tally struct {
	names []string
	count map[string]int
}

// all returns the names.
func (t *tally) all() []string { return t.names }

// of returns how often a name was used.
func (t *tally) of(name string) int { return t.count[name] }

func (t *tally) add(name string) {
	if t.count == nil {
		t.count = map[string]int{}
	}
	if t.count[name]++; t.count[name] == 1 {
		t.names = append(t.names, name)
	}
}
