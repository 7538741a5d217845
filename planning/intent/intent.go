// Package intent reads a user's wish from a few words, without a model. Parse
// names the intent, Route the operators for it, Compose makes a graph and a plan,
// and Answer reports the results. It is pure and knows the English of short orders
// and questions. Everything else is unknown, and left to a planner. It imports
// plan, and internal/english and internal/markdown; start reading at Parse.
package intent

// Intent is the wish read from words. It is unknown, with the action none and
// without target or parameters, exactly if its confidence is below one half.
type Intent struct {
	Category string `json:"category"`
	Action   string `json:"action"`
	// Target is the object of the action, as written but without quotes. It is
	// empty if the words name none.
	Target string `json:"target"`
	// Params is never nil. A key is there only where the words say it:
	//
	//	new_name   rename X to Y
	//	from into  extract X from Y into Z
	//	to         move X to Y, change X to Y, refactor X to Y
	//	with       replace X with Y; it may be empty
	//	in         the place: find X in Y, add X to Y
	//	problem    fix the P bug in X
	//	message    commit with message M
	//	max        the last N commits
	//	of         staged or unstaged changes; "files" or "packages" where those are to be listed
	//	exact      "true" where several words were quoted: they are searched for as they stand
	//	remove     "true" where a file is to be removed
	//	create     "true" where a branch is to be made
	Params     map[string]string `json:"params"`
	Confidence float64           `json:"confidence"`
}

// The categories and the actions in them.
const (
	navigate = "navigate"
	explain  = "explain" // also its action
	modify   = "modify"
	refactor = "refactor" // also an action in it
	validate = "validate"
	debug    = "debug"  // also its action
	create   = "create" // also an action in it
	vcs      = "vcs"
	unknown  = "unknown"

	find       = "find"
	references = "references"
	definition = "definition"
	symbols    = "symbols"
	edit       = "edit"
	fix        = "fix"
	extract    = "extract"
	rename     = "rename"
	test       = "test"
	lint       = "lint"
	addTests   = "add_tests"
	status     = "status"
	diff       = "diff"
	history    = "log"
	commit     = "commit"
	branch     = "branch"
	push       = "push"
	none       = "none"
)

// maxWords is the length from which words are a story and not an order.
const maxWords = 64

// Confident is the confidence from which an intent is acted on without asking.
const Confident = 0.8

// known is the score, in hundredths, below which an intent is unknown.
const known = 50

// Parse reads an intent. Politeness, and punctuation at the end, do not count; nor
// does the case of any word but the target's. The words are split into tasks ("…
// and run the tests", "…, then commit"), and the first known one is the intent. Of
// the forms that fit a task, the one that spells out most of its words is taken,
// so that "find references to X" is not "find X".
//
// The confidence is a sum. It starts with
//
//	0.60  the form begins with a word for this action alone
//	0.45  it begins with a word that has other meanings too: show, check, move
//	0.20  words of the kind are there, but in no known form, or are denied
//	0     there are none
//
// and changes, for a form, by
//
//	+0.30  the target is quoted, or looks like a name or a path
//	+0.25  the target is one plain word
//	+0.15  the target has two to four words; +0.20 in a search
//	+0.05  the target has more
//	+0.30  there is no target and the action needs none
//	−0.10  there is no target, or just a pronoun, and the action needs one
//	+0.05  a further name, or a message, was asked for and given
//	−0.10  the new name of a rename has several words, or follows without "to"
//	−0.25  the new name of a rename is missing, or a replacement has several
//	       words and no quotes
//	−0.05  the target has several words, one of them the verb of an action
//	−0.10  words are left over
//	−0.25  left-over words set a condition: without, only, unless; or a
//	       replaced word may mean characters: tabs, spaces
//	−0.20  the task is not the first thing said
//	−0.25  there is another task; but after a change, not a run of the tests:
//	       it is part of the change
//
// and is kept between 0 and 1. Below 0.50 the intent is unknown.
func Parse(words string) Intent {
	in, _ := understand(words)
	return in
}

// understand reads an intent, and lists the words it ignores but may not ignore.
func understand(words string) (in Intent, open []string) {
	tokens := split(words, maxWords+1)
	if len(tokens) == 1 && fits("sentence", tokens) {
		words = tokens[0].text // the whole is quoted
		tokens = split(words, maxWords+1)
	}
	if len(tokens) > maxWords {
		return unplaced(tokens, 0), nil
	}
	said := tasks(tokens)
	best := 0
	for i, task := range said {
		r, ok := read(words, task.tokens)
		if !ok {
			continue
		}
		score := r.score() - task.cost(r.without(words, said, i))
		if score >= known && r.form.category != unknown {
			if i > 0 {
				r.before(words, said[i-1])
			}
			return r.intent(min(score, 100)), r.open(words, said, i)
		}
		best = max(best, min(score, known-1))
		if i == 0 && r.form.category == unknown {
			break // the next tasks depend on it
		}
	}
	return unplaced(tokens, best), nil
}

// unplaced is the unknown intent.
func unplaced(tokens []token, score int) Intent {
	for _, t := range tokens {
		if t.isOneOf(verbs) {
			score = max(score, 20)
		}
	}
	return Intent{Category: unknown, Action: none, Params: map[string]string{}, Confidence: float64(score) / 100}
}

// needsTarget says whether an action is about something that must be named.
func needsTarget(category, action string) bool {
	return category != vcs && action != test && action != lint
}
