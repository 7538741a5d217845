package telling

import (
	"fmt"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
)

// longBlank matches blanks that push what follows out of sight, and empty lines that do.
var longBlank = lazyregexp.New(` {40,}|\t{10,}|\n{6,}`)

// Marked shows what would not be seen in a text that somebody approves: long runs of
// blanks and of line ends as their number, carriage returns, and line ends at the end.
func Marked(text string) string {
	body := strings.TrimRight(text, "\n")
	ends := len(text) - len(body)
	body = strings.ReplaceAll(body, "\r", "^M")
	body = longBlank.ReplaceAllStringFunc(body, func(run string) string {
		if run[0] == '\n' {
			return fmt.Sprintf("\n[%d line ends]\n", len(run))
		}
		return fmt.Sprintf(" [%d blanks] ", len(run))
	})
	switch {
	case ends > 1 || ends > 0 && body == "":
		return fmt.Sprintf("%s\n[%s]", body, english.Count(ends, "line end"))
	case strings.HasSuffix(body, " "):
		return body + "[blank at the end]"
	}
	return body
}
