package slash

import (
	"fmt"
	"strings"
	"unicode"

	"replan/internal/markdown"
)

// Split splits a line into words by a subset of shell rules. Blanks separate
// words. Single and double quotes group text at the start of a word or after an
// equals sign; elsewhere a quote is an apostrophe. Inside double quotes a
// backslash escapes a quote or a backslash. The result has at least one word,
// which may be empty.
func Split(line string) ([]string, error) {
	var words []string
	var word strings.Builder
	inWord := false
	var quote, before rune
	runes := []rune(strings.TrimSpace(line))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote == '"' && r == '\\' && i+1 < len(runes) && strings.ContainsRune(`"\`, runes[i+1]):
			i++
			word.WriteRune(runes[i])
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case (r == '"' || r == '\'') && (!inWord || before == '='):
			quote, inWord = r, true
		case unicode.IsSpace(r):
			if inWord {
				words = append(words, word.String())
				word.Reset()
				inWord = false
			}
		default:
			word.WriteRune(r)
			inWord = true
		}
		before = r
	}
	if quote != 0 {
		return nil, fmt.Errorf("unclosed quotation mark: %c", quote)
	}
	if inWord || len(words) == 0 {
		words = append(words, word.String())
	}
	return words, nil
}

// CodeBlock returns text as a Markdown code block, whatever it contains; "" for
// blanks.
func CodeBlock(text string) string {
	if strings.TrimSpace(text) == "" {
		return ""
	}
	return markdown.Block(strings.TrimRight(text, "\n"))
}
