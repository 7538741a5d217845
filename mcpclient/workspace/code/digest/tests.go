package digest

import (
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/markdown"
)

// Report is the report of a test run.
type Report struct {
	Passed   bool      `json:"passed"`
	Summary  string    `json:"summary"`
	Total    int       `json:"total"`
	OK       int       `json:"ok"`
	Failed   []string  `json:"failed"`
	Failures []Failure `json:"failures"`
	Command  string    `json:"command"`
	Output   string    `json:"output"`
}

// Failure is a failed test.
type Failure struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Commit is one of a log.
type Commit struct {
	Hash    string `json:"hash"`
	Author  string `json:"author"`
	Date    string `json:"date"`
	Subject string `json:"subject"`
	Touches bool   `json:"-"` // it changed a file in question
}

// Files are the files named by failures, each once.
func (r Report) Files() []string {
	var files []string
	for _, f := range r.Failures {
		if f.File != "" && !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	return files
}

const (
	shownFailures = 12
	shownCommits  = 5
	shownLines    = 14 // of a message
)

// Tests sums up a test run: the failures, their places, and the line with the most
// likely cause.
func Tests(r Report) Digest {
	d := Digest{Kind: "tests"}
	if r.Passed {
		d.Title = "The tests pass"
		d.Summary = "The tests pass"
		if s := markdown.Line(r.Summary, 200); s != "" {
			d.Summary += ": " + span(s)
		}
		d.Summary += ".\n"
		return d
	}
	failures := r.Failures
	if len(failures) == 0 {
		for _, name := range r.Failed {
			failures = append(failures, Failure{Name: name})
		}
	}
	d.Title = titled(failures)
	var b strings.Builder
	b.WriteString(head(r, counted(failures)))
	builds := faults(failures)
	for _, f := range builds[:min(shownFailures, len(builds))] {
		b.WriteString("\n" + f.words())
	}
	if left := len(builds) - shownFailures; left > 0 {
		fmt.Fprintf(&b, "\nand %s that keep packages from being built.\n", english.Count(left, "more fault"))
	}
	groups := grouped(slices.DeleteFunc(slices.Clone(failures), Failure.isBuild))
	for _, g := range groups[:min(shownFailures, len(groups))] {
		b.WriteString("\n" + g.words())
	}
	if left := len(groups) - shownFailures; left > 0 {
		fmt.Fprintf(&b, "\nand %s.\n", english.Count(left, "more group of failures"))
	}
	if bare(failures) && r.Output != "" {
		if cause := causes(r.Output); len(cause) > 0 {
			b.WriteString("\nFrom the output:\n\n" + fence("text", strings.Join(cause, "\n"), shownLines))
		} else {
			b.WriteString("\nThe end of the output:\n\n" + fence("text", lastLines(r.Output, shownLines), shownLines))
		}
	}
	d.Summary = b.String()
	return d
}

// titled is the failures in a line.
func titled(failures []Failure) string {
	n := counted(failures)
	short := strings.Join(n.words(0, "fail", "fails"), ", ")
	names := make([]string, len(failures))
	for i, f := range failures {
		names[i] = f.title()
		if f.isBuild() {
			names[i] = f.pkg()
		}
	}
	switch {
	case len(failures) == 0:
		return "The test run failed"
	case len(failures) == 1 && n.builds == 1:
		return fits(names[0]+" does not build", short)
	case len(failures) == 1:
		return fits(names[0]+" fails", short)
	case n.builds == len(failures) || n.packages == len(failures):
		return fits(short+": "+english.Some(names, 2, "package"), short)
	case n.tests == len(failures):
		return fits(short+": "+english.Some(names, 2, "test"), short)
	}
	return short
}

func head(r Report, failed counts) string {
	s := "The test run failed"
	if parts := failed.words(r.Total, "failed", "failed"); len(parts) > 0 {
		s = strings.Join(parts, ", ")
	} else if r.Summary != "" {
		s += ": " + span(r.Summary)
	}
	if r.Command != "" {
		s += " in " + span(r.Command)
	}
	return s + ".\n"
}

func bare(failures []Failure) bool {
	return !slices.ContainsFunc(failures, func(f Failure) bool { return strings.TrimSpace(f.Message) != "" })
}

func (f Failure) title() string {
	if f.Name == "" {
		return f.Package
	}
	return f.Name
}

// group is failures with one cause.
type group struct {
	cause    string
	failures []Failure
}

// grouped puts failures with the same cause together; one without a cause stays
// alone. A test with failed subtests adds nothing to them.
func grouped(failures []Failure) []group {
	var groups []group
	for _, f := range failures {
		cause := f.cause()
		if i := slices.IndexFunc(groups, func(g group) bool { return cause != "" && g.cause == cause }); i >= 0 {
			groups[i].failures = append(groups[i].failures, f)
			continue
		}
		if cause == "" && slices.ContainsFunc(failures, func(other Failure) bool { return strings.HasPrefix(other.Name, f.Name+"/") }) && f.Name != "" {
			continue
		}
		groups = append(groups, group{cause, []Failure{f}})
	}
	return groups
}

func (g group) words() string {
	var b strings.Builder
	for _, f := range g.failures[:min(shownFailures, len(g.failures))] {
		b.WriteString("- " + span(f.title()))
		if f.Package != "" && f.Package != f.title() {
			b.WriteString(" of " + span(f.Package))
		}
		if f.File != "" {
			at := f.File
			if f.Line > 0 {
				at = fmt.Sprintf("%s:%d", f.File, f.Line)
			}
			b.WriteString(" at " + span(at))
		}
		b.WriteByte('\n')
	}
	if left := len(g.failures) - shownFailures; left > 0 {
		fmt.Fprintf(&b, "- and %s\n", english.Count(left, "more test"))
	}
	if g.cause == "" {
		return b.String()
	}
	b.WriteString("\n  Likely cause: " + span(g.cause) + "\n")
	if message := g.failures[0].Message; markdown.Line(message, 200) != g.cause {
		b.WriteString("\n" + fence("text", message, shownLines))
	}
	return b.String()
}

// telling are lines with a cause, the surest first.
var telling = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^\s*(panic:|fatal error:|WARNING: DATA RACE|thread '.*' panicked|signal: )`),
	lazyregexp.New(`^\S*\.go:\d+:\d+: |^\s*error(\[E\d+\])?: |^.*\.(ts|js|tsx|jsx|py|rs|java|c|cpp):\d+.*error`),
	lazyregexp.New(`^E\s+\S|(?i)^\s*(\w*(Error|Exception))\b.*:?|assert(ion)?\b.*fail`),
	lazyregexp.New(`(?i)\b(expected|want(ed)?|got|should|must|mismatch|unexpected|differ|timed out|timeout|undefined|cannot|no such|not found|refused|denied)\b`),
}

var noise = lazyregexp.New(`^\s*(=== |--- |FAIL\b|ok\s|PASS\b|goroutine \d+|exit status|\?\s|testing\.|created by |#|\^|-+$|=+$|$)`)

// cause is the line of the message with the most likely cause.
func (f Failure) cause() string {
	if c := causes(f.Message); len(c) > 0 {
		return markdown.Line(c[0], 200)
	}
	for line := range strings.Lines(f.Message) {
		if !noise.MatchString(line) {
			return markdown.Line(line, 200)
		}
	}
	return ""
}

// causes are the lines with a cause, of the surest kind.
func causes(text string) []string {
	const most = 8
	for _, kind := range telling {
		var found []string
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\r\n")
			if kind.MatchString(line) && !noise.MatchString(line) && len(found) < most && !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// Recent are the commits most likely related to failures: those touching their
// files first.
func Recent(commits []Commit, files []string) string {
	if len(commits) == 0 {
		return ""
	}
	var first, rest []Commit
	for _, c := range commits {
		if c.Touches {
			first = append(first, c)
		} else {
			rest = append(rest, c)
		}
	}
	var b strings.Builder
	b.WriteString("Recent changes")
	if len(first) > 0 {
		b.WriteString(", those first that touched " + english.Some(spans(files), 2, "failing file"))
	} else if len(files) > 0 {
		b.WriteString("; none of them touched " + english.Some(spans(files), 2, "failing file"))
	}
	b.WriteString(":\n\n")
	for _, c := range append(first, rest...)[:min(shownCommits, len(commits))] {
		b.WriteString(c.words() + "\n")
	}
	return b.String()
}

func (c Commit) words() string {
	hash := c.Hash
	if len(hash) > 10 {
		hash = hash[:10]
	}
	date, _, _ := strings.Cut(c.Date, "T")
	s := fmt.Sprintf("- %s %s %s", span(hash), escaped(date), span(c.Subject))
	if c.Author != "" {
		s += " by " + escaped(c.Author)
	}
	if c.Touches {
		s += " (touches a failing file)"
	}
	return s
}

var special = lazyregexp.New("[\\\\`*_{}\\[\\]<>()#+!|~&]")

// escaped is text without a meaning in Markdown.
func escaped(s string) string {
	return special.ReplaceAllString(markdown.Line(s, 80), `\$0`)
}

// Log sums up a log. total counts all commits.
func Log(commits []Commit, total int) Digest {
	d := Digest{Kind: "log", Title: "No commits", Summary: "There are no commits.\n"}
	if len(commits) == 0 {
		return d
	}
	authors := map[string]int{}
	var order []string
	for _, c := range commits {
		if authors[c.Author] == 0 {
			order = append(order, c.Author)
		}
		authors[c.Author]++
	}
	slices.SortStableFunc(order, func(a, b string) int { return authors[b] - authors[a] })
	total = max(total, len(commits))
	d.Title = fits(english.Count(total, "commit")+", the last: "+commits[0].Subject, english.Count(total, "commit"))
	var b strings.Builder
	fmt.Fprintf(&b, "%s", english.Count(total, "commit"))
	if total > len(commits) {
		fmt.Fprintf(&b, ", of which the last %d were read", len(commits))
	}
	by := make([]string, len(order))
	for i, name := range order {
		by[i] = fmt.Sprintf("%s (%d)", escaped(name), authors[name])
	}
	oldest, _, _ := strings.Cut(commits[len(commits)-1].Date, "T")
	newest, _, _ := strings.Cut(commits[0].Date, "T")
	fmt.Fprintf(&b, ", %s to %s, by %s:\n\n", escaped(oldest), escaped(newest), english.Some(by, 3, "author"))
	const shown = 12
	for _, c := range commits[:min(shown, len(commits))] {
		b.WriteString(c.words() + "\n")
	}
	if left := len(commits) - shown; left > 0 {
		fmt.Fprintf(&b, "- and %s\n", english.Count(left, "more commit"))
	}
	d.Summary = b.String()
	return d
}
