package tests

import (
	"cmp"
	"slices"
	"strings"
)

// withoutGreen removes the lines of packages without failures, so that
// failures come first.
func withoutGreen(output string) string {
	var b strings.Builder
	for line := range strings.Lines(output) {
		if !isGreen(line) {
			b.WriteString(line)
		}
	}
	return strings.TrimSpace(b.String())
}

// isGreen reports whether a line of go test says that a package passed or has
// no tests.
func isGreen(line string) bool {
	bare := strings.TrimRight(line, "\r\n")
	untested := strings.HasSuffix(bare, "[no test files]") && (strings.HasPrefix(bare, "?   \t") || strings.HasPrefix(bare, "\t"))
	return untested || strings.HasPrefix(bare, "ok  \t")
}

// inOrder sorts the lines of packages that passed or have no tests by name,
// because parallel packages end in any order.
func inOrder(output string) string {
	lines := strings.SplitAfter(output, "\n")
	var at []int
	var green []string
	for i, line := range lines {
		if isGreen(line) && strings.HasSuffix(line, "\n") {
			at, green = append(at, i), append(green, line)
		}
	}
	slices.SortStableFunc(green, func(a, b string) int { return cmp.Compare(packageOf(a), packageOf(b)) })
	for k, i := range at {
		lines[i] = green[k]
	}
	return strings.Join(lines, "")
}

// packageOf returns the package that a line of go test is about.
func packageOf(line string) string {
	fields := strings.SplitN(line, "\t", 3)
	return strings.TrimSpace(fields[min(1, len(fields)-1)])
}
