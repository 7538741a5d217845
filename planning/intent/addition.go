package intent

import (
	"path"
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

// attributes are added to code that exists, also where a kind of code stands before them: a
// type annotation, a class attribute.
var attributes = strings.Fields("doc comment comments docstring parameter argument field check checks case annotation annotations hint hints tag tags attribute text name names " +
	"number numbers value values decorator overloading call calls break")

// AdditionWanted reads a goal that only wants something new added to a file, and the tests
// run at most: "Add a method clear to Book". ok is false if it wants anything else, such as
// a parameter, which changes code that exists.
func AdditionWanted(goal string) (a Addition, ok bool) {
	verbs, inside := 0, -1 // position of the verb
	tokens := split(goal, 4*maxWords)
	for i, t := range tokens {
		begins := beginsClause(tokens, i)
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
		if t.is(attributes...) && t.text == t.key && a.Kind != AddedTest || t.is("coverage", "mode", "flag", "results", "dependency", "command") {
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
		begins := beginsClause(tokens, i)
		switch {
		case t.is("test", "tests") && !t.quoted && !WantsTests(goal) && !begins, spares(tokens, i), t.is("git", "branch", "commit") && i > 0 && tokens[i-1].is("to", "from", "new", "a"):
			return false
		case begins && t.is("lint", "vet", "start", "restart", "stop", "download", "upload", "send"), begins && handles(tokens, i):
			return false
		case !begins || !t.is(imperatives...):
		case t.is(editing...), isGiving(tokens, i):
			edits = true
		case runsTests(goal, tokens, i):
		default:
			return false
		}
	}
	return edits && !OnlyAsks(goal)
}

// spares reports whether the word at a position begins to say what is not to be changed.
func spares(tokens []token, i int) bool {
	begins := i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but")
	return begins && (denies(tokens[i:]) || tokens[i].is("leave", "ignore", "skip")) || tokens[i].is("except") ||
		tokens[i].is("not") && i+1 < len(tokens) && (tokens[i+1].is("in", "the", "for") || isFile(tokens[i+1].text))
}

// handles reports whether the verb at a position is about a file as a whole, or makes
// something beside it. Examples are "Remove a.go", "Convert a.json to YAML", "Make a copy of
// a.go" and "Set up a linter".
func handles(tokens []token, i int) bool {
	rest := tokens[i+1:]
	if tokens[i].is("make") && len(rest) > 0 && rest[0].is("a", "an", "me", "us") || tokens[i].is("set") && len(rest) > 0 && rest[0].is("up") {
		return true
	}
	for len(rest) > 0 && (rest[0].is(articles...) || rest[0].is("file", "files")) {
		rest = rest[1:]
	}
	return tokens[i].is("delete", "remove", "convert", "turn", "put", "save", "add") && len(rest) > 0 && isFile(rest[0].text)
}

// beginsClause reports whether a clause, or its verb after words such as "please", may begin
// at a position.
func beginsClause(tokens []token, i int) bool {
	return i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") || tokens[i-1].is(fillers...)
}

// asked returns the words of a goal without politeness, and without the run of the tests that
// it wants at its end. ok is false for a question that begins with no request.
func asked(goal string) (tokens []token, ok bool) {
	goal = strings.TrimRight(strings.TrimSpace(goal), ".! ")
	whole := split(goal[:len(goal)-len(valueTests.FindString(goal))], 4*maxWords)
	tokens = dropPhrases(dropPhrases(whole, greetings, false), farewells, true)
	return tokens, len(tokens) > 0 && (len(tokens) < len(whole) || !strings.Contains(tokens[len(tokens)-1].after, "?"))
}

// MoveWanted reads a goal that only wants files moved to a folder: "Move a.json and b.json to
// a new folder deploy/". ok is false if it says anything else, but for a run of the tests.
func MoveWanted(goal string, files []string) (moved []string, folder string, ok bool) {
	tokens, ok := asked(goal)
	to := slices.IndexFunc(tokens, func(t token) bool { return t.is("to", "into") })
	if !ok || !tokens[0].is("move") || to < 0 {
		return nil, "", false
	}
	for _, t := range tokens[1:to] {
		switch name := strings.TrimPrefix(t.text, "./"); {
		case slices.Contains(files, name) && !slices.Contains(moved, name):
			moved = append(moved, name)
		case !t.is("the", "file", "files", "both", "and"):
			return nil, "", false
		}
	}
	rest, called := tokens[to+1:], false // called a folder
	for len(rest) > 1 && rest[0].is("a", "the", "new", "existing", "named", "called", "folder", "directory", "dir") {
		called, rest = called || rest[0].is("folder", "directory", "dir"), rest[1:]
	}
	if len(rest) == 2 && rest[1].is("folder", "directory", "dir") {
		called, rest = true, rest[:1]
	}
	if len(rest) != 1 || rest[0].is("another", "its", "their", "other", "same", "own") || isFile(rest[0].text) || strings.ContainsAny(rest[0].text, "~\\:*?${}<>|") || strings.HasPrefix(rest[0].text, "/") || strings.Contains(rest[0].text, "..") {
		return nil, "", false
	}
	folder = strings.Trim(strings.TrimPrefix(rest[0].text, "./"), "/")
	called = called || strings.Contains(rest[0].text, "/") || slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, folder+"/") })
	return moved, folder, called && folder != "" && len(moved) > 0
}

