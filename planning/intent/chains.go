package intent

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"replan/planning/plan"
)

func isUpper(r rune) bool { return unicode.IsUpper(r) }

// chains build the chain of each intent.
var chains = map[[2]string]func(*draft){
	{navigate, find}:       (*draft).find,
	{navigate, references}: (*draft).references,
	{navigate, definition}: (*draft).definition,
	{navigate, symbols}:    (*draft).symbols,
	{explain, explain}:     (*draft).explain,
	{modify, edit}:         (*draft).edit,
	{modify, fix}:          (*draft).fix,
	{modify, extract}:      (*draft).extract,
	{refactor, rename}:     (*draft).rename,
	{refactor, refactor}:   (*draft).refactor,
	{validate, test}:       (*draft).test,
	{validate, lint}:       (*draft).lint,
	{debug, debug}:         (*draft).debug,
	{create, create}:       (*draft).create,
	{create, addTests}:     (*draft).addTests,
	{vcs, status}:          (*draft).status,
	{vcs, diff}:            (*draft).diff,
	{vcs, history}:         (*draft).history,
	{vcs, commit}:          (*draft).commit,
	{vcs, branch}:          (*draft).branch,
	{vcs, push}:            (*draft).push,
}

// deepEnough is how many levels of folders are looked through for a file.
const deepEnough = 20

func (d *draft) find() {
	if d.in.Params["of"] == "files" && d.in.Target == "" {
		d.call("fs.list", "List the files", map[string]any{"path": d.within()}, "")
		return
	}
	if d.in.Params["of"] == "packages" {
		d.call("fs.list", "List the folders", map[string]any{"path": d.within(), "depth": number(deepEnough)}, "")
		return
	}
	d.need()
	switch d.shape() {
	case aPath: // the name of a file, and where it is mentioned
		d.search(false, "found")
		d.call("fs.list", "List the files", map[string]any{"path": d.within(), "depth": number(deepEnough)}, "")
	case aName, aTest:
		if d.policy.prefers("fs.search", "code.symbols") == "code.symbols" {
			d.call("code.symbols", "Find symbols like "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "")
			return
		}
		d.search(false, "")
	default:
		d.search(false, "")
	}
}

func (d *draft) references() {
	d.need()
	if s := d.shape(); s == aPath || s == someWords || d.policy.prefers("code.references", "fs.search") == "fs.search" {
		d.search(true, "")
		return
	}
	d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
}

