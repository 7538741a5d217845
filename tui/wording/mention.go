package wording

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/untrusted"
	"replan/planning/prompt"
)

// MentionWords describes in a few words the content attached to a message, and its
// size. After an ASCII separator they are ASCII too.
func MentionWords(m prompt.Mention, separator string) string {
	size := TextSize(m.Bytes)
	switch {
	case m.Picture != nil:
		size = Pixels(m.Picture.Width, m.Picture.Height, separator[0] < utf8.RuneSelf) + ", " + size
	case m.Folder && m.Cut:
		size = "its first " + english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Folder:
		size = english.Count(strings.Count(m.Text, "\n"), "name")
	case m.Cut:
		size = "the first " + TextSize(len(m.Text)) + " of " + size
	}
	return untrusted.Line(m.Name) + " " + separator + " " + size
}

// Pixels writes the size of a picture: 640×480.
func Pixels(width, height int, ascii bool) string {
	times := "×"
	if ascii {
		times = "x"
	}
	return fmt.Sprint(width) + times + fmt.Sprint(height)
}
