package prompt

import (
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/planning/retrieval"
)

// Words of goals that show whether a goal needs tools.
var (
	greetings = strings.Fields("hello hi hey thanks thank you good morning evening afternoon day there great nice ok okay bye")
	openers   = strings.Fields("what why how who when explain define whats")
	// present are words about this project, this conversation, or today: what a
	// model knows by itself is about none of them.
	present = strings.Fields(`it this that these those they them here there my our your we us i me project repo repository workspace file files
		folder directory code function method class module package test tests build bug error errors fail fails failing line lines
		branch commit commits change changes changed now today tomorrow yesterday current currently latest recent new week month
		above below again previous last earlier said`)
	// marks are signs of a name in code, a path, an address or a mention.
	marks = lazyregexp.New("[`@/\\\\_#]|\\w[.:(]\\w|\\w\\(\\)")
)

// needsNoTools reports whether a model can answer a goal from memory: a greeting, or a
// short question. The question has no name, path or mention. Its words concern neither
// this project nor the present, and name no tool or server.
func needsNoTools(b Brief, matches []retrieval.Match) bool {
	const longest = 20 // words
	goal := b.Goal
	if b.Prompting.ForcePlan || len(b.Prompting.Mentions) > 0 || marks.MatchString(goal) {
		return false
	}
	spoken := retrieval.Words(goal)
	if len(spoken) == 0 || len(spoken) > longest {
		return false
	}
	if all(spoken, greetings) {
		return true
	}
	if !slices.Contains(openers, spoken[0]) || slices.ContainsFunc(spoken, func(word string) bool { return slices.Contains(present, word) }) {
		return false
	}
	return !slices.ContainsFunc(matches, func(m retrieval.Match) bool { return m.Called })
}

// NeedsNoTools reports whether a small model can answer a goal from memory: a greeting, or
// a question for a meaning. It would guess at any other question that the project answers.
func NeedsNoTools(b Brief) bool {
	spoken := retrieval.Words(b.Goal)
	if !needsNoTools(b, ranked(b, "", "")) {
		return false
	}
	return b.Prompting.Sketch.Empty() || all(spoken, greetings) || slices.Contains([]string{"explain", "define", "what", "whats", "who"}, spoken[0])
}

func all(spoken, among []string) bool {
	return !slices.ContainsFunc(spoken, func(word string) bool { return !slices.Contains(among, word) })
}
