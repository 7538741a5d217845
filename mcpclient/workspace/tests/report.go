package tests

import (
	"fmt"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/mcpclient/child"
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
	failed   []string // names
	failures []testFailure
	tally
	packages int // number with passed tests
	untested int // number without tests
	summary  string
	hung     []string // tests that did not end
	none     bool     // the runner says that no test matches
}

// tally counts tests.
type tally struct {
	total       int // tests that ended or were stopped
	ok, skipped int
}

// counted returns the tests so far.
func (r *testReport) counted() tally { return r.tally }

// recount replaces the count, by what the runner says at its end.
func (r *testReport) recount(t tally) { r.tally = t }

// count counts more tests.
func (r *testReport) count(more tally) {
	r.tally = tally{r.total + more.total, r.ok + more.ok, r.skipped + more.skipped}
}

// countPackage counts a package that has passed, or has no tests.
func (r *testReport) countPackage(tested bool) {
	if tested {
		r.packages++
	} else {
		r.untested++
	}
}

// summarize takes the runner's own summary of a successful run.
func (r *testReport) summarize(line string) { r.summary = line }

// matchNone takes what the runner says: whether no test matches.
func (r *testReport) matchNone(none bool) { r.none = none }

// anyFailed reports whether a test has failed.
func (r *testReport) anyFailed() bool { return len(r.failed) > 0 }

// locate adds the place and the message of a failure, whose name is not counted.
func (r *testReport) locate(f testFailure) {
	if len(r.failures) < maxFailures {
		r.failures = append(r.failures, f)
	}
}

// complete has do complete each failure.
func (r *testReport) complete(do func(*testFailure)) {
	for i := range r.failures {
		do(&r.failures[i])
	}
}

// findPlaces has do find the places of the failures.
func (r *testReport) findPlaces(do func([]testFailure)) { do(r.failures) }

// close counts what the runner did not count.
func (r *testReport) close(noneIfEmpty bool) {
	if noneIfEmpty && r.total == 0 {
		r.none = true
	}
	r.total = max(r.total, len(r.failed)+r.ok+r.skipped)
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

// result returns the result of the run, without what it means.
func (r *testReport) result(out child.Outcome, cmd child.Command) testResult {
	return testResult{
		Passed: out.Exit == 0 && !out.TimedOut,
		Total:  r.total, OK: r.ok, Skipped: r.skipped,
		Failed:   append([]string{}, r.failed...),
		Failures: append([]testFailure{}, r.failures...),
		Command:  cmd.String(), Output: out.Output, Spill: out.Spill, Duration: out.Duration.Milliseconds(),
	}
}

// conclude describes the result of a run.
func (r *testResult) conclude(args testArgs, report *testReport, out child.Outcome, cmd child.Command) {
	switch {
	case out.TimedOut:
		r.Summary = fmt.Sprintf("the tests did not end within %s and were stopped", cmd.Timeout)
		if len(report.hung) > 0 {
			r.Summary += "; still running: " + strings.Join(report.hung, ", ")
		}
	case args.AllowNone && args.Run == "" && report.none && len(r.Failed) == 0:
		r.Passed = true
		r.Summary = "there are no tests to run here"
	case args.Run != "" && report.noneRan() && len(r.Failed) == 0:
		r.Passed = false
		r.Summary = fmt.Sprintf("no test matches %q; leave run out to run all", args.Run)
	case r.Passed:
		r.Summary = report.passed()
	case len(report.failed) > 0:
		r.Summary = fmt.Sprintf("%d failed: %s", len(report.failed), strings.Join(report.failed, ", "))
	case report.noneRan():
		r.Summary = "there are no tests to run"
	default:
		r.Summary = fmt.Sprintf("%s ended with %s", cmd, out.State)
	}
}
