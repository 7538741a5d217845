package op

import (
	"fmt"
	"strings"
)

// MiddleCut keeps the beginning and the end of a text, at most so many bytes.
func MiddleCut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	head, tail := text[:most/2], text[len(text)-most/2:]
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[cut: %d bytes left out]\n%s", head, len(text)-most, tail), "")
}

// Clip is the beginning of a line, as much of it as an answer quotes.
func Clip(line string) string {
	const most = 160
	if len(line) <= most {
		return line
	}
	return strings.ToValidUTF8(line[:most], "") + "…"
}
