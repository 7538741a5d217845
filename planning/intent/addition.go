package intent

import (
	"slices"
	"strings"

	"replan/internal/lazyregexp"
	"replan/internal/testfile"
)

// Addition is something new that a goal wants in a file that exists.
type Addition struct {
	Kind AdditionKind
	In   string // the class that it belongs to; "" for none
}

// AdditionKind is a kind of what can be added.
type AdditionKind string

// The kinds of additions.
const (
	AddedCode AdditionKind = "code" // a function, a method, a type
	AddedTest AdditionKind = "test"
	AddedText AdditionKind = "text" // a section, a line, an entry
)

// addedKinds are the words for what can be added as a whole.
var addedKinds = map[AdditionKind][]string{
	AddedCode: strings.Fields("function func method class helper type struct interface enum"),
	AddedTest: strings.Fields("test tests testcase unittest"),
	AddedText: strings.Fields("section paragraph sentence line lines entry heading chapter bullet item row note link"),
}

// AdditionWanted reads a goal that only wants something new added to a file, and the tests
// run at most: "Add a method clear to Book". ok is false if it wants anything else, such as
// a parameter, which changes code that exists.
func AdditionWanted(goal string) (a Addition, ok bool) {
	verbs, inside := 0, -1 // position of the verb
	tokens := split(goal, 4*maxWords)
	for i, t := range tokens {
		begins := i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") || tokens[i-1].is(fillers...)
		switch {
		case !begins || !t.is(imperatives...):
		case t.is("add", "append", "write", "implement", "insert"):
			verbs, inside = verbs+1, i
		case runsTests(goal, tokens, i), t.is("test", "check", "verify", "ensure"):
		default:
			return Addition{}, false
		}
	}
	if verbs != 1 {
		return Addition{}, false
	}
	for _, t := range tokens[inside+1:] {
		if t.quoted || t.is("to", "in", "into", "for", "of", "that", "which", "with", "about", "called", "named", "at", "on") || likeCode(t.text) {
			break
		}
		for kind, words := range addedKinds {
			if t.is(words...) && (a.Kind == "" || kind == AddedTest) { // a test function is a test
				a.Kind = kind
			}
		}
		if t.is("doc", "comment", "comments", "docstring", "parameter", "argument", "field", "check", "case") && a.Kind != AddedTest {
			return Addition{}, false
		}
		if t.after != "" {
			break
		}
	}
	if a.Kind == AddedCode {
		a.In = classNamed(tokens[inside+1:])
	}
	return a, a.Kind != ""
}

// classNamed returns the class in "a method clear to the class Book", "" for none.
func classNamed(tokens []token) string {
	method := false
	for i, t := range tokens {
		method = method || t.is("method")
		if !method || !t.is("to", "in", "into", "of", "on") {
			continue
		}
		rest := tokens[i+1:]
		for len(rest) > 0 && (rest[0].is("the", "class", "type", "struct") || rest[0].is(articles...)) {
			rest = rest[1:]
		}
		if len(rest) > 0 && identifier.MatchString(symbolName(rest[0].text)) && !isFile(rest[0].text) {
			return symbolName(rest[0].text)
		}
	}
	return ""
}

// runsTests reports whether the verb at a position runs the tests, or the test just written.
func runsTests(goal string, tokens []token, i int) bool {
	return tokens[i].is("run", "rerun", "execute", "make") && (WantsTests(goal) || i+1 < len(tokens) && tokens[i+1].is("it", "them"))
}

// editing verbs change what exists.
var editing = strings.Fields("add fix repair correct change update replace set remove delete make simplify rewrite refactor implement extend edit modify convert " +
	"bump increase decrease raise lower insert improve enable disable turn put save sort upgrade downgrade")

// EditsInPlace reports whether a goal only wants files changed that exist, and the tests run
// at most. It may say what is wrong, and ask to find out why.
func EditsInPlace(goal string) bool {
	tokens := split(goal, 4*maxWords)
	edits := replaces(tokens)
	for i, t := range tokens {
		begins := i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") || tokens[i-1].is(fillers...)
		switch {
		case t.is("test", "tests") && !t.quoted && !WantsTests(goal) && !begins:
			return false
		case !begins || !t.is(imperatives...):
		case t.is(editing...), gives(tokens, i):
			edits = true
		case runsTests(goal, tokens, i):
		default:
			return false
		}
	}
	return edits
}

