package intent

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"replan/internal/testfile"
	"replan/planning/plan"
)

// findDefinition finds where a name is defined.
var findDefinition = lookUp("code.definition", "Find where X is defined")

// chains are the chains of the intents, by action: their function, and their title
// with a target. An action that needs a target asks for it.
var chains = map[string]struct {
	category   string
	build      func(*builder)
	about, ask string
}{
	find:       {navigate, (*builder).find, "Find X", "find what? Name it: find Parse"},
	references: {navigate, lookUp("code.references", "Find the references to X"), "Find where X is used", "the uses of what? Name it: where is Parse used"},
	definition: {navigate, findDefinition, "Find where X is defined", "the definition of what? Name it: where is Parse defined"},
	symbols:    {navigate, (*builder).symbols, "List the symbols of X", "the symbols of what? Name a file: outline main.go"},
	countLines: {navigate, (*builder).lines, "Count the lines of X", ""},
	folder:     {navigate, (*builder).folder, "Say which folder this is", ""},
	readFile:   {navigate, func(b *builder) { b.file(b.path()) }, "Show X", "show what? Name the file: show main.go"},
	explain:    {explain, (*builder).explain, "Explain X", "explain what? Name it: what is Parse"},
	edit:       {modify, (*builder).edit, "Edit X", "change what? Name the text and its replacement: replace foo with bar"},
	fix:        {modify, (*builder).model, "Fix X", "fix what? Name the file, the symbol or the test: fix the bug in parse.go"},
	extract:    {modify, (*builder).model, "Extract X", "extract what? Name the code and its place: extract Parse from main.go"},
	rename:     {refactor, (*builder).rename, "Rename X", "rename what? Name the symbol and its new name: rename Foo to Bar"},
	refactor:   {refactor, (*builder).model, "Refactor X", "refactor what? Name the file or the symbol: refactor Parse"},
	test:       {validate, (*builder).test, "Test X", ""},
	lint:       {validate, (*builder).lint, "Lint X", ""},
	debug:      {debug, (*builder).debug, "Find out why X fails", "what fails? Name the test or the package: why does TestParse fail"},
	create:     {create, (*builder).create, "Create X", "create what? Name it: create docs/usage.md"},
	addTests:   {create, (*builder).model, "Add tests for X", "tests for what? Name the file or the symbol: add tests for Parse"},
	status:     {vcs, (*builder).status, "", ""},
	diff:       {vcs, (*builder).diff, "Show the changes of X", ""},
	history:    {vcs, (*builder).history, "Show the history of X", ""},
	commit:     {vcs, (*builder).commit, "Commit X", ""},
	branch:     {vcs, (*builder).branch, "", ""},
	push:       {vcs, (*builder).push, "", ""},
	blame:      {vcs, (*builder).blame, "Show who wrote X", askLine},

	build:        {project, (*builder).buildProject, "", ""},
	format:       {project, (*builder).formatCode, "Format X", ""},
	command:      {project, (*builder).command, "", ""},
	dependencies: {project, (*builder).dependencies, "", ""},
}

// The bounds of lists.
const (
	mostListed = 2000 // tests or symbols
	treeDepth  = 3    // levels of folders
)

// grep searches for a pattern as grep does: it tells capitals from small letters.
func (b *builder) grep() {
	pattern := b.in.Target
	args := map[string]any{"query": literally(pattern), "path": b.within(), "glob": literally(b.in.Params["glob"])}
	if b.in.Params["case"] == "any" {
		args["ignore_case"] = true
	}
	plain := strings.IndexFunc(pattern, func(r rune) bool { return strings.ContainsRune(`\.+*?()|[]{}^$`, r) }) < 0
	if b.in.Params["whole"] != "" {
		if b.in.Params["expression"] == "" {
			pattern = regexp.QuoteMeta(pattern)
		}
		args["query"], args["regex"] = literally(`\b(?:`+pattern+`)\b`), true
	} else if b.in.Params["expression"] != "" && !plain {
		args["regex"] = true
		if _, err := regexp.Compile(pattern); err != nil {
			b.addInvalid("%q is no regular expression: quote it, and use grep -F for the text as it stands", pattern)
		}
	}
	b.call("fs.search", "Search for "+b.about(), args, "")
}

