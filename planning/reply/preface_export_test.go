package reply

import (
	"strings"
)

// StrippedAtBrackets returns the text left before each bracket of a reply after
// thoughts are stripped, once reading it as it grows and once as a whole.
func StrippedAtBrackets(text string) (growing, whole []string) {
	var p preface
	for i := range len(text) {
		if c := text[i]; c == '{' || c == '[' {
			rest := ""
			if !p.strip() {
				rest = strings.TrimSpace(text[p.start:i])
			}
			growing, whole = append(growing, rest), append(whole, StripThinking(text[:i]))
		}
		p.add(text[i])
	}
	return growing, whole
}
