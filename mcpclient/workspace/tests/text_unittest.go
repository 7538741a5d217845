package tests

import (
	"strconv"
	"strings"

	"replan/internal/lazyregexp"
)

var (
	unittestHead  = lazyregexp.New(`^(?:FAIL|ERROR): (\S+) \(([^)]+)\)(.*)$`)
	unittestRan   = lazyregexp.New(`^Ran (\d+) tests? in [\d.]+s$`)
	unittestEnd   = lazyregexp.New(`^(?:OK|FAILED|NO TESTS RAN)(?: \((.+)\))?$`)
	unittestCount = lazyregexp.New(`(skipped|expected failures|unexpected successes|failures|errors)=(\d+)`)
	pythonFrame   = lazyregexp.New(`^  File "(.+\.py)", line (\d+)`)
)

// unittest parses the output of Python's unittest.
func (r *textReport) unittest(line string) bool {
	ruled := r.ruled
	r.ruled = len(line) == 70 && strings.Trim(line, "=") == ""
	switch {
	case r.ruled:
		r.block = nil
	case ruled && unittestHead.MatchString(line):
		m := unittestHead.FindStringSubmatch(line)
		name := m[2]
		if strings.HasPrefix(name, "unittest.loader._FailedTest") {
			name = m[1] + " (import failed)"
		} else if !strings.HasSuffix(name, "."+m[1]) { // before Python 3.11
			name += "." + m[1]
		}
		name += m[3]
		r.begin("unittest", name)
		r.fail(testFailure{Name: name})
	case len(line) == 70 && strings.Trim(line, "-") == "":
		return r.in("unittest")
	case unittestRan.MatchString(line):
		r.block = &testBlock{kind: "unittest end"}
		count := r.counted()
		count.total, _ = strconv.Atoi(unittestRan.FindStringSubmatch(line)[1]) // only digits
		r.recount(count)
		r.matchNone(count.total == 0)
	case r.in("unittest end") && unittestEnd.MatchString(line):
		r.block = nil
		count := r.counted()
		count.ok, count.skipped = count.total, 0
		for _, m := range unittestCount.FindAllStringSubmatch(unittestEnd.FindStringSubmatch(line)[1], -1) {
			n, _ := strconv.Atoi(m[2]) // only digits
			count.ok = max(0, count.ok-n)
			if m[1] == "skipped" || m[1] == "expected failures" {
				count.skipped += n
			}
		}
		r.recount(count)
	default:
		return false
	}
	return true
}

// afterTraceback returns what follows the last frame of a traceback: the exception.
func afterTraceback(lines []string) []string {
	from := 0
	for i, line := range lines {
		if pythonFrame.MatchString(line) {
			from = i + 1
		}
	}
	for from > 0 && from < len(lines) && strings.HasPrefix(lines[from], "    ") {
		from++
	}
	return lines[from:]
}
