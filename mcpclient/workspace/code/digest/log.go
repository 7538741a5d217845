package digest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/markdown"
)

// Commit is one of a log.
type Commit struct {
	Hash    string `json:"hash"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
	Touches bool   `json:"-"` // it changed a file in question
}

// line tells of a commit.
func (c Commit) line() string {
	line := fmt.Sprintf("%s %s %s", markdown.Legible(c.Hash[:min(len(c.Hash), 10)], 10), c.day(), cmp.Or(markdown.Legible(c.Subject, 200), "(empty)"))
	if c.Author != "" {
		line += ", " + markdown.Legible(c.Author, 200)
	}
	if c.Touches {
		line += " (touches a failing file)"
	}
	return line
}

func (c Commit) day() string {
	day, _, _ := strings.Cut(c.Date, "T")
	return markdown.Legible(day, 200)
}

func commitLines(commits []Commit) []string {
	lines := make([]string, len(commits))
	for i, c := range commits {
		lines[i] = c.line()
	}
	return lines
}

// Recent lists the commits most likely related to failures: those that changed the
// failing files first.
func Recent(commits []Commit, files []string) string {
	if len(commits) == 0 {
		return ""
	}
	touches := func(c Commit) bool { return c.Touches }
	rest := slices.DeleteFunc(slices.Clone(commits), touches)
	first := slices.DeleteFunc(slices.Clone(commits), func(c Commit) bool { return !c.Touches })
	head := "Recent commits"
	switch failing := english.Some(spans(files), 2, "failing file"); {
	case len(first) > 0:
		head += " (those touching " + failing + " first)"
	case len(files) > 0:
		head += " (none touches " + failing + ")"
	}
	const shown = 5
	lines := commitLines(append(first, rest...))
	return head + ":\n\n" + list(lines[:min(shown, len(lines))], shown, "commit")
}

// Log sums up a log. total counts all commits.
func Log(commits []Commit, total int) Digest {
	if len(commits) == 0 {
		return Digest{Kind: "log", Title: "No commits", Summary: "There are no commits.\n"}
	}
	about := english.Count(max(total, len(commits)), "commit")
	dates := fmt.Sprintf(", %s to %s:\n\n", commits[len(commits)-1].day(), commits[0].day())
	return Digest{Kind: "log", Title: fits(about+", the last: "+commits[0].Subject, about), Summary: about + dates + list(commitLines(commits), 12, "commit")}
}
