package digest

import (
	"cmp"
	"fmt"
	"path"
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
	return files.names
}

const (
	shownFailures = 12
	shownLines    = 14 // of a message
)

// Tests sums up a test run: the failures, their places, and the line with the most
// likely cause.
func Tests(r Report) Digest {
	d := Digest{Kind: "tests"}
	if r.Passed {
		d.Title, d.Summary = "The tests pass", "The tests pass"
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
	n := count(failures)
	d.Title = n.title(failures)
	d.Summary = "The test run failed"
	if parts := n.words(r.Total, "failed", "failed"); len(parts) > 0 {
		d.Summary = strings.Join(parts, ", ")
	} else if r.Summary != "" {
		d.Summary += ": " + span(r.Summary)
	}
	if r.Command != "" {
		d.Summary += " in " + span(r.Command)
	}
	d.Summary += ".\n"
	groups := grouped(failures)
	for _, g := range groups[:min(shownFailures, len(groups))] {
		d.Summary += "\n" + g.words()
	}
	if left := len(groups) - shownFailures; left > 0 {
		d.Summary += "\nand " + english.Count(left, "more group of failures") + ".\n"
	}
	if r.Output != "" && !slices.ContainsFunc(failures, func(f Failure) bool { return strings.TrimSpace(f.Message) != "" }) {
		if found := causes(r.Output); len(found) > 0 {
			d.Summary += "\nFrom the output:\n" + fence("text", strings.Join(found, "\n"), shownLines)
		} else {
			lines := strings.Split(strings.TrimRight(r.Output, "\n"), "\n")
			d.Summary += "\nThe end of the output:\n" + fence("text", strings.Join(lines[max(0, len(lines)-shownLines):], "\n"), shownLines)
		}
	}
	return d
}

// unbuilt matches the end of a failure's name if it is a package, not a test.
var unbuilt = lazyregexp.New(` \((?:build|setup) failed\)$`)

func (f Failure) isBuild() bool { return unbuilt.MatchString(f.Name) }

// title is the name of the test or package.
func (f Failure) title() string { return cmp.Or(unbuilt.ReplaceAllString(f.Name, ""), f.Package) }

// counts are how many packages do not build, how many others failed as a whole,
// and how many tests failed.
type counts struct{ builds, packages, tests int }

func count(failures []Failure) counts {
	var n counts
	for _, f := range failures {
		switch {
		case f.isBuild():
			n.builds++
		case f.Name == "" || f.Name == f.Package:
			n.packages++
		default:
			n.tests++
		}
	}
	return n
}

// words lists the counts with their verbs, for many and for one. of is the number
// of tests, 0 if unknown.
func (n counts) words(of int, fail, fails string) []string {
	var parts []string
	for _, part := range []struct {
		n           int
		noun        string
		many, one   string
		proportions bool
	}{{n.builds, "package", "do not build", "does not build", false}, {n.packages, "package", fail, fails, false}, {n.tests, "test", fail, fails, of > 0}} {
		switch {
		case part.n == 0:
		case part.proportions:
			parts = append(parts, fmt.Sprintf("%d of %s %s", part.n, english.Count(of, part.noun), part.many))
		case part.n == 1:
			parts = append(parts, "1 "+part.noun+" "+part.one)
		default:
			parts = append(parts, english.Count(part.n, part.noun)+" "+part.many)
		}
	}
	return parts
}

// title tells the failures on one line.
func (n counts) title(failures []Failure) string {
	short := strings.Join(n.words(0, "fail", "fails"), ", ")
	names := make([]string, len(failures))
	for i, f := range failures {
		names[i] = f.title()
	}
	switch all := len(failures); {
	case all == 0:
		return "The test run failed"
	case all == 1 && n.builds == 1:
		return fits(names[0]+" does not build", short)
	case all == 1:
		return fits(names[0]+" fails", short)
	case n.builds == all || n.packages == all:
		return fits(short+": "+english.Some(names, 2, "package"), short)
	case n.tests == all:
		return fits(short+": "+english.Some(names, 2, "test"), short)
	default:
		return short
	}
}

// group is failures with one cause.
type group struct {
	build    bool
	cause    string
	at       string // the place of a build fault
	failures []Failure
}

var position = lazyregexp.New(`^\S+?:\d+(?::\d+)?: `)

// grouped groups failures by their cause, faults of the build first; one without a
// cause stays alone. A test with failed subtests adds nothing to them.
func grouped(failures []Failure) []group {
	var groups []group
	for _, f := range failures {
		g := group{build: f.isBuild(), cause: f.cause(), failures: []Failure{f}}
		if g.build {
			g.cause, g.at = position.ReplaceAllString(g.cause, ""), place(f.File, f.Line)
		}
		same := func(o group) bool {
			return g.cause+g.at != "" && o.build == g.build && o.cause == g.cause && o.at == g.at
		}
		if i := slices.IndexFunc(groups, same); i >= 0 {
			groups[i].failures = append(groups[i].failures, f)
		} else if g.cause != "" || f.Name == "" || !slices.ContainsFunc(failures, func(o Failure) bool { return strings.HasPrefix(o.Name, f.Name+"/") }) {
			groups = append(groups, g)
		}
	}
	slices.SortStableFunc(groups, func(a, b group) int {
		switch {
		case a.build == b.build:
			return 0
		case a.build:
			return -1
		default:
			return 1
		}
	})
	return groups
}

func (g group) words() string {
	message := g.failures[0].Message
	if g.build {
		return g.fault() + fence("text", severalLines(message), shownLines)
	}
	lines := make([]string, len(g.failures))
	for i, f := range g.failures {
		lines[i] = span(f.title())
		if f.Package != "" && f.Package != f.title() {
			lines[i] += " of " + span(f.Package)
		}
		if f.File != "" {
			lines[i] += " at " + span(place(f.File, f.Line))
		}
	}
	text := list(lines, shownFailures, "test")
	if g.cause == "" {
		return text
	}
	if markdown.Line(message, 200) == g.cause {
		message = ""
	}
	return text + "\n  Likely cause: " + span(g.cause) + "\n" + fence("text", message, shownLines)
}

// severalLines is a text of more than one line, else "".
func severalLines(text string) string {
	if strings.Contains(strings.TrimSpace(text), "\n") {
		return text
	}
	return ""
}

// fault tells of a fault of the build, and which packages need the broken one.
func (g group) fault() string {
	pkg := func(f Failure) string { return cmp.Or(f.Package, f.title()) }
	first := span(pkg(g.failures[0]))
	var said []string
	for _, part := range []string{g.at, g.cause} {
		if part != "" {
			said = append(said, span(part))
		}
	}
	text := "- does not build: " + strings.Join(said, ": ")
	if len(said) == 0 {
		return text + first + "\n"
	}
	n := len(g.failures)
	dir := path.Base(path.Dir(g.failures[0].File))
	own := slices.IndexFunc(g.failures, func(f Failure) bool { return path.Base(pkg(f)) == dir })
	switch {
	case n == 1:
		return text + "\n  in " + first + "\n"
	case own < 0:
		return text + "\n  in a package that " + english.Count(n, "package") + " need, like " + first + "\n"
	default:
		return text + "\n  in " + span(pkg(g.failures[own])) + " and " + english.Count(n-1, "package") + " that need it\n"
	}
}

// telling are lines with a cause, the surest first.
var telling = []*lazyregexp.Regexp{
	lazyregexp.New(`(?i)^\s*(panic:|fatal error:|WARNING: DATA RACE|thread '.*' panicked|signal: )`),
	lazyregexp.New(`^\S*\.go:\d+:\d+: |^\s*error(\[E\d+\])?: |^.*\.(ts|js|tsx|jsx|py|rs|java|c|cpp):\d+.*error`),
	lazyregexp.New(`^E\s+\S|(?i)^\s*(\w*(Error|Exception))\b.*:?|assert(ion)?\b.*fail`),
	lazyregexp.New(`(?i)\b(expected|want(ed)?|got|should|must|mismatch|unexpected|differ|timed out|timeout|undefined|cannot|no such|not found|refused|denied)\b`),
	lazyregexp.New(``),
}

var noise = lazyregexp.New(`^\s*(=== |--- |FAIL\b|ok\s|PASS\b|goroutine \d+|exit status|\?\s|testing\.|created by |#|\^|-+$|=+$|$)`)

// cause is the line of the message with the most likely cause.
func (f Failure) cause() string {
	for _, kind := range telling {
		if found := matching(f.Message, kind); len(found) > 0 {
			return markdown.Line(found[0], 200)
		}
	}
	return ""
}

// causes are the lines with a cause, of the surest kind.
func causes(text string) []string {
	for _, kind := range telling[:len(telling)-1] {
		if found := matching(text, kind); len(found) > 0 {
			return found
		}
	}
	return nil
}

// matching are the first lines of a kind.
func matching(text string, kind *lazyregexp.Regexp) []string {
	const most = 8
	var found tally
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if kind.MatchString(line) && !noise.MatchString(line) && len(found.names) < most {
			found.add(line)
		}
	}
	return found.names
}