// maxDepth is how many levels of folders are looked through for a file.
const maxDepth = 20

func (b *builder) find() {
	target := b.in.Target
	switch s := b.shape(); {
	case b.in.Params["of"] == "tests" && s == nothing:
		b.call("fs.search", "List the tests", map[string]any{"query": testsPattern, "regex": true, "path": b.within(), "max": number(mostListed)}, "")
	case b.in.Params["of"] == "files" && s == nothing:
		args := map[string]any{"path": b.within()}
		if b.in.Params["deep"] != "" {
			args["depth"] = number(treeDepth)
		}
		b.call("fs.list", "List the files", args, "")
	case b.in.Params["case"] != "": // as grep does
		b.grep()
	case b.in.Params["raised"] != "":
		b.call("fs.search", "Search for what raises "+b.about(), map[string]any{"query": literally(raisedPattern(symbolOf(target))), "regex": true, "path": b.within()}, "")
	case marksIn(target) != nil && b.in.Params["exact"] == "":
		args := map[string]any{"query": strings.Join(marksIn(target), "|"), "path": b.within()}
		if len(marksIn(target)) > 1 {
			args["regex"] = true
		}
		b.call("fs.search", "Search for "+b.about(), args, "")
	case (s == aName || s == aTest) && b.policy.prefers("fs.search", "code.symbols") == "code.symbols":
		b.call("code.symbols", "Find symbols like "+b.about(), map[string]any{"query": b.symbol(), "path": b.within()}, "")
	default:
		b.search(false, "")
		switch judge := judged(target); {
		case b.in.Params["exact"] != "" || s != someWords:
		case judge != "":
			b.addMissing("a search finds words, and cannot tell what is %s. Did you mean: is NAME used anywhere, or find \"%s\"?", judge, plan.OneLine(target, 60))
		case severalThings(target) && b.in.Params["in"] == "":
			b.addMissing("a search finds words, and cannot tell which lines are %s. Did you mean: find \"%[1]s\"?", plan.OneLine(target, 60))
		}
		if s == aPath { // the name of a file, and where it is mentioned
			b.call("fs.list", "List the files", map[string]any{"path": b.within(), "depth": number(maxDepth)}, "")
		}
	}
}

// lookUp finds a name by an operator for code, and anything else by a search.
func lookUp(tool, title string) func(*builder) {
	return func(b *builder) {
		if s := b.shape(); s == aPath || s == someWords || b.policy.prefers(tool, "fs.search") == "fs.search" {
			b.search(true, "")
			return
		}
		b.call(tool, strings.Replace(title, "X", b.about(), 1), map[string]any{"symbol": b.symbol(), "path": b.within(), "allow_none": true}, "")
	}
}

func (b *builder) symbols() {
	args := map[string]any{"path": b.path()}
	if b.in.Params["kinds"] != "" { // those of other kinds are left out of the answer
		args["max"] = number(mostListed)
	}
	if b.shape() == nothing {
		args["path"] = b.within()
		b.call("code.symbols", "List the "+b.listed()+" of the code", args, "")
		return
	}
	if b.shape() != aPath && !isFolder(b.in.Target) { // "the types in planning": a package
		args["query"], args["path"] = b.symbol(), b.within()
	}
	b.call("code.symbols", "List the "+b.listed()+" of "+b.about(), args, "")
}

// listed names the kinds of symbols that are to be listed.
func (b *builder) listed() string {
	kinds := strings.Fields(b.in.Params["kinds"])
	if len(kinds) == 0 {
		return "symbols"
	}
	if kinds[0] == "class" {
		return "classes"
	}
	return kinds[0] + "s"
}

