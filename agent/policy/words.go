package policy

import (
	"slices"
	"strings"
)

// AsksForTests reports whether the user's own words ask to run the tests. Since
// that opens a gate, ambiguous words do not count.
//
// Words ask for tests in four cases. Within one clause, a verb such as run, fix or
// check has the test, the tests or the test suite as its object. At most a few
// words stand in between ("run the parser tests"). Or the words state that tests
// fail, are red or do not pass. Or tests should pass or be green ("make the tests
// pass"). Or the words are "test it".
//
// Paths, file names and names that merely contain the word test ("the test
// helper") do not count, nor do tests to delete, rename or write. Nothing after a
// negation in its clause counts. A negation before running anything ("do not
// run", "without running") revokes the whole request.
func AsksForTests(words string) bool {
	asks := false
	for _, c := range clauses(words) {
		at := c.negation()
		if at >= 0 && slices.ContainsFunc(c[at:], isRunning) {
			return false
		}
		for i := range c {
			asks = asks || (at < 0 || i < at) && (c.wants(i) || c.testsIt(i))
		}
	}
	return asks
}

// clause holds the words between two punctuation marks, in lower case.
type clause []string

// clauses splits words into clauses.
func clauses(words string) []clause {
	var all, sentence []clause
	var c clause
	for _, line := range strings.Split(strings.ReplaceAll(strings.ToLower(words), "’", "'"), "\n") {
		for _, field := range strings.Fields(line) {
			word := strings.TrimLeft(field, "\"'`(*[")
			bare := strings.TrimRight(word, "\"'`)*].,:;!?")
			after := word[len(bare):]
			conjunction := bare == "but" || bare == "then"
			if bare != "" && !conjunction {
				c = append(c, bare)
			}
			if conjunction || strings.ContainsAny(after, ".,:;!?") {
				sentence, c = append(sentence, c), nil
			}
			if strings.ContainsAny(after, ".;!?") {
				all, sentence = append(all, joined(sentence)...), nil
			}
		}
		all, sentence, c = append(all, joined(append(sentence, c))...), nil, nil
	}
	return all
}

// joined merges the clauses of a sentence if a negation extends past a comma: "do
// not, ever, run" and "don't edit, or run".
func joined(sentence []clause) []clause {
	sentence = slices.DeleteFunc(sentence, func(c clause) bool { return len(c) == 0 })
	for _, c := range sentence {
		if c[0] == "or" || c[0] == "nor" || isNegation(c[len(c)-1]) {
			return []clause{slices.Concat(sentence...)}
		}
	}
	return sentence
}

// negation returns the index of the first negation, or -1. "Why don't the tests
// pass" negates nothing.
func (c clause) negation() int {
	for i, word := range c {
		if isNegation(word) && (i == 0 || c[i-1] != "why") {
			return i
		}
	}
	return -1
}

// wants reports whether word i names requested tests.
func (c clause) wants(i int) bool {
	if !c.isTests(i) {
		return false
	}
	failing, others := false, 0
	for k := i - 1; k >= 0 && others <= mostBetween; k-- {
		word := c[k]
		switch {
		case isAsking(word):
			return true
		case isOtherwise(word):
			return false
		case isFailing(word):
			failing = true
		case isLink(word) && (word != "of" || k == 0 || c[k-1] != "all"):
			return failing || c.state(i)
		case !isDeterminer(word) && word != "of":
			others++
		}
	}
	return failing || c.state(i)
}

// mostBetween is the maximum number of words, besides articles and the like,
// between a verb and its tests.
const mostBetween = 2

// state reports whether the words after the tests at i say that they fail, or
// that they are to pass.
func (c clause) state(i int) bool {
	must := slices.ContainsFunc(c[:i], isLeader) || slices.ContainsFunc(c[:i], isNegation)
	for k := i + 1; k < len(c) && k <= i+stateWithin; k++ {
		switch word := c[k]; {
		case isFailing(word):
			return true
		case isPassing(word):
			return must
		case isNegation(word), word == "should", word == "must", word == "to":
			must = true
		}
	}
	return false
}

