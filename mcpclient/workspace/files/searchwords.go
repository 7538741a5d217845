package files

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"replan/mcpclient/workspace/grep"
)

// wordSearch searches for files that contain all of some words, in any order.
type wordSearch struct{ stems []string }

// newWordSearch parses the words of a query.
func newWordSearch(args searchArgs) (wordSearch, error) {
	if args.Regex {
		return wordSearch{}, errors.New("fs.search takes either words or regex, not both")
	}
	var w wordSearch
	for word := range strings.FieldsSeq(strings.ToLower(args.Query)) {
		if s := stem(word); !slices.Contains(w.stems, s) {
			w.stems = append(w.stems, s)
		}
	}
	if len(w.stems) == 0 {
		return wordSearch{}, errors.New("the argument query of fs.search has no words in it")
	}
	return w, nil
}

// endings lists endings of English words, longest first.
var endings = []string{"ations", "ation", "ators", "ator", "ings", "ions", "ies", "ing", "ion", "ers", "ed", "er", "es", "e", "s", "y"}

// shortestStem is the minimum number of letters that a word keeps.
const shortestStem = 4

// stem removes the ending of a word, so that authentication also finds
// authenticate.
func stem(word string) string {
	for _, ending := range endings {
		if rest, ok := strings.CutSuffix(word, ending); ok && len(rest) >= shortestStem {
			return rest
		}
	}
	return word
}

// query returns a regular expression that matches any of the words.
func (w wordSearch) query() string {
	quoted := make([]string, len(w.stems))
	for i, s := range w.stems {
		quoted[i] = regexp.QuoteMeta(s)
	}
	return strings.Join(quoted, "|")
}

// rank keeps the matching lines of files that contain all words. Lines with
// the most words come first, then earlier ones.
func (w wordSearch) rank(found grep.Result, most int) grep.Result {
	held := map[string]map[string]bool{} // file → the words it contains
	number := func(m grep.Match) (n int) {
		line := strings.ToLower(m.Text)
		for _, s := range w.stems {
			if strings.Contains(line, s) {
				n++
				if held[m.Path] == nil {
					held[m.Path] = map[string]bool{}
				}
				held[m.Path][s] = true
			}
		}
		return n
	}
	type ranked struct {
		match grep.Match
		words int
	}
	lines := make([]ranked, len(found.Matches))
	for i, m := range found.Matches {
		lines[i] = ranked{m, number(m)}
	}
	lines = slices.DeleteFunc(lines, func(r ranked) bool { return len(held[r.match.Path]) < len(w.stems) })
	slices.SortStableFunc(lines, func(a, b ranked) int { return b.words - a.words })
	files := map[string]bool{}
	out := grep.Result{Matches: []grep.Match{}, Total: len(lines), Truncated: found.Truncated || len(lines) > most, Skipped: found.Skipped}
	for i, l := range lines {
		files[l.match.Path] = true
		if i < most {
			out.Matches = append(out.Matches, l.match)
		}
	}
	out.Files = len(files)
	return out
}