func (b *builder) explain() {
	switch s := b.shape(); {
	case s == aPath && !isFile(b.in.Target):
		b.file(b.path())
	case s == aPath:
		read := b.file(b.path())
		b.call("code.summarize", "Summarize "+b.about(), map[string]any{"text": "${source}", "path": b.path()}, "summary", read)
	case (s == aName || s == aTest) && b.policy.prefers("fs.search", "code.definition") == "code.definition":
		findDefinition(b)
	default:
		found := b.search(true, "found")
		b.call("code.summarize", "Summarize the matches", map[string]any{"symbol": b.symbol(), "matches": "${found}"}, "summary", found)
		if s == aName && b.facts.Known && len(b.facts.Declared) == 0 && looksLikeName(token{text: b.in.Target}) { // it may be misspelled
			b.call("code.definition", "Look for similar names", map[string]any{"symbol": b.symbol(), "path": b.within(), "allow_none": true}, "")
		}
	}
}

// edit removes a file, or replaces one text by another, which needs no model; any
// other edit does.
func (b *builder) edit() {
	with, replaces := b.in.Params["with"]
	switch {
	case b.in.Params["remove"] == "folder":
		b.removeFolder()
	case b.in.Params["remove"] != "":
		b.tests(b.call("fs.remove", "Remove "+b.about(), map[string]any{"path": b.path()}, ""))
	case replaces:
		change := b.call("code.transform", "Work out the replacement", map[string]any{
			"kind": "replace", "pattern": literally(b.in.Target), "path": b.within(),
		}, "change")
		b.nodes[change].Args["replacement"] = literally(with) // which may be empty
		b.applied(change)
	default:
		if slices.Contains(dependencyWords, strings.ToLower(b.in.Target)) {
			b.addMissing("which of them, and to which version? Did you mean: what dependencies does this project have?")
		}
		b.model()
	}
}

// removeFolder removes a folder with all that is in it, which its gate lists.
func (b *builder) removeFolder() {
	at := b.facts.place(b.in.Target)
	switch {
	case !b.facts.Known:
		at = pathOf(b.in.Target)
	case at == "":
		b.addInvalid("there is no folder %s", b.about())
	}
	args := map[string]any{"path": literally(at)}
	if !slices.Contains(b.facts.Files, at) {
		args["recursive"] = true
	}
	b.tests(b.call("fs.remove", "Remove "+inTitle(at), args, ""))
}

// dependencyWords name what a project needs.
var dependencyWords = strings.Fields("dependencies dependency deps packages modules libraries requirements")

// applied shows a change that an operator worked out, then makes it.
func (b *builder) applied(change int) {
	b.call("code.summarize", "Summarize the change", map[string]any{"diff": "${change.diff}"}, "summary", change)
	b.tests(b.call("fs.patch", "Apply the change", map[string]any{"diff": "${change.diff}", "hashes": "${change.hashes}"}, "", change))
}

// testOutcomes are the last words of targets whose faults the tests report.
var testOutcomes = strings.Fields("failing broken test tests build ci")

// reportedByTests reports whether the tests report the faults of a target.
func reportedByTests(target string) bool {
	words := strings.Fields(strings.ToLower(target))
	return len(words) > 0 && slices.Contains(testOutcomes, words[len(words)-1])
}

func (b *builder) rename() {
	name := b.in.Params["new_name"]
	switch {
	case name == "" && b.shape() != nothing:
		b.addMissing("rename %s to what? Add the new name: rename %[1]s to NewName", b.about())
	case b.shape() == aPath:
		b.moved(name)
		return
	}
	from, _ := lastOf(symbolOf(b.in.Target))
	to, bare := lastOf(symbolOf(name))
	switch {
	case b.shape() == someWords:
		b.addMissing("%q is not the name of a symbol or a file", b.about())
	case name != "" && !identifier.MatchString(symbolOf(name)):
		b.addInvalid("%s is not a valid name", plan.OneLine(name, 60))
	case to != "" && to == from:
		name = bare // Run.Apply to Run.Fold
	case to != "":
		b.addMissing("a rename does not move code: %s lies elsewhere than %s", plan.OneLine(name, 60), b.about())
	}
	place := b.within()
	uses := b.call("code.references", "Find the references to "+b.about(), map[string]any{"symbol": b.symbol(), "path": place}, "uses")
	change := b.call("code.transform", "Work out the renaming to "+inTitle(name), map[string]any{
		"kind": "rename", "symbol": "${uses.symbol}", "new_name": literally(name), "path": place,
	}, "change", uses)
	b.applied(change)
}

