package digest

import (
	"cmp"
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

// Failure is a failed test, or a package that failed or was not built.
type Failure struct {
	Name    string `json:"name"`
	Package string `json:"package"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// Files lists the files named by failures, each once.
func (r Report) Files() []string {
	var files tally
	for _, f := range r.Failures {
		if f.File != "" {
			files.add(f.File)
		}
	}
	return files.all()
}

const (
	shownFailures = 12
	shownLines    = 14 // of a message
)

// Tests sums up a test run: the failures, their places, and the line with the most
// likely cause.
func Tests(r Report) Digest {
	if r.Passed {
		about := "The tests pass"
		if s := markdown.Line(r.Summary, 200); s != "" {
			about += ": " + span(s)
		}
		return Digest{Kind: "tests", Title: "The tests pass", Summary: about + ".\n"}
	}
	failures := r.Failures
	if len(failures) == 0 {
		for _, name := range r.Failed {
			failures = append(failures, Failure{Name: name})
		}
	}
	groups := grouped(failures)
	d := Digest{Kind: "tests", Title: title(failures), Summary: head(failures, r) + ".\n"}
	for _, g := range groups[:min(shownFailures, len(groups))] {
		d.Summary += "\n" + g.words()
	}
	if left := len(groups) - shownFailures; left > 0 {
		d.Summary += "\nand " + english.Count(left, "more group of failures") + ".\n"
	}
	if r.Output != "" && !slices.ContainsFunc(failures, func(f Failure) bool { return strings.TrimSpace(f.Message) != "" }) {
		d.Summary += "\nFrom the output:\n" + fence("text", outputOf(r.Output), shownLines)
	}
	return d
}

// outputOf are the lines of an output with a cause, or its end.
func outputOf(output string) string {
	for _, kind := range causes[:len(causes)-1] {
		if found := matching(output, kind); len(found) > 0 {
			return strings.Join(found, "\n")
		}
	}
	lines := strings.Split(strings.TrimRight(output, "\n"), "\n")
	return strings.Join(lines[max(0, len(lines)-shownLines):], "\n")
}

// unbuilt matches the end of a failure's name if it is a package, not a test.
var unbuilt = lazyregexp.New(` \((?:build|setup) failed\)$`)

func (f Failure) isBuild() bool { return unbuilt.MatchString(f.Name) }

// title is the name of the test or package.
func (f Failure) title() string { return cmp.Or(unbuilt.ReplaceAllString(f.Name, ""), f.Package) }

// head tells how many tests and packages failed.
func head(failures []Failure, r Report) string {
	builds := 0
	for _, f := range failures {
		if f.isBuild() {
			builds++
		}
	}
	var parts []string
	if builds > 0 {
		parts = append(parts, english.Count(builds, "package")+english.Agree(builds, " does", " do")+" not build")
	}
	switch n := len(failures) - builds; {
	case n > 0 && r.Total > 0:
		parts = append(parts, fmt.Sprintf("%d of %s failed", n, english.Count(r.Total, "test")))
	case n > 0:
		parts = append(parts, english.Count(n, "test")+" failed")
	}
	text := strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = "The test run failed"
		if r.Summary != "" {
			text += ": " + span(r.Summary)
		}
	}
	if r.Command != "" {
		text += " in " + span(r.Command)
	}
	return text
}

// title tells the failures on one line.
func title(failures []Failure) string {
	short := strings.Replace(head(failures, Report{}), " failed", english.Agree(len(failures), " fails", " fail"), 1)
	switch len(failures) {
	case 0:
		return "The test run failed"
	case 1:
		if failures[0].isBuild() {
			return fits(failures[0].title()+" does not build", short)
		}
		return fits(failures[0].title()+" fails", short)
	default:
		names := make([]string, len(failures))
		for i, f := range failures {
			names[i] = f.title()
		}
		return fits(short+": "+english.Some(names, 2, ""), short)
	}
}

// group is failures with one cause.
type group struct {
	build    bool
	cause    string
	failures []Failure
}

// grouped groups failures by their cause, faults of the build first; one without a
// cause stays alone. A test with failed subtests adds nothing to them.
func grouped(failures []Failure) []group {
	var groups []group
	for _, f := range failures {
		g := group{f.isBuild(), f.cause(), []Failure{f}}
		same := func(o group) bool { return g.cause != "" && o.build == g.build && o.cause == g.cause }
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i].failures = append(groups[i].failures, f)
		} else if g.cause != "" || f.Name == "" || !slices.ContainsFunc(failures, func(o Failure) bool { return strings.HasPrefix(o.Name, f.Name+"/") }) {
			groups = append(groups, g)
		}
	}
	builds := slices.DeleteFunc(slices.Clone(groups), func(g group) bool { return !g.build })
	return append(builds, slices.DeleteFunc(groups, func(g group) bool { return g.build })...)
}

func (g group) words() string {
	lines := make([]string, len(g.failures))
	for i, f := range g.failures {
		lines[i] = span(f.title())
		if f.Package != "" && f.Package != f.title() {
			lines[i] += " of " + span(f.Package)
		}
		if g.build {
			lines[i] += " does not build"
		}
		if f.File != "" {
			lines[i] += " at " + span(place(f.File, f.Line))
		}
	}
	text := list(lines, shownFailures, "test")
	if g.cause == "" {
		return text
	}
	message := g.failures[0].Message
	if markdown.Line(message, 200) == g.cause {
		message = ""
	}
	return text + "\nLikely cause: " + span(g.cause) + "\n" + fence("text", message, shownLines)
}

// causes are lines with a cause, the surest first.
var causes = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^\s*(panic:|fatal error:|WARNING: DATA RACE|thread '.*' panicked|signal: )`),
	lazyregexp.New(`^\S*\.go:\d+:\d+: |^\s*error(\[E\d+\])?: |^.*\.(ts|js|tsx|jsx|py|rs|java|c|cpp):\d+.*error`),
	lazyregexp.New(`^E\s+\S|(?i)^\s*(\w*(Error|Exception))\b.*:?|assert(ion)?\b.*fail`),
	lazyregexp.New(`(?i)\b(expected|want(ed)?|got|should|must|mismatch|unexpected|differ|timed out|timeout|undefined|cannot|no such|not found|refused|denied)\b`),
	lazyregexp.New(``),
}

var noise = lazyregexp.New(`^\s*(=== |--- |FAIL\b|ok\s|PASS\b|goroutine \d+|exit status|\?\s|testing\.|created by |#|\^|-+$|=+$|$)`)

// cause is the line of the message with the most likely cause.
func (f Failure) cause() string {
	for _, kind := range causes {
		if found := matching(f.Message, kind); len(found) > 0 {
			return markdown.Line(found[0], 200)
		}
	}
	return ""
}

// matching are the first lines of a kind.
func matching(text string, kind *lazyregexp.Regexp) []string {
	const most = 8
	var found tally
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if kind.MatchString(line) && !noise.MatchString(line) && len(found.all()) < most {
			found.add(line)
		}
	}
	return found.all()
}
