package op

import (
	"fmt"
	"strings"
)

// MiddleCut cuts the middle out of a text that has more than most bytes, and says so.
func MiddleCut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[cut: %d bytes left out]\n%s", head, len(text)-most, tail), "")
}

// Clip shortens a line for quoting it in an answer.
func Clip(line string) string {
	const most = 160
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}
