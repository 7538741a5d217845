package intent

import "replan/internal/lazyregexp"

// Intent is what a goal in a few words asks for. It is unknown, with the action none and
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
	//	to         change X to Y, refactor X to Y
	//	with       replace X with Y; it may be empty
	//	in         the place: find X in Y, add X to Y, extract X from Y
	//	problem    fix the P bug in X
	//	text       the text of a file that is to be created, one line
	//	message    commit with message M
	//	max        the last N commits
	//	of         "file" or "folder" where one is to be created; "files", "tests" or "symbols" where all of those are to be listed, "staged" where those changes are
	//	kinds      the kinds of symbols that are to be listed
	//	since      the date from which commits are asked for
	//	line       the line that is asked about
	//	left_out   a sentence about tests that a run of all tests leaves out
	//	ran        the tests that such a run does not leave out
	//	workspace  the absolute path of the workspace, where it is asked for
	//	command    the command of a shell, and "runs" is "tests" where it runs those
	//	typed      "true" where the command was typed behind a "!", and is run as it stands
	//	how        "true" where it is asked how something is done
	//	trace      "true" where the callers of the target are asked for, too
	//	raised     "true" where the places are asked for that raise an error
	//	case, whole, expression, glob   how grep is to search
	//	exact      "true" where several words, or the text of a file, were quoted: they are taken as they stand
	//	commit     the commit whose changes are asked for: HEAD where it is the last
	//	remove     "true" where a file is to be removed, "folder" where a folder is
	//	create     "true" where a branch is to be made
	//	tests      "true" where a run of the tests is to follow a change
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
	project  = "project"
	unknown  = "unknown"

	find       = "find"
	references = "references"
	definition = "definition"
	symbols    = "symbols"
	readFile   = "read"
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
	blame      = "blame"

	build        = "build"
	format       = "format"
	command      = "run" // a program with its arguments, as typed
	dependencies = "dependencies"
	countLines   = "lines"
	folder       = "folder"
	none         = "none"
)

// maxWords is the length from which words are a story and not an order.
const maxWords = 64

// Confident is the confidence from which an intent is acted on without asking.
const Confident = 0.8

// minKnown is the score, in hundredths, below which an intent is unknown.
const minKnown = 50

// Parse reads an intent. Words behind an exclamation mark are a command, with the
// confidence 1, and are not read. Politeness and punctuation at the end do not count, and
// only the target's case does. The first of several tasks ("… and run the tests", "…,
// then commit") is the intent. Of the forms that fit it, Parse takes the one that
// spells out most of its words: "find references to X" is not "find X".
//
// The confidence is 0 if the task has no known form. Otherwise it begins at 0.90, and
// these lower it:
//
//	−0.05  the target is one plain word, neither quoted nor like a name or a path
//	−0.15  the target has two to four words; −0.10 in a search
//	−0.25  the target has more words
//	−0.25  there is no target, or a pronoun, and the action needs one
//	−0.25  words are left over, or have two meanings; −0.10 in a question, or in
//	       work for a model, which reads them
//	−0.25  another task follows, except a run of the tests after a change
//
// Below 0.50 the intent is unknown.
func Parse(words string) Intent {
	in, _ := understand(words)
	return in
}

// antecedent matches a sentence about a name, and one that renames what it is about. The first
// says of the name that it is bad, and names nothing else that could be meant.
var antecedent = lazyregexp.New(`(?is)^(?:the\s+(?:function|method|type|class|struct|constant)\s+)?(\S*[\w)])\s+(?:(?:is|has|isn't|sounds\s+like)\s+(?:not\s+)?(?:an?|the)\s+(?:(?:very|really|quite|rather)\s+)?(?:\w+\s+)?name` +
	`|(?:is|sounds)\s+(?:(?:too|very|really|rather|quite|so)\s+)?(?:misleading|confusing|unclear|vague|long|short|generic|ugly|cryptic|misspelled|misnamed|badly\s+named)|should\s+have\s+a(?:\s+better|nother)\s+name)\s*[.;]\s+(?:please\s+)?rename\s+(?:it|(?:that|this|the)\s+(?:function|method|type|class|struct|constant|name)|that|this)\s+(.+)$`)

// renamedBefore names what "Foo is a bad name. Rename it to Bar" renames.
func renamedBefore(words string) string {
	if m := antecedent.FindStringSubmatch(words); m != nil && likeCode(m[1]) {
		return "rename " + m[1] + " " + m[2]
	}
	return words
}

// understand reads an intent, and lists the words that it ignores but must not
// ignore.
func understand(words string) (in Intent, open []string) {
	if IsCommandLine(words) {
		return typedCommand(words), nil
	}
	in = Intent{Category: unknown, Action: none, Params: map[string]string{}}
	words = renamedBefore(words)
	tokens := split(words, maxWords+1)
	first, rest := tasks(tokens)
	if len(tokens) > maxWords || len(first) == 0 {
		return in, nil
	}
	r, ok := read(words, first)
	r.setRest(words, first, rest)
	if score := r.score(); ok && score >= minKnown {
		return r.intent(score), r.unmet()
	}
	return in, nil
}
