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
	build      func(*draft)
	about, ask string
}{
	find:       {navigate, (*draft).find, "Find X", "find what? Name it: find Parse"},
	references: {navigate, lookUp("code.references", "Find the references to X"), "Find where X is used", "the uses of what? Name it: where is Parse used"},
	definition: {navigate, findDefinition, "Find where X is defined", "the definition of what? Name it: where is Parse defined"},
	symbols:    {navigate, (*draft).symbols, "List the symbols of X", "the symbols of what? Name a file: outline main.go"},
	countLines: {navigate, (*draft).lines, "Count the lines of X", ""},
	readFile:   {navigate, func(d *draft) { d.file(d.path()) }, "Show X", "show what? Name the file: show main.go"},
	explain:    {explain, (*draft).explain, "Explain X", "explain what? Name it: what is Parse"},
	edit:       {modify, (*draft).edit, "Edit X", "change what? Name the text and its replacement: replace foo with bar"},
	fix:        {modify, (*draft).model, "Fix X", "fix what? Name the file, the symbol or the test: fix the bug in parse.go"},
	extract:    {modify, (*draft).model, "Extract X", "extract what? Name the code and its place: extract Parse from main.go"},
	rename:     {refactor, (*draft).rename, "Rename X", "rename what? Name the symbol and its new name: rename Foo to Bar"},
	refactor:   {refactor, (*draft).model, "Refactor X", "refactor what? Name the file or the symbol: refactor Parse"},
	test:       {validate, (*draft).test, "Test X", ""},
	lint:       {validate, (*draft).lint, "Lint X", ""},
	debug:      {debug, (*draft).debug, "Find out why X fails", "find out why what fails? Name the test or the package: why does TestParse fail"},
	create:     {create, (*draft).create, "Create X", "create what? Name it: create docs/usage.md"},
	addTests:   {create, (*draft).model, "Add tests for X", "tests for what? Name the file or the symbol: add tests for Parse"},
	status:     {vcs, (*draft).status, "", ""},
	diff:       {vcs, (*draft).diff, "Show the changes of X", ""},
	history:    {vcs, (*draft).history, "Show the history of X", ""},
	commit:     {vcs, (*draft).commit, "Commit X", ""},
	branch:     {vcs, (*draft).branch, "", ""},
	push:       {vcs, (*draft).push, "", ""},
	blame:      {vcs, (*draft).blame, "Show who wrote X", askLine},

	build:        {project, (*draft).buildProject, "", ""},
	format:       {project, (*draft).formatCode, "Format X", ""},
	command:      {project, (*draft).command, "", ""},
	dependencies: {project, (*draft).dependencies, "", ""},
}

// The bounds of lists.
const (
	mostListed = 2000 // tests or symbols
	treeDepth  = 3    // levels of folders
)

// grep searches for a pattern as grep does: it tells capitals from small letters.
func (d *draft) grep() {
	pattern := d.in.Target
	args := map[string]any{"query": literally(pattern), "path": d.within(), "glob": literally(d.in.Params["glob"])}
	if d.in.Params["case"] == "any" {
		args["ignore_case"] = true
	}
	plain := strings.IndexFunc(pattern, func(r rune) bool { return strings.ContainsRune(`\.+*?()|[]{}^$`, r) }) < 0
	if d.in.Params["whole"] != "" {
		if d.in.Params["expression"] == "" {
			pattern = regexp.QuoteMeta(pattern)
		}
		args["query"], args["regex"] = literally(`\b(?:`+pattern+`)\b`), true
	} else if d.in.Params["expression"] != "" && !plain {
		args["regex"] = true
		if _, err := regexp.Compile(pattern); err != nil {
			d.addInvalid("%q is no regular expression: quote it, and use grep -F for the text as it stands", pattern)
		}
	}
	d.call("fs.search", "Search for "+d.about(), args, "")
}

// maxDepth is how many levels of folders are looked through for a file.
const maxDepth = 20

