package tests

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
)

const maxEventLine = 4 << 20 // maximum bytes of one event

// goEvent is a line of go test -json; see `go doc test2json`.
type goEvent struct {
	Action      string
	Package     string
	ImportPath  string // of a build
	Test        string
	Output      string
	FailedBuild string
}

// goEvents parses go test -json, which interleaves the events of several
// packages. It writes to shown the human-readable output: the result of each
// package and the output of failed tests.
type goEvents struct {
	shown    io.Writer
	status   func(string) // says which test runs
	report   *testReport
	dir      string                            // where the go command runs, relative to the workspace
	inside   func(file string) (string, error) // converts an absolute path to one relative to the workspace
	line     []byte
	packages map[string]*goPackage
	builds   map[string][]string // compiler output by import path
	building string              // import path in the output of older go commands
}

type goPackage struct {
	text  clippedText // output outside tests
	tests map[string]*goTestRun
	order []*goTestRun // in the order they started
	shown map[string]bool
}

// goTestRun is a test in progress.
type goTestRun struct {
	name  string
	state string // run, pause, pass, fail or skip
	text  clippedText
}

func (o *Operators) goEvents(shown io.Writer, status func(string), report *testReport, dir string) *goEvents {
	return &goEvents{
		shown: shown, status: status, report: report, dir: dir, inside: o.tree.Relative,
		packages: map[string]*goPackage{}, builds: map[string][]string{},
	}
}

func (g *goEvents) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			g.add(p)
			break
		}
		g.add(p[:i])
		g.event(g.line)
		g.line, p = g.line[:0], p[i+1:]
	}
	return n, nil
}

func (g *goEvents) add(p []byte) {
	if len(g.line)+len(p) <= maxEventLine {
		g.line = append(g.line, p...)
	}
}

// Close writes the output of tests that have not ended.
func (g *goEvents) Close() error {
	if len(g.line) > 0 {
		g.event(g.line)
	}
	names := make([]string, 0, len(g.packages))
	for name := range g.packages {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		p := g.packages[name]
		for _, t := range p.running() {
			g.report.hang(t.name)
			g.report.total++
			g.report.fail(g.failure(name, t, "the test did not end\n"))
		}
		g.endPackage(name, true)
	}
	return nil
}

func (g *goEvents) event(line []byte) {
	var e goEvent
	if !bytes.HasPrefix(line, []byte("{")) || json.Unmarshal(line, &e) != nil || e.Action == "" {
		g.plain(strings.TrimSuffix(string(line), "\r"))
		g.write(string(line) + "\n")
		return
	}
	switch {
	case e.Action == "build-output":
		g.builds[e.ImportPath] = append(g.builds[e.ImportPath], strings.TrimSuffix(e.Output, "\n"))
		g.write(e.Output)
	case e.Action == "build-fail":
	case e.Test != "":
		g.test(e)
	default:
		g.ofPackage(e)
	}
}

// plain handles a line that is not an event. Before Go 1.24 the go command
// printed compiler output that way.
func (g *goEvents) plain(line string) {
	if name, ok := strings.CutPrefix(line, "# "); ok {
		g.building = name
	}
	if g.building != "" {
		g.builds[g.building] = append(g.builds[g.building], line)
	}
}

func (g *goEvents) write(text string) { _, _ = io.WriteString(g.shown, text) } // never fails

func (g *goEvents) pkg(name string) *goPackage {
	p := g.packages[name]
	if p == nil {
		p = &goPackage{tests: map[string]*goTestRun{}, shown: map[string]bool{}}
		g.packages[name] = p
	}
	return p
}

func (g *goEvents) test(e goEvent) {
	p := g.pkg(e.Package)
	t := p.tests[e.Test]
	if t == nil {
		if !strings.Contains(e.Test, "/") {
			g.status("running " + e.Test)
		}
		t = &goTestRun{name: e.Test, state: "run"}
		p.tests[e.Test], p.order = t, append(p.order, t)
	}
	switch e.Action {
	case "output":
		if t.text.open() && (chatter(e.Output) || strings.HasPrefix(e.Output, "--- ")) {
			t.text.add("\n") // the test did not end its last line
		}
		t.text.add(e.Output)
	case "pause":
		t.state = "pause"
	case "run", "cont":
		t.state = "run"
	case "pass":
		g.report.ok++
		g.ended(e.Package, t, e.Action)
	case "skip":
		g.report.skipped++
		g.ended(e.Package, t, e.Action)
	case "fail":
		g.ended(e.Package, t, e.Action)
	}
}

// ended handles the end of a test. A test and its subtests are shown together
// after the outermost has failed.
func (g *goEvents) ended(pkg string, t *goTestRun, state string) {
	t.state = state
	g.report.total++
	p := g.pkg(pkg)
	if state == "fail" {
		f := g.failure(pkg, t, "")
		below := func(other *goTestRun) bool { return other.state == "fail" && strings.HasPrefix(other.name, t.name+"/") }
		if f.Message == "" && slices.ContainsFunc(p.order, below) {
			g.report.name(f) // its subtests say why
		} else {
			g.report.fail(f)
		}
	}
	if strings.Contains(t.name, "/") {
		return
	}
	if state == "fail" {
		g.show(p, func(other *goTestRun) bool { return other == t || strings.HasPrefix(other.name, t.name+"/") })
	}
	for _, other := range p.order {
		if other == t || strings.HasPrefix(other.name, t.name+"/") {
			other.text = clippedText{}
		}
	}
}

