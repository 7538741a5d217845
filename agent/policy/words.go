package policy

import (
	"slices"
	"strings"
)

// AsksForTests reports whether the user's own words ask for the tests to be run.
// It opens a gate, so where words can be read either way they do not.
//
// They ask where, in one clause, a verb such as run, fix, mend or check has the
// test, the tests or the test suite as its object, with no more than a few words
// between ("run the parser tests"); where tests are said to fail, to be red or
// not to pass; where they are to pass or to be green ("make the tests pass"); and
// in "test it". Paths, file names and words that only carry the word test ("the
// test helper") are no tests, and tests to be deleted, renamed or written are not
// asked for. Nothing counts that stands behind a negation in its clause, and a
// negation before the running of anything ("do not run", "without running")
// takes back all the rest.
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

// clause is the words between two signs of punctuation, in lower case.
type clause []string

// clauses takes words apart.
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

// joined makes one clause of a sentence in which a negation holds beyond a comma:
// "do not, ever, run" and "don't edit, or run".
func joined(sentence []clause) []clause {
	sentence = slices.DeleteFunc(sentence, func(c clause) bool { return len(c) == 0 })
	for _, c := range sentence {
		if c[0] == "or" || c[0] == "nor" || isNegation(c[len(c)-1]) {
			return []clause{slices.Concat(sentence...)}
		}
	}
	return sentence
}

// negation returns where the first negation stands, or -1. "Why don't the tests
// pass" denies nothing.
func (c clause) negation() int {
	for i, word := range c {
		if isNegation(word) && (i == 0 || c[i-1] != "why") {
			return i
		}
	}
	return -1
}

// wants reports whether word i stands for tests that are asked for.
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

// mostBetween is how many words, beside articles and their like, may stand
// between a verb and its tests.
const mostBetween = 2

// state reports whether the words behind the tests at i say that they fail, or
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

// stateWithin is how many words behind the tests may say how they fare.
const stateWithin = 4

// isTests reports whether word i is tests, and not only part of another name.
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

// isOtherwise reports whether a verb wants something else of tests than to run.
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

// isLeader reports whether a word says that what follows is to become so.
func isLeader(word string) bool {
	switch word {
	case "make", "making", "get", "getting", "bring", "turn", "sure", "ensure", "until", "till", "so",
		"verify", "see", "whether", "if", "have", "let":
		return true
	}
	return false
}

// isLink reports whether a word begins another part of the clause.
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

// isAfterTest reports whether a word can follow "the test" without making it the
// name of something else.
func isAfterTest(word string) bool {
	switch word {
	case "suite", "suites", "case", "cases", "and", "in", "for", "of", "that", "which", "is", "does", "doesn't", "until",
		"again", "with", "to", "so", "on", "at", "before", "after", "when", "if", "now", "please", "first", "once", "twice", "not":
		return true
	}
	return isFailing(word) || isPassing(word)
}

// isPlace reports whether a word makes tests the name of a place.
func isPlace(word string) bool {
	switch word {
	case "folder", "folders", "directory", "directories", "dir", "file", "files", "package", "module", "path", "page":
		return true
	}
	return false
}
