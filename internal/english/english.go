// Package english writes counts and lists as English sentences need them. It
// stands alone and imports none of the others.
package english

import (
	"strconv"
	"strings"
)

// Count writes a number with its noun: "1 step", "2 steps", "3 more entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + plural(noun)
}

// plural is a noun for several things.
func plural(noun string) string {
	for _, ending := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, ending) {
			return noun + "es"
		}
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok && stem != "" && !strings.ContainsAny(stem[len(stem)-1:], "aeiou") {
		return stem + "ies"
	}
	return noun + "s"
}

// List joins words, the last with a conjunction: "a, b and c".
func List(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Some lists words, and of a long list the first few and the number of the rest:
// "a, b and 3 more". The noun, which may be empty, says what those are.
func Some(words []string, most int, noun string) string {
	if len(words) <= most {
		return List(words, "and")
	}
	rest := strconv.Itoa(len(words)-most) + " more"
	if noun != "" {
		rest = Count(len(words)-most, "more "+noun)
	}
	return strings.Join(words[:most], ", ") + " and " + rest
}
