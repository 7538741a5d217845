package intent

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"

	"replan/internal/testfile"
	"replan/planning/plan"
)

func isUpper(r rune) bool { return unicode.IsUpper(r) }

// chains are the chains of the intents: their function, and their titles with a
// target and without one.
var chains = map[[2]string]struct {
	build        func(*draft)
	about, alone string
}{
	{navigate, find}:       {(*draft).find, "Find X", ""},
	{navigate, references}: {(*draft).references, "Find where X is used", ""},
	{navigate, definition}: {(*draft).definition, "Find where X is defined", ""},
	{navigate, symbols}:    {(*draft).symbols, "List the symbols of X", ""},
	{explain, explain}:     {(*draft).explain, "Explain X", ""},
	{modify, edit}:         {(*draft).edit, "Edit X", ""},
	{modify, fix}:          {(*draft).fix, "Fix X", ""},
	{modify, extract}:      {(*draft).extract, "Extract X", ""},
	{refactor, rename}:     {(*draft).rename, "Rename X", ""},
	{refactor, refactor}:   {(*draft).refactor, "Refactor X", ""},
	{validate, test}:       {(*draft).test, "Test X", "Run the tests"},
	{validate, lint}:       {(*draft).lint, "Lint X", "Run the linter"},
	{debug, debug}:         {(*draft).debug, "Find out why X fails", ""},
	{create, create}:       {(*draft).create, "Create X", ""},
	{create, addTests}:     {(*draft).addTests, "Add tests for X", ""},
	{vcs, status}:          {(*draft).status, "", "Show the status"},
	{vcs, diff}:            {(*draft).diff, "Show the changes of X", "Show the changes"},
	{vcs, history}:         {(*draft).history, "Show the history of X", "Show the history"},
	{vcs, commit}:          {(*draft).commit, "Commit X", "Commit the changes"},
	{vcs, branch}:          {(*draft).branch, "Switch to the branch X", "List the branches"},
	{vcs, push}:            {(*draft).push, "Push to X", "Push the commits"},
}

// maxDepth is how many levels of folders are looked through for a file.
const maxDepth = 20

func (d *draft) find() {
	if d.in.Params["of"] == "files" && d.in.Target == "" {
		d.call("fs.list", "List the files", map[string]any{"path": d.within()}, "")
		return
	}
	d.needTarget()
	switch d.shape() {
	case aPath: // the name of a file, and where it is mentioned
		d.search(false, "found")
		d.call("fs.list", "List the files", map[string]any{"path": d.within(), "depth": number(maxDepth)}, "")
	case aName, aTest:
		if d.policy.prefers("fs.search", "code.symbols") == "code.symbols" {
			d.call("code.symbols", "Find symbols like "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}, "")
			return
		}
		fallthrough
	default:
		d.search(false, "")
	}
}

func (d *draft) references() {
	d.lookUp("code.references", "Find the references to "+d.about())
}

func (d *draft) definition() {
	d.lookUp("code.definition", "Find where "+d.about()+" is defined")
}

