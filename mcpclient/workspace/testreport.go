package workspace

import (
	"fmt"
	"slices"
	"strings"
)

// testReport gathers from the lines of a test run what passed and failed. It
// reads what go test, cargo test and pytest write.
type testReport struct {
	failed   []string
	ok       int // packages whose tests passed
	untested int // packages without tests
	skipped  int // packages in which no test matched
	summary  string
	named    bool // a test of the package that is being reported has failed
	hanging  bool // the next lines name tests that were running when the time was over
}

func (r *testReport) line(line string) {
	trimmed := strings.TrimSpace(line)
	hanging := r.hanging && strings.HasPrefix(line, "\t\t")
	r.hanging = hanging || line == "\trunning tests:"
	switch {
	case hanging:
		name, _, _ := strings.Cut(trimmed, " ")
		r.fail(name)
		r.named = true
	case strings.HasPrefix(trimmed, "--- FAIL: "):
		name, _, _ := strings.Cut(strings.TrimPrefix(trimmed, "--- FAIL: "), " ")
		r.fail(name)
		r.named = true
	case strings.HasPrefix(line, "FAIL\t"):
		r.failPackage(strings.Split(line, "\t")[1])
	case strings.HasPrefix(line, "ok  \t"):
		if strings.HasSuffix(trimmed, "[no tests to run]") {
			r.skipped++
		} else {
			r.ok++
		}
	case untested(line):
		r.untested++
	case strings.HasPrefix(trimmed, "test ") && strings.HasSuffix(trimmed, " ... FAILED"):
		r.fail(strings.TrimSuffix(strings.TrimPrefix(trimmed, "test "), " ... FAILED"))
	case strings.HasPrefix(line, "FAILED ") && strings.Contains(line, "::"):
		name, _, _ := strings.Cut(strings.TrimPrefix(line, "FAILED "), " - ")
		r.fail(name)
	case strings.HasPrefix(line, "test result: ok"):
		r.ok++
	case strings.Contains(line, " passed in ") || strings.Contains(line, " passed, "):
		r.summary = strings.Trim(trimmed, "= ")
	}
}

func untested(line string) bool {
	return strings.HasSuffix(line, "[no test files]") &&
		(strings.HasPrefix(line, "?   \t") || strings.HasPrefix(line, "\t"))
}

// failPackage takes what stands after FAIL: a package, or one that could not
// be built, with the reason in brackets. It is named where none of its tests
// is, as when it does not build, panics or exits.
func (r *testReport) failPackage(pkg string) {
	if name, why, ok := strings.Cut(pkg, " ["); ok {
		r.fail(name + " (" + strings.TrimSuffix(why, "]") + ")")
	} else if !r.named {
		r.fail(pkg)
	}
	r.named = false
}

func (r *testReport) fail(name string) {
	if len(r.failed) < maxFailures && !slices.Contains(r.failed, name) {
		r.failed = append(r.failed, name)
	}
}

// noneRan reports whether go test found packages and no test in them.
func (r *testReport) noneRan() bool {
	return r.ok == 0 && r.skipped+r.untested > 0
}

// passed sums a green run up.
func (r *testReport) passed() string {
	switch {
	case r.summary != "":
		return r.summary
	case r.noneRan():
		return "there are no tests to run"
	case r.ok == 0:
		return "the tests passed"
	case r.untested > 0:
		return fmt.Sprintf("the tests passed: %s, %d without tests", packages(r.ok), r.untested)
	default:
		return fmt.Sprintf("the tests passed: %s", packages(r.ok))
	}
}

func packages(n int) string {
	if n == 1 {
		return "1 package"
	}
	return fmt.Sprintf("%d packages", n)
}

// trim takes out the lines of what is well, so that failures come first.
func (r *testReport) trim(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		bare := strings.TrimRight(line, "\r\n")
		if !strings.HasPrefix(bare, "ok  \t") && !untested(bare) {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}
