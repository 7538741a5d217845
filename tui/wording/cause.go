package wording

import (
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/untrusted"
)

// errorLine matches the line of a compiler or a test that names a place and says
// what is wrong there.
var errorLine = lazyregexp.New(`^\s*(?:vet: |error: )?(?:\./)?([^\s:]+\.[A-Za-z]\w*:\d+(?::\d+)?: \S.*)$`)

// What pytest writes: a frame of the stack, the error itself, the file that it could not load,
// and how many of those there are.
var (
	pytestFrame  = lazyregexp.New(`:\d+: in [\w<>.]+$`)
	pytestError  = lazyregexp.New(`^E\s{2,}(\S.*)$`)
	pytestFile   = lazyregexp.New(`^_+ ERROR collecting (\S+) _+$`)
	pytestLoaded = lazyregexp.New(`^!+ Interrupted: (\d+) errors during collection !+$`)
)

// Cause returns the line of a failure that says what is wrong. It is the first that a
// compiler or a failed assertion wrote, else the error that pytest names, else the first line.
// A frame of a stack says nothing of what is wrong.
func Cause(failure untrusted.Text) string {
	place, reported, unloaded := "", "", ""
	for line := range strings.SplitSeq(failure.Visible(), "\n") {
		line = strings.TrimRight(line, " \t\r")
		if found := errorLine.FindStringSubmatch(line); found != nil && place == "" && !pytestFrame.MatchString(line) {
			place = found[1]
		}
		if found := pytestError.FindStringSubmatch(line); found != nil && reported == "" {
			reported = found[1]
		}
		if found := pytestFile.FindStringSubmatch(line); found != nil && unloaded == "" {
			unloaded = found[1]
		}
		if found := pytestLoaded.FindStringSubmatch(line); found != nil && unloaded != "" {
			unloaded = found[1] + " test files"
		}
	}
	switch {
	case unloaded != "" && reported != "":
		return untrusted.Line(unloaded + " could not be loaded: " + reported)
	case place != "":
		return untrusted.Line(place)
	case reported != "":
		return untrusted.Line(reported)
	default:
		return failure.FirstLine()
	}
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