func (d *draft) definition() {
	d.need()
	if s := d.shape(); s == aPath || s == someWords || d.policy.prefers("code.definition", "fs.search") == "fs.search" {
		d.search(true, "")
		return
	}
	d.call("code.definition", "Find where "+d.about()+" is defined", map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
}

func (d *draft) symbols() {
	d.need()
	switch d.shape() {
	case aPath:
		name := literally(pathOf(d.in.Target))
		if isFile(name) && d.policy.prefers("code.symbols", "code.parse") == "code.parse" {
			d.call("code.parse", "Outline "+d.about(), map[string]any{"path": name}, "")
			return
		}
		d.call("code.symbols", "List the symbols of "+d.about(), map[string]any{"path": name}, "")
	case aName:
		if isFolder(d.in.Target) { // "the types in planning": a package
			d.call("code.symbols", "List the symbols of "+d.about(), map[string]any{"path": d.symbol()}, "")
			return
		}
		d.call("code.symbols", "List the symbols of "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "")
	default:
		d.call("code.symbols", "List symbols like "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "")
	}
}

func (d *draft) explain() {
	d.need()
	switch s := d.shape(); {
	case s == aPath && !isFile(d.in.Target):
		d.file(literally(pathOf(d.in.Target)))
	case s == aPath:
		name := literally(pathOf(d.in.Target))
		read := d.call("fs.read", "Read "+d.about(), map[string]any{"path": name}, "source")
		d.call("code.summarize", "Summarise "+d.about(), map[string]any{"text": "${source}", "path": name}, "summary", read)
	case (s == aName || s == aTest) && d.policy.prefers("fs.search", "code.definition") == "code.definition":
		d.call("code.definition", "Find where "+d.about()+" is defined", map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
	default:
		found := d.search(true, "found")
		d.call("code.summarize", "Summarise the matches", map[string]any{"symbol": d.symbol(), "matches": "${found}"}, "summary", found)
	}
}

// edit replaces one text by another, which needs no model; any other edit does.
func (d *draft) edit() {
	if d.in.Params["remove"] != "" {
		name := literally(pathOf(d.in.Target))
		d.tests(d.call("fs.remove", "Remove "+d.about(), map[string]any{"path": name}, ""))
		return
	}
	with, replaces := d.in.Params["with"]
	if !replaces || d.in.Target == "" { // blanks can be replaced
		d.need()
	}
	if replaces {
		change := d.call("code.transform", "Work out the replacement", map[string]any{
			"kind": "replace", "pattern": literally(d.in.Target), "path": d.within(),
		}, "change")
		d.nodes[change].Args["replacement"] = literally(with) // which may be empty
		d.applied(change)
		return
	}
	var from []int
	if place := d.within(); place != "" {
		from = d.file(place)
	} else {
		from = d.source()
	}
	done := d.model(edit, "Edit "+d.about(), "the change, file by file, with the exact text to replace", from...)
	d.written("fs.patch", "Apply the edit", append(from, done)...)
}

// applied shows a change that an operator worked out, then makes it.
func (d *draft) applied(change int) {
	d.call("code.summarize", "Summarise the change", map[string]any{"diff": "${change.diff}"}, "summary", change)
	done := d.call("fs.patch", "Apply the change", map[string]any{"diff": "${change.diff}", "hashes": "${change.hashes}"}, "", change)
	d.tests(done)
}

// outcomes are targets of a fix reported by tests or by a linter.
var (
	testOutcomes = strings.Fields("test tests build compile compilation ci pipeline suite errors failures")
	lintOutcomes = strings.Fields("lint linter warnings vet style formatting")
)

func (d *draft) fix() {
	d.need()
	words := strings.Fields(strings.ToLower(d.in.Target))
	is := func(outcomes []string) bool {
		return len(words) > 0 && slices.Contains(outcomes, words[0]) && slices.Contains(outcomes, words[len(words)-1])
	}
	var from []int
	switch s := d.shape(); {
	case s == aPath && isFile(d.in.Target):
		name := literally(pathOf(d.in.Target))
		from = d.file(name)
		from = append(from, d.call("code.parse", "Outline "+d.about(), map[string]any{"path": name}, "outline"))
	case s == aTest:
		from = []int{d.failing(map[string]any{"run": d.symbol(), "path": d.within(), "sources": true}), d.located()}
	case is(lintOutcomes):
		from = []int{d.call("test.lint", "Run the linter", map[string]any{"path": d.within(), "allow_failures": true}, "findings")}
	case is(testOutcomes):
		from = []int{
			d.failing(map[string]any{"path": d.within(), "sources": true}),
			d.call("vcs.diff", "Look at the changes", map[string]any{"of": "all"}, "changes"),
		}
	case s == someWords && d.in.Params["in"] != "":
		from = d.file(d.within())
	default:
		from = d.source()
	}
	done := d.model(fix, d.fixTitle(), "the cause, and a fix with the exact text to replace", from...)
	d.written("fs.patch", "Apply the fix", append(from, done)...)
}

func (d *draft) fixTitle() string {
	if problem := plan.OneLine(d.in.Params["problem"], 60); problem != "" {
		return "Fix the " + problem + " in " + d.about()
	}
	return "Fix " + d.about()
}

// failing runs tests that are expected to fail.
func (d *draft) failing(args map[string]any) int {
	args["allow_failures"] = true
	return d.call(runTests, "Run the tests that fail", args, "tests")
}

func (d *draft) extract() {
	d.need()
	var from []int
	switch place := d.in.Params["from"]; shapeOf(place) {
	case aPath:
		from = d.file(literally(pathOf(place)))
	case aName:
		d.in.Target, place = place, d.in.Target // the code lies there
		from = d.source()
		d.in.Target = place
	default:
		from = d.source()
	}
	title := "Extract " + d.about()
	if into := plan.OneLine(d.in.Params["into"], 60); into != "" {
		title += " into " + into
	}
	done := d.model(extract, title, "the new code, and the change to the old with the exact text to replace", from...)
	d.written("fs.patch", "Apply the extraction", append(from, done)...)
}

func (d *draft) rename() {
	d.need()
	name := d.in.Params["new_name"]
	switch {
	case name == "":
		d.lack("the words do not say the new name")
	case slices.Contains([]string{"to", "into", "as"}, d.in.Target):
		d.lack("the words do not name the thing to rename")
	case d.shape() == aPath:
		d.moved(name)
		return
	}
	from, _ := lastOf(symbolOf(d.in.Target))
	to, bare := lastOf(symbolOf(name))
	switch {
	case to != "" && to == from:
		name = bare // Run.Apply to Run.Fold
	case name != "" && !identifier.MatchString(name):
		d.lack("the new name is no name: %s", plan.OneLine(name, 60))
	case to != "":
		d.lack("the new name lies elsewhere than the old: %s", plan.OneLine(name, 60))
	}
	if s := d.shape(); s == someWords {
		d.lack("the thing to rename is no name: %s", d.about())
	}
	place := d.within()
	uses := d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": place}, "uses")
	title := "Work out the renaming"
	if name != "" {
		title += " to " + plan.OneLine(name, 60)
	}
	change := d.call("code.transform", title, map[string]any{
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
	if path.Ext(path.Base(from)) != "" && isFile(from) && !isFile(to) {
		d.lack("the new name of a file lacks an ending such as %s: %s", path.Ext(from), plan.OneLine(to, 60))
	}
	if isPattern(from) || strings.ContainsAny(to, " \t\n") {
		d.lack("one file can be moved to one path only")
	}
	d.tests(d.call("fs.move", "Move "+plan.OneLine(from, 60)+" to "+plan.OneLine(to, 60), map[string]any{"from": literally(from), "to": literally(pathOf(to))}, ""))
}

func (d *draft) refactor() {
	d.need()
	to := d.in.Params["to"]
	if d.shape() == aPath && to != "" && isPath(to) {
		if !isFile(to) {
			to = path.Join(to, path.Base(d.in.Target)) // into a folder
		}
		d.moved(to)
		return
	}
	var from []int
	if s := d.shape(); s == aName || s == aTest {
		from = []int{d.located(), d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": d.within()}, "uses")}
	} else {
		from = d.source()
	}
	title := "Refactor " + d.about()
	if to != "" {
		title += " to " + plan.OneLine(to, 60)
	}
	done := d.model(refactor, title, "the same behaviour in better code: each change with the exact text to replace", from...)
	d.written("fs.patch", "Apply the refactoring", append(from, done)...)
}

func (d *draft) create() {
	d.need()
	var from []int
	tool, title := "fs.write", "Write the new file"
	place := d.within()
	switch s := d.shape(); {
	case place != "" && isFile(place):
		from = d.file(place)
		tool, title = "fs.patch", "Apply the change"
	case s == aPath && slices.Contains(d.facts.Files, pathOf(d.in.Target)): // it is there already: nothing of it may go
		from = d.file(literally(pathOf(d.in.Target)))
		tool, title = "fs.patch", "Apply the change"
	case s == aPath:
		from = []int{d.call("fs.list", "Look at the folder", map[string]any{"path": literally(folderOf(d.in.Target))}, "files")}
	case s == aName:
		from = []int{d.call("code.symbols", "Look for existing code", map[string]any{"query": d.symbol(), "path": place}, "existing")}
	default:
		from = []int{d.call("fs.list", "List the files", map[string]any{"path": place, "depth": number(2)}, "files")}
	}
	done := d.model(create, "Create "+d.about(), "the new code and where it goes", from...)
	d.written(tool, title, append(from, done)...)
}

// addTests reads the source and its tests, and adds to them. An existing file of
// tests is patched; a new one is written only if there is none.
func (d *draft) addTests() {
	d.need()
	source, symbol := "", d.symbol()
	switch d.shape() {
	case aPath:
		source, symbol = pathOf(d.in.Target), ""
	case aName, aTest:
		_, last := lastOf(symbolOf(d.in.Target))
		if source = d.facts.Declared[last]; source == "" {
			source = d.facts.file(last)
		}
		if folder := nearest(d.facts.Folders, last); source == "" && folder != "" {
			source, symbol = folder, ""
		}
	}
	var from []int
	switch {
	case source != "":
		from = d.file(literally(source))
	case d.shape() == aName || d.shape() == aTest:
		from = []int{d.located()}
	default:
		from = d.source()
	}
	args := map[string]any{"path": d.within(), "query": symbol}
	if source != "" {
		args["path"] = literally(source)
	}
	if source == "" || isFile(source) { // of a folder the outline is there
		from = append(from, d.call("code.symbols", "List the symbols of "+d.about(), args, "symbols"))
	}
	tests, title := "", "Add the tests"
	if isFile(source) {
		tests = d.facts.tests(source)
	}
	tool, outcome := "fs.patch", "new tests, with the exact place in the file of tests where they go; every test that is there stays"
	switch {
	case tests != "":
		from = append(from, d.call("fs.read", "Read the tests in "+plan.OneLine(tests, 60), map[string]any{"path": literally(tests)}, "tests"))
		title = "Add the tests to " + plan.OneLine(tests, 60)
	case d.facts.Known && (isFile(source) || source == "" && d.shape() == aName): // an undeclared name has no tests
		tool, title, outcome = "fs.write", "Write the tests", "a whole new file of tests and its path"
		if name := testFileOf(source); name != "" {
			title = "Write the tests to " + plan.OneLine(name, 60)
			outcome = "a whole new file of tests, " + plan.OneLine(name, 60)
		}
	}
	done := d.model(addTests, "Write tests for "+d.about(), outcome, from...)
	d.written(tool, title, append(from, done)...)
}
