package tests

import (
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
	"replan/mcpclient/workspace/op"
)

// textReport parses the human-readable output of test runners: cargo test,
// pytest, unittest, Jest, Vitest, Mocha, node --test, and go test run by make. If it
// recognizes nothing, only the exit status counts.
type textReport struct {
	*testReport
	dir    string                       // where the runner runs, relative to the workspace
	inside func(string) (string, error) // converts an absolute path to one relative to the workspace

	block   *testBlock
	blocks  map[string]*testBlock // output of failed tests by the name that their runner uses
	results bool                  // cargo has printed a summary
	hanging bool                  // the next lines name running Go tests
	titles  []string              // of a Mocha failure, until the name is complete
	ruled   bool                  // unittest has drawn a line above a failed test
	subtest bool                  // node --test prints details of failures at the end
}

// testBlock is the part of the output about one failed test.
type testBlock struct {
	kind  string // the runner
	name  string
	lines []string
}

var (
	cargoBlock  = lazyregexp.New(`^---- (.+) (?:stdout|stderr) ----$`)
	cargoResult = lazyregexp.New(`^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;`)
	cargoError  = lazyregexp.New(`^error(?:\[E\d+\])?: `)
	cargoBuild  = lazyregexp.New("^error: could not compile `([^`]+)`")
	cargoSlow   = lazyregexp.New(`^test (.+) has been running for over \d+ seconds$`)
	rustPlace   = lazyregexp.New(`(?:panicked at |--> )(?:'.*', )?(\S+\.rs):(\d+):\d+`)

	pytestBlock = lazyregexp.New(`^_{3,} (.+?) _{3,}$`)
	pytestCount = lazyregexp.New(`(\d+) (passed|failed|skipped|xfailed|xpassed|errors?)\b`)
	pytestTotal = lazyregexp.New(`^=*\s*((?:\d+ [a-z]+(?:, )?)+|no tests ran) in [\d.]+s`)
	pythonPlace = lazyregexp.New(`^(\S.*\.py):(\d+): `)

	jestBlock  = lazyregexp.New(`^  ● (.+)$`)
	jestTests  = lazyregexp.New(`^Tests: +(.*\d+ total)$`)
	jestFile   = lazyregexp.New(`^FAIL (\S+)`)
	vitestFail = lazyregexp.New(`^ FAIL  (.+)$`)
	vitestRule = lazyregexp.New(`^⎯+`)
	vitestSums = lazyregexp.New(`^ +Tests  (.*\(\d+\))$`)
	scriptAt   = lazyregexp.New(`(?:^|[\s(])(?:file://)?([^\s()'"]+\.(?:[cm]?[jt]sx?|vue|svelte)):(\d+):\d+`)
	jsCount    = lazyregexp.New(`(\d+) (passed|failed|skipped|todo|total)`)

	mochaCount = lazyregexp.New(`^  (\d+) (passing|failing|pending)\b`)
	mochaBlock = lazyregexp.New(`^  \d+\) (.+)$`)
	nodeCount  = lazyregexp.New(`^(?:#|ℹ) (tests|pass|fail|skipped|todo|cancelled) (\d+)$`)
	tapFail    = lazyregexp.New(`^( *)not ok \d+ - (.+)$`)
	nodeFail   = lazyregexp.New(`^✖ (.+) \([\d.]+ms\)$`)

	goFail = lazyregexp.New(`^\s*--- FAIL: (\S+)`)
)

// line handles the next line of the output.
func (r *textReport) line(line string) {
	line = strings.TrimRight(line, "\r")
	if r.cargo(line) || r.unittest(line) || r.pytest(line) || r.jest(line) || r.vitest(line) || r.mocha(line) || r.node(line) || r.golang(line) {
		return
	}
	if r.block != nil && len(r.block.lines) < maxFailures {
		r.block.lines = append(r.block.lines, line)
	}
}

// begin starts the part about a failed test.
func (r *textReport) begin(kind, name string) {
	r.block = &testBlock{kind: kind, name: name}
	if len(r.blocks) < maxFailures {
		r.blocks[name] = r.block
	}
}

func (r *textReport) in(kind string) bool { return r.block != nil && r.block.kind == kind }

