package wording

import (
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
)

// errorLine matches the line of a compiler or a test that names a place and says
// what is wrong there.
var errorLine = lazyregexp.New(`^\s*(?:vet: |error: )?(?:\./)?([^\s:]+\.[A-Za-z]\w*:\d+(?::\d+)?: \S.*)$`)

// Cause returns the line of a failure that says what is wrong. It is the first that a
// compiler or a failed assertion wrote, else the first line.
func Cause(failure untrusted.Text) string {
	for line := range strings.SplitSeq(failure.Visible(), "\n") {
		if found := errorLine.FindStringSubmatch(strings.TrimRight(line, " \t\r")); found != nil {
			return untrusted.Line(found[1])
		}
	}
	return failure.FirstLine()
}

// ShortCause returns the cause of a failure without the end of its sentence.
func ShortCause(failure untrusted.Text) string { return strings.TrimRight(Cause(failure), " ….") }

// WithoutFolder leaves the folder out of the place that a cause begins with.
func WithoutFolder(cause string) string {
	place, _, found := strings.Cut(cause, ": ")
	if !found || strings.Contains(place, " ") {
		return cause
	}
	return cause[strings.LastIndexByte(place, '/')+1:]
}