// stateWithin is the number of words after the tests that may describe their
// state.
const stateWithin = 4

// isTests reports whether word i means tests and is not part of another name.
func (c clause) isTests(i int) bool {
	next := ""
	if i+1 < len(c) {
		next = c[i+1]
	}
	switch c[i] {
	case "test", "test-suite", "testsuite":
		// In "go test ./..." arguments follow.
		return next == "" || isAfterTest(next) || strings.ContainsAny(next, "./") || strings.HasPrefix(next, "-")
	case "tests":
		return !isPlace(next)
	}
	return false
}

// testsIt reports whether word i is the verb of "test it".
func (c clause) testsIt(i int) bool {
	return c[i] == "test" && i+1 < len(c) && slices.Contains([]string{"it", "this", "them", "everything"}, c[i+1]) &&
		(i == 0 || slices.Contains([]string{"and", "please", "to"}, c[i-1]))
}

func isAsking(word string) bool {
	switch word {
	case "run", "rerun", "re-run", "execute", "pass", "passes", "mend", "fix", "repair", "check",
		"running", "rerunning", "executing", "passing", "mending", "fixing", "repairing", "checking":
		return true
	}
	return false
}

func isRunning(word string) bool {
	switch word {
	case "run", "runs", "ran", "running", "rerun", "re-run", "rerunning", "execute", "executed", "executing":
		return true
	}
	return false
}

func isNegation(word string) bool {
	switch word {
	case "not", "never", "without", "no", "none", "nothing", "avoid", "skip", "skipping", "dont", "cannot",
		"instead", "rather", "refrain", "stop", "forbid", "forbidden":
		return true
	}
	return strings.HasSuffix(word, "n't")
}

// isOtherwise reports whether a verb does something other than run tests.
func isOtherwise(word string) bool {
	switch word {
	case "delete", "deleting", "remove", "removing", "rename", "renaming", "move", "moving", "disable", "ignore",
		"drop", "comment", "read", "open", "write", "writing", "add", "adding", "describe", "document", "count", "format":
		return true
	}
	return false
}

func isFailing(word string) bool {
	switch word {
	case "fail", "fails", "failed", "failing", "failure", "failures", "red", "broken":
		return true
	}
	return false
}

func isPassing(word string) bool {
	return slices.Contains([]string{"pass", "passes", "passing", "green", "succeed", "work"}, word)
}

// isLeader reports whether a word introduces a desired state.
func isLeader(word string) bool {
	switch word {
	case "make", "making", "get", "getting", "bring", "turn", "sure", "ensure", "until", "till", "so",
		"verify", "see", "whether", "if", "have", "let":
		return true
	}
	return false
}

// isLink reports whether a word starts another part of the clause.
func isLink(word string) bool {
	switch word {
	case "in", "on", "of", "for", "with", "to", "from", "into", "by", "as", "and", "or", "it", "them", "under", "about",
		"why", "whether", "if", "when", "where", "how", "what", "until", "before", "after", "is", "are", "than":
		return true
	}
	return false
}

func isDeterminer(word string) bool {
	switch word {
	case "the", "a", "an", "all", "my", "our", "your", "its", "this", "that", "these", "those", "any", "every", "each",
		"go", "unit", "whole", "full", "entire", "new", "existing":
		return true
	}
	return false
}

// isAfterTest reports whether a word can follow "the test" without forming
// another name.
func isAfterTest(word string) bool {
	switch word {
	case "suite", "suites", "case", "cases", "and", "in", "for", "of", "that", "which", "is", "does", "doesn't", "until",
		"again", "with", "to", "so", "on", "at", "before", "after", "when", "if", "now", "please", "first", "once", "twice", "not":
		return true
	}
	return isFailing(word) || isPassing(word)
}

// isPlace reports whether a word turns "tests" into the name of a place.
func isPlace(word string) bool {
	switch word {
	case "folder", "folders", "directory", "directories", "dir", "file", "files", "package", "module", "path", "page":
		return true
	}
	return false
}