// lookUp finds a name by an operator for code, and anything else by a search.
func (d *draft) lookUp(tool, title string) {
	d.needTarget()
	if s := d.shape(); s == aPath || s == someWords || d.policy.prefers(tool, "fs.search") == "fs.search" {
		d.search(true, "")
		return
	}
	d.call(tool, title, map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
}

func (d *draft) symbols() {
	d.needTarget()
	title, args := "List the symbols of "+d.about(), map[string]any{"query": d.symbol(), "path": d.within()}
	if d.shape() == aPath || isFolder(d.in.Target) { // "the types in planning": a package
		args = map[string]any{"path": literally(pathOf(d.in.Target))}
	}
	d.call("code.symbols", title, args, "")
}

func (d *draft) explain() {
	d.needTarget()
	switch s := d.shape(); {
	case s == aPath && !isFile(d.in.Target):
		d.file(literally(pathOf(d.in.Target)))
	case s == aPath:
		name := literally(pathOf(d.in.Target))
		read := d.call("fs.read", "Read "+d.about(), map[string]any{"path": name}, "source")
		d.call("code.summarize", "Summarize "+d.about(), map[string]any{"text": "${source}", "path": name}, "summary", read)
	case (s == aName || s == aTest) && d.policy.prefers("fs.search", "code.definition") == "code.definition":
		d.definition()
	default:
		found := d.search(true, "found")
		d.call("code.summarize", "Summarize the matches", map[string]any{"symbol": d.symbol(), "matches": "${found}"}, "summary", found)
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
		d.needTarget()
	}
	if replaces {
		change := d.call("code.transform", "Work out the replacement", map[string]any{
			"kind": "replace", "pattern": literally(d.in.Target), "path": d.within(),
		}, "change")
		d.nodes[change].Args["replacement"] = literally(with) // which may be empty
		d.applied(change)
		return
	}
	d.byModel("fs.patch", "", d.code())
}

// applied shows a change that an operator worked out, then makes it.
func (d *draft) applied(change int) {
	d.call("code.summarize", "Summarize the change", map[string]any{"diff": "${change.diff}"}, "summary", change)
	done := d.call("fs.patch", "Apply the change", map[string]any{"diff": "${change.diff}", "hashes": "${change.hashes}"}, "", change)
	d.tests(done)
}

// testOutcomes are the last words of targets whose faults the tests report.
var testOutcomes = strings.Fields("failing broken test tests build compile compilation ci errors failures")

func (d *draft) fix() {
	d.needTarget()
	words := strings.Fields(strings.ToLower(d.in.Target))
	var from []int
	switch s := d.shape(); {
	case s == aPath && isFile(d.in.Target):
		name := literally(pathOf(d.in.Target))
		from = append(d.file(name), d.call("code.parse", "Outline "+d.about(), map[string]any{"path": name}, "outline"))
	case s == aTest:
		from = []int{d.failing(d.symbol()), d.located()}
	case len(words) > 0 && slices.Contains(testOutcomes, words[0]) && slices.Contains(testOutcomes, words[len(words)-1]):
		from = []int{d.failing(""), d.call("vcs.diff", "Look at the changes", map[string]any{"of": "all"}, "changes")}
	default:
		from = d.code()
	}
	d.byModel("fs.patch", "", from)
}

// failing runs tests that are expected to fail, with their sources.
func (d *draft) failing(name string) int {
	return d.call(runTests, "Run the tests that fail", map[string]any{"run": name, "path": d.within(), "sources": true, "allow_failures": true}, "tests")
}

func (d *draft) extract() {
	d.needTarget()
	part := d.in.Target
	if place := d.in.Params["from"]; shapeOf(place) == aPath || shapeOf(place) == aName {
		d.in.Target = place // which holds the code
	}
	from := d.code()
	d.in.Target = part
	d.byModel("fs.patch", "", from)
}

func (d *draft) rename() {
	d.needTarget()
	name := d.in.Params["new_name"]
	switch {
	case name == "":
		d.addMissing("the words do not say the new name")
	case d.shape() == aPath:
		d.moved(name)
		return
	}
	from, _ := lastOf(symbolOf(d.in.Target))
	to, bare := lastOf(symbolOf(name))
	switch {
	case d.shape() == someWords:
		d.addMissing("the thing to rename is no name: %s", d.about())
	case to != "" && to == from:
		name = bare // Run.Apply to Run.Fold
	case name != "" && !identifier.MatchString(name):
		d.addMissing("%s is not a valid name", plan.OneLine(name, 60))
	case to != "":
		d.addMissing("the new name lies elsewhere than the old: %s", plan.OneLine(name, 60))
	}
	place := d.within()
	uses := d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": place}, "uses")
	change := d.call("code.transform", "Work out the renaming to "+plan.OneLine(name, 60), map[string]any{
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
	case from == "" || pathOf(to) == "" || isPattern(from) || strings.ContainsAny(to, " \t\n") || d.in.Params["in"] != "":
		d.addMissing("a file is moved by its path, and to one path only")
	}
	d.tests(d.call("fs.move", "Move "+plan.OneLine(from, 60)+" to "+plan.OneLine(to, 60), map[string]any{"from": literally(from), "to": literally(pathOf(to))}, ""))
}

func (d *draft) refactor() {
	d.needTarget()
	from := d.code()
	if s := d.shape(); s == aName || s == aTest {
		from = append(from, d.call("code.references", "Find the references to "+d.about(), map[string]any{"symbol": d.symbol(), "path": d.within()}, "uses"))
	}
	d.byModel("fs.patch", "", from)
}

// create shows a model the file that it adds to, or what is there already.
func (d *draft) create() {
	d.needTarget()
	place := d.within()
	if d.shape() == aPath && slices.Contains(d.facts.Files, pathOf(d.in.Target)) { // nothing of it may go
		place = literally(pathOf(d.in.Target))
	}
	switch {
	case isFile(place):
		d.byModel("fs.patch", "", d.file(place))
	case d.shape() == aName:
		d.byModel("fs.write", "", []int{d.call("code.symbols", "Look for existing code", map[string]any{"query": d.symbol(), "path": place}, "existing")})
	default:
		d.byModel("fs.write", "", []int{d.call("fs.list", "List the files", map[string]any{"path": place, "depth": number(2)}, "files")})
	}
}

// addTests reads the source and its tests, and adds to them. An existing file of
// tests is patched; a new one is written only if there is none.
func (d *draft) addTests() {
	d.needTarget()
	source, symbol := "", d.symbol()
	switch d.shape() {
	case aPath:
		source, symbol = pathOf(d.in.Target), ""
	case aName, aTest:
		_, last := lastOf(symbolOf(d.in.Target))
		source = cmp.Or(d.facts.Declared[last], d.facts.file(last))
		if folder := nearest(d.facts.Folders, last); source == "" && folder != "" {
			source, symbol = folder, ""
		}
	}
	args := map[string]any{"path": cmp.Or(literally(source), d.within()), "query": symbol}
	var from []int
	if source != "" {
		from = d.file(literally(source))
	} else {
		from = d.source()
	}
	if source == "" || isFile(source) { // of a folder the outline is there
		from = append(from, d.call("code.symbols", "List the symbols of "+d.about(), args, "symbols"))
	}
	tool, tests := "fs.patch", d.facts.tests(source)
	switch {
	case isFile(source) && tests != "":
		from = append(from, d.call("fs.read", "Read the tests in "+plan.OneLine(tests, 60), map[string]any{"path": literally(tests)}, "tests"))
	case d.facts.Known && (isFile(source) || source == "" && d.shape() == aName): // an undeclared name has no tests
		tool, tests = "fs.write", testfile.Of(source)
	}
	d.byModel(tool, tests, from)
}
