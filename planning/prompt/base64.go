package prompt

import (
	"fmt"
	"strings"
)

// leastBase64 is the shortest run of base64 to replace by a note: keys, hashes and
// tokens are shorter.
const leastBase64 = 1024

// withoutBase64 replaces long runs of base64 by a note in brackets: a picture
// means nothing to a model as letters, and takes room from useful text.
func withoutBase64(text string) string {
	var b strings.Builder
	kept, start := 0, 0
	var seen [3]bool // a capital, a small letter, a digit
	end := func(at int) {
		if at-start >= leastBase64 && seen[0] && seen[1] && seen[2] {
			b.WriteString(text[kept:start])
			fmt.Fprintf(&b, "[base64 left out: %d bytes]", (at-start)*3/4)
			for kept = at; kept < len(text) && text[kept] == '='; kept++ {
			}
		}
		start, seen = at+1, [3]bool{}
	}
	for i := range len(text) {
		switch c := text[i]; {
		case 'A' <= c && c <= 'Z':
			seen[0] = true
		case 'a' <= c && c <= 'z':
			seen[1] = true
		case '0' <= c && c <= '9':
			seen[2] = true
		case c == '+' || c == '/' || c == '-' || c == '_':
		default:
			end(i)
		}
	}
	end(len(text))
	if kept == 0 {
		return text
	}
	b.WriteString(text[kept:])
	return b.String()
}