func (d *draft) find() {
	target := d.in.Target
	switch s := d.shape(); {
	case d.in.Params["of"] == "tests" && s == nothing:
		d.call("fs.search", "List the tests", map[string]any{"query": testsPattern, "regex": true, "path": d.within(), "max": number(mostListed)}, "")
	case d.in.Params["of"] == "files" && s == nothing:
		args := map[string]any{"path": d.within()}
		if d.in.Params["deep"] != "" {
			args["depth"] = number(treeDepth)
		}
		d.call("fs.list", "List the files", args, "")
	case d.in.Params["case"] != "": // as grep does
		d.grep()
	case d.in.Params["raised"] != "":
		d.call("fs.search", "Search for what raises "+d.about(), map[string]any{"query": literally(raisedPattern(symbolOf(target))), "regex": true, "path": d.within()}, "")
	case marksIn(target) != nil && d.in.Params["exact"] == "":
		args := map[string]any{"query": strings.Join(marksIn(target), "|"), "path": d.within()}
		if len(marksIn(target)) > 1 {
			args["regex"] = true
		}
		d.call("fs.search", "Search for "+d.about(), args, "")
	case (s == aName || s == aTest) && d.policy.prefers("fs.search", "code.symbols") == "code.symbols":
		d.call("code.symbols", "Find symbols like "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "")
	default:
		d.search(false, "")
		switch judge := judged(target); {
		case d.in.Params["exact"] != "" || s != someWords:
		case judge != "":
			d.addMissing("a search finds words, and cannot tell what is %s. Did you mean: is NAME used anywhere, or find \"%s\"?", judge, plan.OneLine(target, 60))
		case severalThings(target) && d.in.Params["in"] == "":
			d.addMissing("a search finds words, and cannot tell which lines are %s. Did you mean: find \"%[1]s\"?", plan.OneLine(target, 60))
		}
		if s == aPath { // the name of a file, and where it is mentioned
			d.call("fs.list", "List the files", map[string]any{"path": d.within(), "depth": number(maxDepth)}, "")
		}
	}
}

