package plain

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// Mentioned says in a few words what goes with a message, and how much of it.
func Mentioned(m prompt.Mention, separator string) string {
	size := bytesWords(m.Bytes)
	switch {
	case m.Folder && m.Cut:
		size = "its first " + english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Folder:
		size = english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Cut:
		size = "the first " + bytesWords(len(m.Text)) + " of " + size
	}
	return untrusted.Line(m.Name) + " " + separator + " " + size
}

// bytesWords is a size as people say it.
func bytesWords(n int) string {
	const kilo = 1024
	switch {
	case n < kilo:
		return english.Count(n, "byte")
	case n < kilo*kilo:
		return strings.Replace(fmt.Sprintf("%.1f KB", float64(n)/kilo), ".0 ", " ", 1)
	default:
		return fmt.Sprintf("%.1f MB", float64(n)/kilo/kilo)
	}
}