// OnlyRead reports whether a goal names a file to take something from, and not to change.
// So does "Add a description to pyproject.toml, use the docstring of notes/__init__.py".
func OnlyRead(goal, file string) bool {
	tokens := split(goal, 4*maxWords)
	edits, uses, removes := false, false, false // the clauses before change something; this one says what to use, or removes something
	for i, t := range tokens {
		if i == 0 || tokens[i-1].after != "" || tokens[i-1].is("and", "then", "but") {
			uses = edits && t.is("use", "using", "take", "taking", "copy", "see", "read", "follow", "following")
			removes = false
		}
		edits = edits || t.is(imperatives...)
		removes = removes || t.is("remove", "removing", "delete", "drop", "move", "extract", "cut", "strip")
		name := strings.TrimPrefix(t.text, "./")
		if name != file && !strings.HasSuffix(file, "/"+name) || !isFile(name) {
			continue
		}
		before := tokens[:i]
		for len(before) > 0 && before[len(before)-1].is("the", "file") {
			before = before[:len(before)-1]
		}
		n := len(before)
		if n > 2 && before[n-1].is("in", "of", "from") && before[n-2].is("one", "ones", "that", "those", "value") { // "to the one in a.json"
			like := before[n-3]
			if like.is("the") && n > 3 {
				like = before[n-4]
			}
			if like.is("to", "as", "like", "than", "with", "match", "matches", "by") {
				return true
			}
		}
		return n > 0 && (before[n-1].is("from") && !removes || before[n-1].is("like") || uses && before[n-1].is("of", "in"))
	}
	return false
}

// NamesNew reports whether a goal names a file that is none of files, such as one to create.
func NamesNew(goal string, files []string) bool {
	for _, t := range split(goal, 4*maxWords) {
		name := strings.TrimPrefix(t.text, "./")
		if isFile(name) && !t.quoted && !slices.ContainsFunc(files, func(f string) bool {
			return f == name || strings.HasSuffix(f, "/"+name) || bareFile.MatchString(name) && strings.TrimSuffix(path.Base(f), path.Ext(f)) == name
		}) {
			return true
		}
	}
	return false
}

// endings matches what files end in, as in "files that end in .log".
var endings = lazyregexp.New(`^\.\w+$`)

// CreatedFile returns the file that a goal only creates, if files does not hold it: "Create
// MODULES.md with the names of the modules". ok is false if the goal names another new file,
// or wants a program that makes the file. It is also false if the goal wants more done than
// a run of the tests.
func CreatedFile(goal string, files []string) (file string, ok bool) {
	tokens := split(goal, 4*maxWords)
	creates, verb, at := 0, 0, 0 // positions of the verb and of the file
	for i, t := range tokens {
		begins := beginsClause(tokens, i)
		switch {
		case begins && t.is("create", "write", "make", "generate", "put", "save", "add", "list", "collect") && !runsTests(goal, tokens, i):
			creates, verb = creates+1, i
		case begins && t.is(imperatives...) && !runsTests(goal, tokens, i), t.is("instead", "moving", "moved", "longer"):
			return "", false
		case !isFile(t.text) || strings.ContainsAny(t.text, "*?") || file != "" && endings.MatchString(t.text) && t.text != ".gitignore" || slices.ContainsFunc(files, func(f string) bool { return f == t.text || strings.HasSuffix(f, "/"+t.text) }):
		case file != "" && file != t.text:
			return "", false
		case file == "":
			file, at = strings.TrimPrefix(t.text, "./"), i
		}
	}
	return file, creates == 1 && verb < at && isCreated(tokens, verb, at) && !testfile.Is(file) && !OnlyAsks(goal)
}

var (
	// beforeFile may stand between a verb and the new file that is its object.
	beforeFile = strings.Fields("a an the new short small simple plain empty text markdown file called named")
	// afterFile go on with what the new file holds.
	afterFile = strings.Fields("with that which containing contains listing from for about where of describing explaining showing holding so per using based to whose by one please and")
	// collected are words for what may be written into a file as a list.
	collected = strings.Fields("names name list listing summary overview table paths number count titles title descriptions description values keys functions classes methods types imports " +
		"todos commits messages subjects lines headings contents")
	// programs are words for what makes a file later, or holds its name.
	programs = strings.Fields("program script server command endpoint flag its should when it")
)

// isCreated reports whether the file at a position is what the verb at another one makes, or
// what takes in what it collects.
func isCreated(tokens []token, verb, at int) bool {
	between := tokens[verb+1 : at]
	named := len(between)
	for named > 0 && between[named-1].is(beforeFile...) {
		named--
	}
	ends := tokens[at].after != "" || at+1 == len(tokens)
	goesOn := ends || tokens[at+1].is(afterFile...) && (!tokens[verb].is("add") || !tokens[at+1].is("to"))
	if named == 0 || len(between) > 1 && between[len(between)-1].is("called", "named") && dropArticles(between)[0].is("file", "new") {
		return goesOn && tokens[verb].is("create", "write", "make", "generate", "add")
	}
	into := between[named-1].is("to", "into", "as") || between[named-1].is("in") && languages[path.Ext(tokens[at].text)] == ""
	object := dropArticles(between)
	return goesOn && into && tokens[verb].is("write", "put", "save", "list", "collect", "generate", "create", "make") &&
		!object[0].is("function", "method", "class", "test", "comment", "program") &&
		(tokens[verb].is("list", "collect") || slices.ContainsFunc(between, func(t token) bool { return t.is(collected...) })) &&
		!slices.ContainsFunc(between, func(t token) bool { return t.is(programs...) })
}

// dropArticles leaves out the articles at the start, and keeps at least one token.
func dropArticles(tokens []token) []token {
	for len(tokens) > 1 && tokens[0].is(articles...) {
		tokens = tokens[1:]
	}
	return tokens
}