// show writes the output of tests that failed or did not end, each below its
// result.
func (g *goEvents) show(p *goPackage, which func(*goTestRun) bool) {
	for _, t := range p.order {
		if !which(t) || t.state != "fail" && t.state != "run" || p.shown[t.name] {
			continue
		}
		p.shown[t.name] = true
		indent := strings.Repeat("    ", strings.Count(t.name, "/"))
		lines := t.text.lines()
		verdict := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, "--- ") })
		if verdict >= 0 {
			g.write(indent + lines[verdict] + "\n")
		} else if len(lines) > 0 {
			g.write(indent + "=== RUN   " + t.name + "\n")
		}
		for i, line := range lines {
			if i != verdict && !chatter(line) {
				g.write(indent + line + "\n")
			}
		}
	}
}

// chatter reports whether a line comes from go test -v itself and not from a
// test.
func chatter(line string) bool {
	for _, begin := range []string{"=== RUN   ", "=== PAUSE ", "=== CONT  ", "=== NAME  ", "=== ATTR  "} {
		if strings.HasPrefix(line, begin) {
			return true
		}
	}
	return false
}

func (g *goEvents) ofPackage(e goEvent) {
	p := g.pkg(e.Package)
	switch e.Action {
	case "output":
		p.text.add(e.Output)
	case "pass":
		if strings.Contains(lastLine(p), "[no tests to run]") {
			g.report.untested++
		} else {
			g.report.packages++
		}
		g.endPackage(e.Package, false)
	case "skip":
		g.report.untested++
		g.endPackage(e.Package, false)
	case "fail":
		g.failPackage(e, p)
		g.endPackage(e.Package, true)
	}
}

func lastLine(p *goPackage) string {
	lines := p.text.lines()
	if len(lines) == 0 {
		return ""
	}
	return lines[len(lines)-1]
}

// failPackage reports a package as failed if none of its tests is, for example
// because it does not build or exits. It also reports the tests that a timeout
// ended.
func (g *goEvents) failPackage(e goEvent, p *goPackage) {
	running, lines := p.running(), p.text.lines()
	g.report.total += len(running)
	hung := slices.ContainsFunc(lines, isStopped)
	for _, t := range running {
		hung = hung || slices.ContainsFunc(t.text.lines(), isStopped)
	}
	why := ""
	if _, rest, ok := strings.Cut(lastLine(p), " ["); ok {
		why = strings.TrimSuffix(rest, "]")
	}
	switch {
	case e.FailedBuild != "" || strings.HasSuffix(why, " failed"):
		f := testFailure{Name: strings.TrimPrefix(e.Package, "./") + " (" + cmp.Or(why, "build failed") + ")", Package: e.Package}
		f.File, f.Line, f.Message = g.buildFailure(g.buildText(e))
		g.report.fail(f)
	case hung && len(running) > 0:
		g.hung(e.Package, running)
	case !slices.ContainsFunc(p.order, func(t *goTestRun) bool { return t.state == "fail" }):
		f := testFailure{Name: e.Package, Package: e.Package}
		var text []string
		if len(running) > 0 {
			names := make([]string, len(running))
			for i, t := range running {
				names[i] = t.name
				text = append(text, ownText(t)...)
			}
			text = slices.Insert(text, 0, "the package ended while "+strings.Join(names, ", ")+" ran")
		}
		text = append(text, lines...)
		f.File, f.Line = g.findPlace(text, e.Package)
		f.Message = strings.Join(text, "\n")
		g.report.fail(f)
	}
}

// hung reports the tests that did not end in time. The output of one of them
// contains all stacks.
func (g *goEvents) hung(pkg string, running []*goTestRun) {
	var stacks []string
	for _, t := range running {
		stacks = append(stacks, t.text.lines()...)
	}
	for _, t := range running {
		g.report.hang(t.name)
		f := g.failure(pkg, t, "the test did not end in time\n")
		f.File, f.Line = "", 0
		root, _, below := strings.Cut(t.name, "/")
		mark := "." + root + "("
		if below {
			mark = "." + root + ".func"
		}
		for i, l := range stacks[:max(0, len(stacks)-1)] {
			if strings.HasPrefix(l, "created by ") || !strings.Contains(l, mark) {
				continue
			}
			if file, line, ok := g.frame(stacks[i+1]); ok {
				f.File, f.Line = file, line
				break
			}
		}
		g.report.fail(f)
	}
}

