package nesting

import (
	"bytes"
	"fmt"
)

// Most is how deep a text may nest. It is the bound of encoding/json.
const Most = 10_000

// Check fails if objects and lists of a JSON text, which may have comments, nest deeper
// than Most. It reads the text once.
func Check(text []byte) error {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '/':
			end := []byte("\n")
			switch {
			case bytes.HasPrefix(text[i:], []byte("/*")):
				end = []byte("*/")
			case !bytes.HasPrefix(text[i:], []byte("//")):
				continue
			}
			length := bytes.Index(text[i+2:], end)
			if length < 0 {
				return nil // the parser says what is wrong with it
			}
			i += 2 + length + len(end) - 1
		case '{', '[':
			if depth++; depth > Most {
				return fmt.Errorf("it nests deeper than %d levels, at byte %d", Most, i)
			}
		case '}', ']':
			depth--
		}
	}
	return nil
}
