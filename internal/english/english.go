package english

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agnivade/levenshtein"
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
	_, size := utf8.DecodeRuneInString(text)
	return strings.ToUpper(text[:size]) + text[size:]
}

// InSentence returns a title as it stands inside a sentence: its first letter is small if the
// first word is an ordinary one, such as that of Fix the tests.
func InSentence(title string) string {
	word, _, _ := strings.Cut(title, " ")
	_, size := utf8.DecodeRuneInString(word)
	if rest := word[size:]; rest == "" || strings.ContainsFunc(rest, func(r rune) bool { return !unicode.IsLower(r) }) {
		return title
	}
	return strings.ToLower(title[:size]) + title[size:]
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

// First lists words with commas. It shortens a long list to the first few and the number
// of the rest: "a, b, c and 2 more".
func First(words []string, most int) string {
	if len(words) <= most {
		return strings.Join(words, ", ")
	}
	return Some(words, most, "")
}

// Nearest returns the known word that a mistyped word probably means, "" if none is
// near. One letter may be wrong, missing, added or swapped with its neighbor; two in
// words of six letters, three in words of nine.
func Nearest(word string, known []string) string {
	if all := nearest(word, known); len(all) > 0 {
		return all[0]
	}
	return ""
}

// nearest returns the known words that are as near to another as any, see [Nearest].
func nearest(word string, known []string) []string {
	word = strings.ToLower(word)
	var all []string
	least := min(3, max(1, len(word)/3))
	for _, k := range known {
		distance := levenshtein.ComputeDistance(word, strings.ToLower(k))
		if distance == 2 && swapped(word, strings.ToLower(k)) {
			distance = 1
		}
		if distance < least {
			all, least = nil, distance
		}
		if distance == least {
			all = append(all, k)
		}
	}
	return all
}

// swapped reports whether two words differ by one pair of swapped letters.
func swapped(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	at := 0
	for at < len(a) && a[at] == b[at] {
		at++
	}
	return at+1 < len(a) && a[at] == b[at+1] && a[at+1] == b[at] && a[at+2:] == b[at+2:]
}

// DidYouMean returns "; did you mean WORD?" for the known word nearest to another,
// "" if none is near.
func DidYouMean(word string, known []string) string {
	if nearest := Nearest(word, known); nearest != "" && nearest != word {
		return "; did you mean " + nearest + "?"
	}
	return ""
}

// DidYouMeanAny is [DidYouMean] for words of which any may be meant, such as commands: it
// names all that are equally near, those as long as the word first, since a wrong letter is
// likelier than one that is missing.
func DidYouMeanAny(word string, known []string) string {
	all := nearest(word, known)
	if len(all) == 0 || all[0] == word {
		return ""
	}
	slices.SortFunc(all, func(a, b string) int {
		lengthens := func(known string) int { return max(len(known)-len(word), len(word)-len(known)) }
		return cmp.Or(lengthens(a)-lengthens(b), strings.Compare(a, b))
	})
	return "; did you mean " + List(all, "or") + "?"
}
