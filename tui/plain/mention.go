package plain

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// Mentioned describes in a few words the content attached to a message, and its
// size.
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

// bytesWords formats a size for people.
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
