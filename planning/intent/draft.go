package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"replan/planning/plan"
)

// draft is a chain under construction.
type draft struct {
	in      Intent
	policy  Policy
	facts   Facts
	nodes   []Node
	missing []string
	invalid bool
	placed  bool // the chain keeps to the place named by the words
}

// add puts a node at the end and returns its position.
func (d *draft) add(n Node) int {
	n.DependsOn = slices.Sorted(slices.Values(n.DependsOn))
	n.DependsOn = slices.Compact(n.DependsOn)
	d.nodes = append(d.nodes, n)
	return len(d.nodes) - 1
}

// call adds a call of an operator. Its result goes into a variable where one is
// named. Args that are empty texts are left out.
func (d *draft) call(tool, title string, args map[string]any, result string, after ...int) int {
	given := make(map[string]any, len(args))
	for name, v := range args {
		if v != "" {
			given[name] = v
		}
	}
	return d.add(Node{Title: title, Executor: plan.ExecutorTool, Tool: tool, Args: given, DependsOn: after, ResultVariable: result})
}

// works are a model's work in chains, by the word used in place of a tool: the title,
// and what it hands on.
var works = map[string]struct{ title, outcome string }{
	edit:     {"Edit", "the change, file by file, with the exact text to replace"},
	fix:      {"Fix", "the cause, and a fix with the exact text to replace"},
	extract:  {"Extract", "the new code, and the change to the old with the exact text to replace"},
	refactor: {"Refactor", "the same behaviour in better code: each change with the exact text to replace"},
	create:   {"Create", "the new code and where it goes"},
	addTests: {"Write tests for", "new tests, with the exact place in the file of tests where they go, or a whole new file and its path; every test that is there stays"},
}

// byModel adds a model's work on the results of steps, the step that puts it into
// files, and the tests. The model fills in the args of that step; to names the
// file, if it is known.
func (d *draft) byModel(tool, to string, from []int) {
	w, apply := works[d.in.Action], "Apply the change"
	if tool == "fs.write" {
		apply = "Write the new file"
	}
	apply += prefixed(" to ", plan.OneLine(to, 60))
	done := d.add(Node{Title: w.title + " " + d.about(), Executor: plan.ExecutorSelf, Tool: d.in.Action, DependsOn: from, ExpectedOutcome: w.outcome})
	d.tests(d.add(Node{Title: apply, Executor: plan.ExecutorTool, Tool: tool, DependsOn: append(slices.Clone(from), done)}))
}

// tests adds the run of all tests.
func (d *draft) tests(after ...int) { d.add(changedNode(after...)) }

// addMissing adds an open question of the words.
func (d *draft) addMissing(format string, args ...any) {
	d.missing = append(d.missing, fmt.Sprintf(format, args...))
}

// addInvalid adds a fault of the words that no model could follow.
func (d *draft) addInvalid(format string, args ...any) {
	d.addMissing(format, args...)
	d.invalid = true
}

func (d *draft) shape() shape { return shapeOf(d.in.Target) }

// about is the target on one line.
func (d *draft) about() string { return said(d.in.Target) }

// said is what the words name, in a title.
func said(text string) string { return cmp.Or(plan.OneLine(text, 60), "what was meant") }

// path is the target as a path.
func (d *draft) path() string { return literally(pathOf(d.in.Target)) }

// symbol is the target as the code operators take it.
func (d *draft) symbol() string { return literally(symbolOf(d.in.Target)) }

// place is the place named by the words, as a path.
func (d *draft) place() string {
	d.placed = true
	return pathOf(d.in.Params["in"])
}

// within is the place as an argument.
func (d *draft) within() string { return literally(d.place()) }

// search adds a search for the target: a name as a whole word, several words in
// any order, a quoted text as it stands. Without a capital letter the search
// ignores case.
func (d *draft) search(whole bool, result string) int {
	args := map[string]any{"query": literally(d.in.Target), "path": d.within()}
	name := symbolOf(d.in.Target)
	words := strings.Join(significant(d.in.Target), " ")
	several := strings.ContainsAny(d.in.Target, " \t") && !strings.ContainsAny(d.in.Target, "(){}[]<>=\"`/\\;:*&|$#@+%^~") // no code
	switch {
	case d.in.Params["exact"] == "" && several && words != "":
		args["query"], args["words"] = literally(words), true
	case whole && identifier.MatchString(name):
		args["query"], args["regex"] = literally(wholeWord(name)), true
	case !strings.ContainsFunc(d.in.Target, unicode.IsUpper):
		args["ignore_case"] = true
	}
	return d.call("fs.search", "Search for "+d.about(), args, result)
}

// code adds the steps that show a model the place that the words name, or the
// code of the target, and returns their positions.
func (d *draft) code() []int {
	if place := d.within(); place != "" && isFile(place) {
		return []int{d.file(place)}
	}
	switch s := d.shape(); {
	case s == aPath:
		return []int{d.file(d.path())}
	case d.in.Action == fix && reportedByTests(d.in.Target):
		return []int{d.call("vcs.diff", "Look at the changes", map[string]any{"of": "all"}, "changes")}
	case s == someWords:
		return []int{d.search(false, "found")}
	case s == nothing:
		return nil
	}
	at := d.call("code.definition", "Find where "+d.about()+" is defined", map[string]any{"symbol": d.symbol(), "path": d.within()}, "defined")
	return []int{d.call("fs.read", "Read the file that defines "+d.about(), map[string]any{"path": "${defined.definitions[0].path}"}, "source", at)}
}

// file adds a step that shows a file, or the outline of a folder.
func (d *draft) file(name string) int {
	if isFile(name) {
		return d.call("fs.read", "Read "+plan.OneLine(name, 60), map[string]any{"path": name}, "source")
	}
	return d.call("code.symbols", "List the symbols of "+said(name), map[string]any{"path": name}, "outline")
}