func (r *textReport) cargo(line string) bool {
	switch {
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... FAILED"):
		r.count(tally{total: 1})
		name := strings.TrimSuffix(strings.TrimPrefix(line, "test "), " ... FAILED")
		r.fail(testFailure{Name: name})
	case strings.HasPrefix(line, "test ") && strings.HasSuffix(line, " ... ok"):
		r.count(tally{total: 1, ok: 1})
	case strings.HasPrefix(line, "test ") && strings.Contains(line, " ... ignored"):
		r.count(tally{total: 1, skipped: 1})
	case cargoSlow.MatchString(line):
		r.hang(cargoSlow.FindStringSubmatch(line)[1])
	case cargoBlock.MatchString(line):
		r.begin("cargo", cargoBlock.FindStringSubmatch(line)[1])
	case line == "failures:" && r.in("cargo"):
		r.block = nil
	case cargoResult.MatchString(line):
		r.block, r.results = nil, true
	case cargoBuild.MatchString(line):
		r.block = nil
		r.name(testFailure{Name: cargoBuild.FindStringSubmatch(line)[1] + " (build failed)"})
	case cargoError.MatchString(line) && !strings.HasPrefix(line, "error: test failed"):
		r.begin("rustc", line)
		r.block.lines = []string{line}
	case strings.HasPrefix(line, "warning: ") && r.in("rustc"):
		r.block = nil
	case line == "" && r.in("rustc"):
		b := r.block
		r.block = nil
		f := testFailure{Name: b.name}
		f.File, f.Line = r.place(b)
		f.Message = strings.Join(b.lines, "\n")
		if f.File != "" {
			r.locate(f)
		}
	default:
		return false
	}
	return true
}

func (r *textReport) pytest(line string) bool {
	if m := pytestTotal.FindStringSubmatch(line); m != nil {
		r.block = nil
		r.summarize(strings.Trim(line, "= "))
		r.matchNone(m[1] == "no tests ran")
		var count tally
		for _, c := range pytestCount.FindAllStringSubmatch(m[1], -1) {
			n, _ := strconv.Atoi(c[1]) // only digits
			count.total += n
			switch c[2] {
			case "passed", "xpassed":
				count.ok += n
			case "skipped", "xfailed":
				count.skipped += n
			}
		}
		r.recount(count)
		return true
	}
	switch {
	case pytestBlock.MatchString(line):
		r.begin("pytest", pytestBlock.FindStringSubmatch(line)[1])
	case strings.HasPrefix(line, "=====") && r.in("pytest"):
		r.block = nil
	case strings.HasPrefix(line, "FAILED ") && strings.Contains(line, "::"):
		name, why, _ := strings.Cut(strings.TrimPrefix(line, "FAILED "), " - ")
		r.pytestFailed(name, why)
	case strings.HasPrefix(line, "ERROR ") && strings.Contains(line, ".py"):
		name, why, _ := strings.Cut(strings.TrimPrefix(line, "ERROR "), " - ")
		r.pytestFailed(name, why)
	default:
		return false
	}
	return true
}

// pytestFailed finds a test's part of the output by the name used there:
// Class.test for file.py::Class::test.
func (r *textReport) pytestFailed(id, why string) {
	file, test, _ := strings.Cut(id, "::")
	f := testFailure{Name: id, File: r.file(file), Message: why}
	title := strings.ReplaceAll(test, "::", ".")
	for _, name := range []string{title, "ERROR at setup of " + title, "ERROR at teardown of " + title, "ERROR collecting " + file} {
		b := r.blocks[name]
		if b == nil || title == "" && name == title {
			continue
		}
		if at, line := r.place(b); at != "" {
			f.File, f.Line = at, line
		}
		var errors []string
		for _, l := range b.lines {
			if strings.HasPrefix(l, "E  ") || l == "E" {
				errors = append(errors, l[1:])
			}
		}
		if len(errors) > 0 {
			f.Message = dedent(errors)
		}
		break
	}
	r.fail(f)
}

func (r *textReport) jest(line string) bool {
	if m := jestTests.FindStringSubmatch(line); m != nil {
		r.block = nil
		r.scripts(m[1])
		r.summarize(strings.TrimSpace(strings.TrimPrefix(line, "Tests:")))
		return true
	}
	switch {
	case jestFile.MatchString(line):
		r.titles = []string{jestFile.FindStringSubmatch(line)[1]}
		r.block = nil
	case jestBlock.MatchString(line):
		name := jestBlock.FindStringSubmatch(line)[1]
		if name == "Console" {
			r.block = nil
			break
		}
		if name == "Test suite failed to run" && len(r.titles) > 0 {
			name = r.titles[0] + " (" + strings.ToLower(name) + ")"
		}
		r.begin("script", name)
		r.fail(testFailure{Name: name})
	case strings.HasPrefix(line, "Test Suites:"):
		r.block = nil
	default:
		return false
	}
	return true
}

// scripts parses the counts of Jest and Vitest.
func (r *textReport) scripts(counts string) {
	var count tally
	for _, m := range jsCount.FindAllStringSubmatch(counts, -1) {
		n, _ := strconv.Atoi(m[1]) // only digits
		switch m[2] {
		case "passed":
			count.ok = n
		case "skipped", "todo":
			count.skipped += n
		}
		if m[2] != "total" {
			count.total += n
		}
	}
	r.recount(count)
	// A test left out because of its name counts as skipped.
	r.matchNone(count.total == count.skipped && !r.anyFailed())
}

