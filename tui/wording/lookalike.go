package wording

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// LookAlike warns of a word in a call that mixes Latin letters with those of another
// alphabet that look like them. Such is a Cyrillic а. It returns "" if there is none.
func LookAlike(g event.GateRequested) string {
	for _, text := range append(wordsOf(nil, g.Args), g.Tool, g.Diff) {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
			if strings.ContainsAny(word, alike) && strings.ContainsFunc(word, func(r rune) bool { return unicode.Is(unicode.Latin, r) }) {
				return "the word " + untrusted.Line(word) + " mixes letters of several alphabets that look alike"
			}
		}
	}
	return ""
}

// alike holds the Cyrillic, Greek and Armenian letters that most fonts draw like Latin ones.
const alike = "аеорсухіјѕһԁԛԝАВЕКМНОРСТУХІЈЅ" + "οΑΒΕΖΗΙΚΜΝΟΡΤΥΧ" + "օոսհցզ"

// wordsOf appends the names and texts in a JSON value.
func wordsOf(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case []any:
		for _, item := range v {
			out = wordsOf(out, item)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out = wordsOf(append(out, name), v[name])
		}
	}
	return out
}
