package plan

import (
	"strings"
	"unicode"
)

// Slug makes an id of a title: lower case letters and digits, joined by dashes.
func Slug(title string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r >= 'a' && r <= 'z' || r >= '0' && r <= '9':
			b.WriteRune(r)
		case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= 48 {
			break
		}
	}
	if id := strings.Trim(b.String(), "-"); id != "" {
		return id
	}
	return "plan"
}

// OneLine squeezes text into one line of at most bound characters, without
// control characters.
func OneLine(text string, bound int) string {
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
	if runes := []rune(text); len(runes) > bound {
		return string(runes[:bound-1]) + "…"
	}
	return text
}
