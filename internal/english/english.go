package english

import (
	"strconv"
	"strings"
)

// Count formats a number with its noun: "1 step", "2 steps", "3 more entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + plural(noun)
}

// plural returns the plural of a noun.
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

// Agree returns the word that agrees with a number: "is" or "are", "has" or "have".
func Agree(n int, singular, plural string) string {
	if n == 1 {
		return singular
	}
	return plural
}

// Capital returns text with a capital first letter.
func Capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}

// List joins words, with a conjunction before the last: "a, b and c".
func List(words []string, conjunction string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " " + conjunction + " " + words[last]
}

// Some lists words. It shortens a long list to the first few and the number of the
// rest: "a, b and 3 more". noun names the items and may be empty.
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