// lookUp finds a name by an operator for code, and anything else by a search.
func lookUp(tool, title string) func(*draft) {
	return func(d *draft) {
		if s := d.shape(); s == aPath || s == someWords || d.policy.prefers(tool, "fs.search") == "fs.search" {
			d.search(true, "")
			return
		}
		d.call(tool, strings.Replace(title, "X", d.about(), 1), map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
	}
}

func (d *draft) symbols() {
	args := map[string]any{"path": d.path()}
	if d.in.Params["kinds"] != "" { // those of other kinds are left out of the answer
		args["max"] = number(mostListed)
	}
	if d.shape() == nothing {
		args["path"] = d.within()
		d.call("code.symbols", "List the "+d.listed()+" of the code", args, "")
		return
	}
	if d.shape() != aPath && !isFolder(d.in.Target) { // "the types in planning": a package
		args["query"], args["path"] = d.symbol(), d.within()
	}
	d.call("code.symbols", "List the "+d.listed()+" of "+d.about(), args, "")
}

// listed names the kinds of symbols that are to be listed.
func (d *draft) listed() string {
	kinds := strings.Fields(d.in.Params["kinds"])
	if len(kinds) == 0 {
		return "symbols"
	}
	if kinds[0] == "class" {
		return "classes"
	}
	return kinds[0] + "s"
}

func (d *draft) explain() {
	switch s := d.shape(); {
	case s == aPath && !isFile(d.in.Target):
		d.file(d.path())
	case s == aPath:
		read := d.file(d.path())
		d.call("code.summarize", "Summarize "+d.about(), map[string]any{"text": "${source}", "path": d.path()}, "summary", read)
	case (s == aName || s == aTest) && d.policy.prefers("fs.search", "code.definition") == "code.definition":
		findDefinition(d)
	default:
		found := d.search(true, "found")
		d.call("code.summarize", "Summarize the matches", map[string]any{"symbol": d.symbol(), "matches": "${found}"}, "summary", found)
		if s == aName && d.facts.Known && len(d.facts.Declared) == 0 && looksLikeName(token{text: d.in.Target}) { // it may be misspelled
			d.call("code.definition", "Look for similar names", map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
		}
	}
}

// edit removes a file, or replaces one text by another, which needs no model; any
// other edit does.
func (d *draft) edit() {
	with, replaces := d.in.Params["with"]
	switch {
	case d.in.Params["remove"] != "":
		d.tests(d.call("fs.remove", "Remove "+d.about(), map[string]any{"path": d.path()}, ""))
	case replaces:
		change := d.call("code.transform", "Work out the replacement", map[string]any{
			"kind": "replace", "pattern": literally(d.in.Target), "path": d.within(),
		}, "change")
		d.nodes[change].Args["replacement"] = literally(with) // which may be empty
		d.applied(change)
	default:
		if slices.Contains(dependencyWords, strings.ToLower(d.in.Target)) {
			d.addMissing("which of them, and to which version? Did you mean: what dependencies does this project have?")
		}
		d.model()
	}
}

// dependencyWords name what a project needs.
var dependencyWords = strings.Fields("dependencies dependency deps packages modules libraries requirements")

// applied shows a change that an operator worked out, then makes it.
func (d *draft) applied(change int) {
	d.call("code.summarize", "Summarize the change", map[string]any{"diff": "${change.diff}"}, "summary", change)
	d.tests(d.call("fs.patch", "Apply the change", map[string]any{"diff": "${change.diff}", "hashes": "${change.hashes}"}, "", change))
}

// testOutcomes are the last words of targets whose faults the tests report.
var testOutcomes = strings.Fields("failing broken test tests build ci")

// reportedByTests reports whether the tests report the faults of a target.
func reportedByTests(target string) bool {
	words := strings.Fields(strings.ToLower(target))
	return len(words) > 0 && slices.Contains(testOutcomes, words[len(words)-1])
}

func (d *draft) rename() {
	name := d.in.Params["new_name"]
	switch {
	case name == "" && d.shape() != nothing:
		d.addMissing("rename %s to what? Add the new name: rename %[1]s to NewName", d.about())
	case d.shape() == aPath:
		d.moved(name)
		return
	}
	from, _ := lastOf(symbolOf(d.in.Target))
	to, bare := lastOf(symbolOf(name))
	switch {
	case d.shape() == someWords:
		d.addMissing("%q is not the name of a symbol or a file", d.about())
	case name != "" && !identifier.MatchString(symbolOf(name)):
		d.addInvalid("%s is not a valid name", plan.OneLine(name, 60))
	case to != "" && to == from:
		name = bare // Run.Apply to Run.Fold
	case to != "":
		d.addMissing("a rename does not move code: %s lies elsewhere than %s", plan.OneLine(name, 60), d.about())
	}
	place := d.within()
	uses := d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": place}, "uses")
	change := d.call("code.transform", "Work out the renaming to "+said(name), map[string]any{
		"kind": "rename", "symbol": "${uses.symbol}", "new_name": literally(name), "path": place,
	}, "change", uses)
	d.applied(change)
}

// moved gives a file another name: in its folder, where the new name has none.
func (d *draft) moved(to string) {
	from := pathOf(d.in.Target)
	if !strings.Contains(to, "/") {
		to = path.Join(path.Dir(from), to)
	}
	switch {
	case isFile(from) && !isFile(to):
		d.addMissing("the new name of a file lacks an ending such as %s: %s", path.Ext(from), plan.OneLine(to, 60))
	case from == "" || pathOf(to) == "" || isPattern(from) || strings.ContainsAny(to, " \t\n"):
		d.addMissing("a file is renamed by its path and to one path: rename a.go to b.go")
	}
	d.tests(d.call("fs.move", "Move "+said(from)+" to "+said(to), map[string]any{"from": literally(from), "to": literally(pathOf(to))}, ""))
}

// model shows a model the code, and what else its work needs.
func (d *draft) model() {
	from, tool, to := d.code(), "fs.patch", ""
	look := func(tool, title string, args map[string]any, result string) {
		from = append(from, d.call(tool, title, args, result))
	}
	s, source := d.shape(), pathOf(d.in.Target)
	isSource := s == aPath && isFile(source)
	failing := map[string]any{"path": d.within(), "sources": true, "allow_failures": true}
	switch {
	case d.in.Action == fix && isSource:
		look("code.parse", "Outline "+d.about(), map[string]any{"path": d.path()}, "outline")
	case d.in.Action == fix && (s == aTest || reportedByTests(d.in.Target)):
		if s == aTest {
			failing["run"] = d.symbol()
		}
		look(runTests, "Run the tests that fail", failing, "tests")
	case d.in.Action == refactor && (s == aName || s == aTest):
		look("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": d.within()}, "uses")
	case d.in.Action == addTests && isSource:
		look("code.symbols", "List the symbols of "+d.about(), map[string]any{"path": d.path()}, "symbols")
		if tests := d.facts.tests(source); tests != "" {
			look("fs.read", "Read the tests in "+said(tests), map[string]any{"path": literally(tests)}, "tests")
		} else if d.facts.Known { // a new file is written only if there is surely none
			tool, to = "fs.write", testfile.Of(source)
		}
	case d.in.Action == addTests && s != aPath: // of a folder the outline is there
		look("code.symbols", "List the symbols of "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "symbols")
	}
	d.byModel(tool, to, from)
}

// writings are texts in code, which nobody but the user or a model can word.
var writings = strings.Fields("comment comments docstring docstrings documentation doc docs")

// create shows a model the file that it adds to, or what is there already.
func (d *draft) create() {
	place := d.within()
	if words := strings.Fields(strings.ToLower(d.in.Target)); len(words) > 0 && slices.Contains(writings, words[0]) {
		about := strings.Fields(d.in.Target)
		d.addMissing("only a model can word the %s. Did you mean: what is %s?", words[0], cmp.Or(place, symbolOf(about[len(about)-1]), "NAME"))
	}
	if d.shape() == aPath && slices.Contains(d.facts.Files, pathOf(d.in.Target)) { // nothing of it may go
		place = d.path()
	}
	if isFile(place) {
		d.byModel("fs.patch", "", []int{d.file(place)})
		return
	}
	d.byModel("fs.write", "", []int{d.call("fs.list", "List the files", map[string]any{"path": place, "depth": number(2)}, "files")})
}