func (r *textReport) vitest(line string) bool {
	if m := vitestSums.FindStringSubmatch(line); m != nil {
		r.block = nil
		r.scripts(m[1])
		r.summarize(m[1])
		return true
	}
	switch {
	case vitestFail.MatchString(line):
		name := vitestFail.FindStringSubmatch(line)[1]
		if suite, _, ok := strings.Cut(name, " [ "); ok {
			name = suite
		}
		r.begin("script", name)
		r.fail(testFailure{Name: name})
	case vitestRule.MatchString(line):
		r.block = nil
	default:
		return false
	}
	return true
}

func (r *textReport) mocha(line string) bool {
	if m := mochaCount.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[1]) // only digits
		count := tally{total: n}
		switch m[2] {
		case "passing":
			count.ok = n
		case "pending":
			count.skipped = n
		}
		r.count(count)
		r.block = &testBlock{kind: "mocha"} // failures follow
		return true
	}
	if r.block == nil || !strings.HasPrefix(r.block.kind, "mocha") {
		return false
	}
	if m := mochaBlock.FindStringSubmatch(line); m != nil {
		r.titles = []string{m[1]}
		r.block = &testBlock{kind: "mocha title"}
		return true
	}
	if r.block.kind != "mocha title" {
		return false
	}
	if line != "" {
		r.titles = append(r.titles, strings.TrimSuffix(strings.TrimSpace(line), ":"))
		return true
	}
	name := strings.TrimSuffix(strings.Join(r.titles, " "), ":")
	r.begin("mocha", name)
	r.fail(testFailure{Name: name})
	return true
}

func (r *textReport) node(line string) bool {
	if m := nodeCount.FindStringSubmatch(line); m != nil {
		n, _ := strconv.Atoi(m[2]) // only digits
		count := r.counted()
		switch m[1] {
		case "tests":
			count.total = n
		case "pass":
			count.ok = n
		case "skipped", "todo":
			count.skipped += n
		}
		r.recount(count)
		return true
	}
	switch {
	case tapFail.MatchString(line):
		m := tapFail.FindStringSubmatch(line)
		r.begin("script", m[2])
		r.fail(testFailure{Name: m[2]})
	case strings.TrimSpace(line) == "..." && r.in("script"):
		r.block = nil
	case line == "✖ failing tests:":
		r.subtest = true
	case r.subtest && nodeFail.MatchString(line):
		name := nodeFail.FindStringSubmatch(line)[1]
		r.begin("script", name)
		r.fail(testFailure{Name: name})
	default:
		return false
	}
	return true
}

// golang parses the human-readable output of go test.
func (r *textReport) golang(line string) bool {
	hanging := r.hanging && strings.HasPrefix(line, "\t\t")
	r.hanging = hanging || line == "\trunning tests:"
	switch {
	case hanging:
		name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
		r.hang(name)
		r.name(testFailure{Name: name})
	case goFail.MatchString(line):
		name := goFail.FindStringSubmatch(line)[1]
		r.begin("go", name)
		r.fail(testFailure{Name: name})
	case strings.HasPrefix(line, "FAIL\t"):
		r.block = nil
		name, why, built := strings.Cut(strings.Split(line, "\t")[1], " [")
		if built {
			r.name(testFailure{Name: name + " (" + strings.TrimSuffix(why, "]") + ")"})
		} else if !r.anyFailed() {
			r.name(testFailure{Name: name})
		}
	case strings.HasPrefix(line, "ok  \t"):
		r.block = nil
		r.countPackage(true)
	default:
		return false
	}
	return true
}

// finish completes the messages of the failed tests.
func (r *textReport) finish() {
	r.complete(func(f *testFailure) {
		b := r.blocks[f.Name]
		if b == nil || f.Message != "" {
			return
		}
		f.File, f.Line = r.place(b)
		lines := b.lines
		if b.kind == "unittest" {
			lines = afterTraceback(lines)
		}
		f.Message = op.MiddleCut(strings.TrimSpace(dedent(lines)), maxMessage)
	})
	r.close(r.results)
}

// place returns the first place in the workspace that a part of the output
// names. For Python, which prints callers first, it returns the last.
func (r *textReport) place(b *testBlock) (file string, line int) {
	form, last := scriptAt, false
	switch b.kind {
	case "cargo", "rustc":
		form = rustPlace
	case "pytest":
		form, last = pythonPlace, true
	case "unittest":
		form, last = pythonFrame, true
	case "go":
		return "", 0 // a file without its folder
	}
	for _, l := range b.lines {
		m := form.FindStringSubmatch(l)
		if m == nil || strings.Contains(m[1], "node_modules/") {
			continue
		}
		at := r.file(m[1])
		if at == "" {
			continue
		}
		file = at
		line, _ = strconv.Atoi(m[2]) // only digits
		if !last {
			break
		}
	}
	return file, line
}

// file converts a name in the output to a path relative to the workspace. It
// returns "" for files outside.
func (r *textReport) file(name string) string {
	if filepath.IsAbs(name) {
		rel, err := r.inside(name)
		if err != nil {
			return ""
		}
		return rel
	}
	at := path.Join(r.dir, filepath.ToSlash(name))
	if !filepath.IsLocal(at) {
		return ""
	}
	return at
}
