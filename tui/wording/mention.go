package wording

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// MentionWords describes in a few words the content attached to a message, and its
// size.
func MentionWords(m prompt.Mention, separator string) string {
	size := TextSize(m.Bytes)
	switch {
	case m.Picture != nil:
		size = fmt.Sprintf("%d×%d, %s", m.Picture.Width, m.Picture.Height, size)
	case m.Folder && m.Cut:
		size = "its first " + english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Folder:
		size = english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Cut:
		size = "the first " + TextSize(len(m.Text)) + " of " + size
	}
	return untrusted.Line(m.Name) + " " + separator + " " + size
}