// moved gives a file another name: in its folder, where the new name has none.
func (b *builder) moved(to string) {
	from := pathOf(b.in.Target)
	if !strings.Contains(to, "/") {
		to = path.Join(path.Dir(from), to)
	}
	switch {
	case isFile(from) && !isFile(to):
		b.addMissing("the new name of a file lacks an extension such as %s: %s", path.Ext(from), plan.OneLine(to, 60))
	case from == "" || pathOf(to) == "" || isPattern(from) || strings.ContainsAny(to, " \t\n") && !b.facts.has(path.Dir(to)):
		b.addMissing("a rename takes one path and one new path: rename a.go to b.go")
	}
	b.tests(b.call("fs.move", "Move "+inTitle(from)+" to "+inTitle(to), map[string]any{"from": literally(from), "to": literally(pathOf(to))}, ""))
}

// model shows a model the code, and what else its work needs.
func (b *builder) model() {
	from, tool, to := b.code(), "fs.patch", ""
	look := func(tool, title string, args map[string]any, result string) {
		from = append(from, b.call(tool, title, args, result))
	}
	s, source := b.shape(), pathOf(b.in.Target)
	isSource := s == aPath && isFile(source)
	failing := map[string]any{"path": b.within(), "sources": true, "allow_failures": true}
	switch {
	case b.in.Action == fix && isSource:
		look("code.parse", "Outline "+b.about(), map[string]any{"path": b.path()}, "outline")
	case b.in.Action == fix && (s == aTest || reportedByTests(b.in.Target)):
		if s == aTest {
			failing["run"] = b.symbol()
		}
		look(runTests, "Run the tests that fail", failing, "tests")
	case b.in.Action == refactor && (s == aName || s == aTest):
		look("code.references", "Find the references to "+b.about(), map[string]any{"symbol": b.symbol(), "path": b.within()}, "uses")
	case b.in.Action == addTests && isSource:
		look("code.symbols", "List the symbols of "+b.about(), map[string]any{"path": b.path()}, "symbols")
		if tests := b.facts.tests(source); tests != "" {
			look("fs.read", "Read the tests in "+inTitle(tests), map[string]any{"path": literally(tests)}, "tests")
		} else if b.facts.Known { // a new file is written only if there is surely none
			tool, to = "fs.write", testfile.Of(source)
		}
	case b.in.Action == addTests && s != aPath: // of a folder the outline is there
		look("code.symbols", "List the symbols of "+b.about(), map[string]any{"query": b.symbol(), "path": b.within()}, "symbols")
	}
	b.byModel(tool, to, from)
}

// writings are texts in code, which only the user or a model can word.
var writings = strings.Fields("comment comments docstring docstrings documentation doc docs")

// create shows a model the file that it adds to, or what is there already.
func (b *builder) create() {
	switch b.in.Params["of"] {
	case "file":
		if slices.Contains(b.facts.Files, pathOf(b.in.Target)) {
			b.addInvalid("%s is there already", b.about())
		}
		made := b.call("fs.write", "Create "+b.about(), map[string]any{"path": b.path()}, "")
		b.nodes[made].Args["text"] = "" // which the call leaves out
		if text := b.in.Params["text"]; text != "" {
			b.nodes[made].Args["text"] = literally(text) + "\n"
		}
		return
	case "folder":
		b.call("fs.mkdir", "Create the folder "+b.about(), map[string]any{"path": b.path()}, "")
		return
	}
	place := b.within()
	if words := strings.Fields(strings.ToLower(b.in.Target)); len(words) > 0 && slices.Contains(writings, words[0]) {
		about := strings.Fields(b.in.Target)
		b.addMissing("only a model can write the %s. Did you mean: what is %s?", words[0], cmp.Or(place, symbolOf(about[len(about)-1]), "NAME"))
	}
	if b.shape() == aPath && slices.Contains(b.facts.Files, pathOf(b.in.Target)) { // nothing of it may go
		place = b.path()
	}
	if isFile(place) {
		b.byModel("fs.patch", "", []int{b.file(place)})
		return
	}
	b.byModel("fs.write", "", []int{b.call("fs.list", "List the files", map[string]any{"path": place, "depth": number(2)}, "files")})
}
