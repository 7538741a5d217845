package digest

import (
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
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
	line := fmt.Sprintf("%s %s %s", span(c.Hash[:min(len(c.Hash), 10)]), c.day(), span(c.Subject))
	if c.Author != "" {
		line += " by " + escaped(c.Author)
	}
	if c.Touches {
		line += " (touches a failing file)"
	}
	return line
}

func (c Commit) day() string {
	day, _, _ := strings.Cut(c.Date, "T")
	return escaped(day)
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
	head := "Recent changes"
	switch failing := english.Some(spans(files), 2, "failing file"); {
	case len(first) > 0:
		head += ", those first that touched " + failing
	case len(files) > 0:
		head += "; none of them touched " + failing
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
	var authors tally
	for _, c := range commits {
		authors.add(c.Author)
	}
	slices.SortStableFunc(authors.names, func(a, b string) int { return authors.count[b] - authors.count[a] })
	by := make([]string, len(authors.names))
	for i, name := range authors.names {
		by[i] = fmt.Sprintf("%s (%d)", escaped(name), authors.count[name])
	}
	total = max(total, len(commits))
	about := english.Count(total, "commit")
	title := fits(about+", the last: "+commits[0].Subject, about)
	if total > len(commits) {
		about += fmt.Sprintf(", of which the last %d were read", len(commits))
	}
	about += fmt.Sprintf(", %s to %s, by %s:\n\n", commits[len(commits)-1].day(), commits[0].day(), english.Some(by, 3, "author"))
	return Digest{Kind: "log", Title: title, Summary: about + list(commitLines(commits), 12, "commit")}
}
