package intent

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Names of files and folders with blanks, which people type without quotes.

// mostNameWords is of how many words such a name is read.
const mostNameWords = 6

// wordRun is a run of words that may be one path.
type wordRun struct {
	path       string
	start, end int // in the words
}

// runsOf are the runs of several words behind the first, the longest first.
func runsOf(words string) (runs []wordRun) {
	tokens := split(words, maxWords+1)
	if len(tokens) > maxWords {
		return nil
	}
	for n := min(mostNameWords, len(tokens)-1); n > 1; n-- {
		for at := 1; at+n <= len(tokens); at++ {
			first, last := tokens[at], tokens[at+n-1]
			if slices.ContainsFunc(tokens[at:at+n], func(t token) bool { return t.quoted }) {
				continue
			}
			if text := pathOf(words[first.start:last.end]); text != "" && !strings.Contains(text, `"`) {
				runs = append(runs, wordRun{text, first.start, last.end})
			}
		}
	}
	return runs
}

// wordsStand are the actions whose words are never paths, or go to a program as they stand.
var wordsStand = []string{commit, command, branch, push}

// quotePaths puts quotes around words that are the exact path of a file or a folder, or the
// path of a new file in such a folder. So no word of the path is read as anything else: in
// "delete the folder my docs", "my" is an article unless there is a folder "my docs".
func (f Facts) quotePaths(words string) string {
	if slices.Contains(wordsStand, Parse(words).Action) {
		return words
	}
	return f.quoteRuns(words)
}

// quoteRuns puts quotes around all such paths, the longest first.
func (f Facts) quoteRuns(words string) string {
	for _, r := range runsOf(words) {
		if folder := path.Dir(r.path); f.has(r.path) || strings.Contains(folder, " ") && f.has(folder) {
			return f.quoteRuns(words[:r.start]) + `"` + r.path + `"` + f.quoteRuns(words[r.end:])
		}
	}
	return words
}

// has reports whether there is a file or a folder with a path.
func (f Facts) has(at string) bool {
	return at != "" && (slices.Contains(f.Files, at) || slices.Contains(f.Folders, at))
}

// askDropped asks where a word before a path may be its beginning, if the order would delete,
// create or move another path without it.
func (r *formMatch) askDropped(words string, slots []filledSlot) {
	changes := r.form.params["remove"] != "" || r.form.action == create && r.form.params["of"] != "" || r.form.action == rename && isPath(r.target.text)
	for _, s := range slots {
		kept := trim(s.tokens)
		if !changes || s.slot != "x" && s.slot != "new_name" || len(kept) == 0 {
			continue
		}
		at := slices.IndexFunc(s.tokens, func(t token) bool { return t.start == kept[0].start })
		if at < 1 || !s.tokens[at-1].is(articles...) || s.tokens[at-1].is("the") {
			continue
		}
		short, long := cut(words, kept).text, cut(words, s.tokens[at-1:]).text
		r.open = append(r.open, fmt.Sprintf("is %q meant, or %q? Put the name in quotes", long, short))
	}
}
