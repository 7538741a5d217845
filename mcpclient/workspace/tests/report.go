package tests

import (
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/workspace/op"
)

const (
	maxFailures = 200     // maximum number of failed tests to keep
	maxMessage  = 4 << 10 // maximum bytes of one failure's message
)

// testFailure is a failed test or a package that does not build.
type testFailure struct {
	Name    string `json:"name"`
	Package string `json:"package"` // empty if the runner has no packages
	File    string `json:"file"`    // relative to the workspace; empty if unknown
	Line    int    `json:"line"`
	Message string `json:"message"`
}

// testReport collects the results of one test run.
type testReport struct {
	failed      []string // names
	failures    []testFailure
	total       int // tests that ended or were stopped
	ok, skipped int
	packages    int // number with passed tests
	untested    int // number without tests
	summary     string
	hung        []string // tests that did not end
	none        bool     // the runner says that no test matches
}

func (r *testReport) fail(f testFailure) {
	r.name(f)
	if len(r.failures) < maxFailures {
		f.Message = op.MiddleCut(strings.TrimSpace(f.Message), maxMessage)
		r.failures = append(r.failures, f)
	}
}

// name adds the name of a failed test. It includes the package if another
// package has a test of that name.
func (r *testReport) name(f testFailure) {
	name := f.Name
	if slices.Contains(r.failed, name) && f.Package != "" {
		name = f.Package + "." + name
	}
	if len(r.failed) < maxFailures && !slices.Contains(r.failed, name) {
		r.failed = append(r.failed, name)
	}
}

// hang adds a test that did not end.
func (r *testReport) hang(name string) {
	if !slices.Contains(r.hung, name) {
		r.hung = append(r.hung, name)
	}
}

// noneRan reports whether the run contained no tests.
func (r *testReport) noneRan() bool { return r.none || r.total == 0 && r.packages+r.untested > 0 }

// passed summarizes a successful run.
func (r *testReport) passed() string {
	switch {
	case r.summary != "":
		return r.summary
	case r.noneRan():
		return "there are no tests to run"
	case r.total == 0:
		return "the tests passed"
	}
	summary := english.Count(r.total, "test")
	if r.skipped > 0 {
		summary += fmt.Sprintf(", %d of them skipped", r.skipped)
	}
	if r.packages == 0 {
		return "the tests passed: " + summary
	}
	where := english.Count(r.packages, "package")
	if r.untested > 0 {
		where += fmt.Sprintf(", %d without tests", r.untested)
	}
	return "the tests passed: " + where + "; " + summary
}

// places lists where tests failed, one per line, for display.
func (r *testReport) places() string {
	const most = 20 // maximum number of lines
	var b strings.Builder
	lines := 0
	for _, f := range r.failures {
		if f.File == "" {
			continue
		}
		if lines++; lines > most {
			return b.String() + "\n…"
		}
		fmt.Fprintf(&b, "\n%s:%d %s", f.File, f.Line, f.Name)
	}
	return b.String()
}

// dedent removes the white space that all lines start with.
func dedent(lines []string) string {
	common := -1
	for _, line := range lines {
		if strings.TrimSpace(line) == "" {
			continue
		}
		n := len(line) - len(strings.TrimLeft(line, " \t"))
		if common < 0 || n < common {
			common = n
		}
	}
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(line[min(len(line), max(common, 0)):])
		b.WriteByte('\n')
	}
	return strings.Trim(b.String(), "\n")
}