// MoveWanted reads a goal that only wants files moved to a folder: "Move a.json and b.json to
// a new folder deploy/". ok is false if it wants anything else, but for a run of the tests.
func MoveWanted(goal string, files []string) (moved []string, folder string, ok bool) {
	tokens := split(goal, 4*maxWords)
	verbs := 0
	for i, t := range tokens {
		begins := i == 0 || tokens[i-1].after != "" && !isFile(t.text) || tokens[i-1].is("and", "then", "but") || tokens[i-1].is(fillers...)
		name := strings.TrimPrefix(t.text, "./")
		switch {
		case begins && t.is("move"):
			verbs++
		case begins && t.is(imperatives...) && !runsTests(goal, tokens, i):
			return nil, "", false
		case slices.Contains(files, name) && folder == "":
			moved = append(moved, name)
		case isFile(name):
			return nil, "", false
		case t.is("to", "into") && len(moved) > 0 && folder == "":
			rest := tokens[i+1:]
			for len(rest) > 1 && (rest[0].is("a", "the", "new", "named", "called") || rest[0].is(holdersOfFiles...)) {
				rest = rest[1:]
			}
			if len(rest) > 0 {
				folder = strings.Trim(strings.TrimPrefix(rest[0].text, "./"), "/")
			}
		}
	}
	return moved, folder, verbs == 1 && folder != "" && len(moved) > 0 && !strings.Contains(folder, "..")
}

// OnlyRead reports whether a goal names a file to take something from, and not to change:
// "Add a description to pyproject.toml, use the docstring of notes/__init__.py".
func OnlyRead(goal, file string) bool {
	tokens := split(goal, 4*maxWords)
	uses := false // the clause says what to use
	for i, t := range tokens {
		if i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") {
			uses = t.is("use", "using", "take", "taking", "copy", "see", "read", "follow", "following")
		}
		name := strings.TrimPrefix(t.text, "./")
		if name != file && !strings.HasSuffix(file, "/"+name) || !isFile(name) {
			continue
		}
		before := tokens[:i]
		for len(before) > 0 && (before[len(before)-1].is("the", "file")) {
			before = before[:len(before)-1]
		}
		n := len(before)
		gives := n > 1 && before[n-1].is("in", "of", "from") && before[n-2].is("one", "ones", "that", "those", "value") // "to the one in a.json"
		return n > 0 && (gives || before[n-1].is("from", "like") || uses && before[n-1].is("of", "in"))
	}
	return false
}

// NamesNew reports whether a goal names a file that is none of files, such as one to create.
func NamesNew(goal string, files []string) bool {
	for _, t := range split(goal, 4*maxWords) {
		name := strings.TrimPrefix(t.text, "./")
		if isFile(name) && !t.quoted && !slices.ContainsFunc(files, func(f string) bool { return f == name || strings.HasSuffix(f, "/"+name) }) {
			return true
		}
	}
	return false
}

// endings matches what files end in, as in "files that end in .log".
var endings = lazyregexp.New(`^\.\w+$`)

// CreatedFile returns the file that a goal only wants created, and none of files: "Create
// MODULES.md with the names of the modules". ok is false if it wants anything else done, but
// for a run of the tests.
func CreatedFile(goal string, files []string) (file string, ok bool) {
	tokens := split(goal, 4*maxWords)
	creates := 0
	for i, t := range tokens {
		begins := i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") || tokens[i-1].is(fillers...)
		switch {
		case begins && t.is("create", "write", "make", "generate", "put", "save", "add", "list", "collect") && !runsTests(goal, tokens, i):
			creates++
		case begins && t.is(imperatives...) && !runsTests(goal, tokens, i):
			return "", false
		case !isFile(t.text) || strings.ContainsAny(t.text, "*?") || file != "" && endings.MatchString(t.text) || slices.ContainsFunc(files, func(f string) bool { return f == t.text || strings.HasSuffix(f, "/"+t.text) }):
		case file != "" && file != t.text:
			return "", false
		default:
			file = strings.TrimPrefix(t.text, "./")
		}
	}
	return file, creates == 1 && file != "" && !testfile.Is(file) && !OnlyAsks(goal)
}