// buildText returns the compiler output for a package and its dependencies.
func (g *goEvents) buildText(e goEvent) []string {
	if text := g.builds[e.FailedBuild]; len(text) > 0 {
		return text
	}
	if text := g.builds[e.Package]; len(text) > 0 {
		return text
	}
	for name, text := range g.builds {
		if strings.HasPrefix(name, e.Package+" ") {
			return text
		}
	}
	return nil
}

// buildPlace matches the place of a compile error. The go command prints it
// relative to the folder it runs in.
var buildPlace = lazyregexp.New(`^(?:vet: )?((?:[A-Za-z]:)?[^\s:][^:]*\.[a-zA-Z]+):(\d+)(?::\d+)?: `)

func (g *goEvents) buildFailure(lines []string) (file string, line int, message string) {
	lines = slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return strings.HasPrefix(l, "# ") })
	for _, l := range lines {
		if m := buildPlace.FindStringSubmatch(l); m != nil {
			file, line = g.place(m[1], m[2])
			break
		}
	}
	return file, line, strings.Join(lines, "\n")
}

// place converts a place in the go command's output to a path and a line.
func (g *goEvents) place(file, line string) (string, int) {
	if !filepath.IsAbs(file) {
		file = path.Join(g.dir, filepath.ToSlash(file))
		if !filepath.IsLocal(file) {
			return "", 0
		}
	} else if rel, err := g.inside(filepath.FromSlash(file)); err == nil {
		file = rel
	} else {
		return "", 0
	}
	n, err := strconv.Atoi(line)
	if err != nil {
		return "", 0
	}
	return file, n
}

// isStopped reports whether a line announces a timeout, either go's or ours.
func isStopped(line string) bool {
	return strings.HasPrefix(line, "panic: test timed out after ") || line == "signal: interrupt" || line == "signal: killed"
}

// running returns the unfinished tests that wait for no other test, that is,
// those without a running subtest.
func (p *goPackage) running() []*goTestRun {
	var all []*goTestRun
	for _, t := range p.order {
		below := func(other *goTestRun) bool {
			return other.state == "run" && strings.HasPrefix(other.name, t.name+"/")
		}
		if t.state == "run" && !slices.ContainsFunc(p.order, below) {
			all = append(all, t)
		}
	}
	return all
}

// endPackage shows the remaining output of a package and removes it.
func (g *goEvents) endPackage(name string, failed bool) {
	p := g.pkg(name)
	lines := p.text.lines()
	if failed {
		g.show(p, func(*goTestRun) bool { return true })
	} else if len(lines) > 0 {
		lines = lines[len(lines)-1:] // its result
	}
	for _, line := range lines {
		if line != "PASS" && line != "FAIL" {
			g.write(line + "\n")
		}
	}
	delete(g.packages, name)
}

// ownText returns the output of a test without result lines.
func ownText(t *goTestRun) []string {
	return slices.DeleteFunc(t.text.lines(), func(l string) bool {
		return chatter(l) || strings.HasPrefix(strings.TrimSpace(l), "--- FAIL: ")
	})
}

// failure returns the message of a failed test. It is empty if the test failed
// only because of a subtest.
func (g *goEvents) failure(pkg string, t *goTestRun, why string) testFailure {
	f := testFailure{Name: t.name, Package: pkg}
	text := ownText(t)
	f.File, f.Line = g.findPlace(text, pkg)
	if i := slices.IndexFunc(text, func(l string) bool { return strings.HasPrefix(l, "goroutine ") }); i >= 0 && slices.ContainsFunc(text[:i], isPanic) {
		text = text[:i] // the place holds the rest
	}
	f.Message = why + dedent(text)
	return f
}

func isPanic(line string) bool {
	return strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ")
}

var (
	// logPlace matches the prefix of t.Log and t.Error: a file of the package.
	logPlace = lazyregexp.New(`^\s*([^\s:/\\]+\.go):(\d+): `)
	// framePlace matches a line of a stack.
	framePlace = lazyregexp.New(`^\s+(\S.*\.go):(\d+)(?: \+0x[0-9a-f]+)?$`)
)

// frame parses a line of a stack that names a file of the workspace.
func (g *goEvents) frame(line string) (string, int, bool) {
	m := framePlace.FindStringSubmatch(line)
	if m == nil || !filepath.IsAbs(m[1]) {
		return "", 0, false
	}
	file, n := g.place(m[1], m[2])
	return file, n, file != ""
}

// findPlace finds where a test failed. Panics come first, because what was
// logged before a panic is not the cause. A file of the package itself gets
// the prefix ofPackage until its folder is known.
func (g *goEvents) findPlace(lines []string, pkg string) (string, int) {
	if panicked := slices.IndexFunc(lines, isPanic); panicked >= 0 {
		for _, l := range lines[panicked:] {
			if file, n, ok := g.frame(l); ok {
				return file, n
			}
		}
	}
	for _, l := range lines {
		if m := logPlace.FindStringSubmatch(l); m != nil && m[1] != "testing.go" {
			n, _ := strconv.Atoi(m[2]) // only digits
			return ofPackage + pkg + "/" + m[1], n
		}
	}
	return "", 0
}

// ofPackage is the prefix of a file known only to be in the package.
const ofPackage = "package:"
