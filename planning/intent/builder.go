package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"replan/planning/plan"
)

// builder builds a chain.
type builder struct {
	in      Intent
	policy  Policy
	facts   Facts
	nodes   []Node
	missing []string
	invalid bool
	placed  bool // the chain keeps to the place named by the words
}

// add puts a node at the end and returns its position.
func (b *builder) add(n Node) int {
	n.DependsOn = slices.Sorted(slices.Values(n.DependsOn))
	n.DependsOn = slices.Compact(n.DependsOn)
	b.nodes = append(b.nodes, n)
	return len(b.nodes) - 1
}

// call adds a call of an operator. Its result goes into a variable where one is
// named. Args that are empty texts are left out.
func (b *builder) call(tool, title string, args map[string]any, result string, after ...int) int {
	given := make(map[string]any, len(args))
	for name, v := range args {
		if v != "" {
			given[name] = v
		}
	}
	return b.add(Node{Title: title, Executor: plan.ExecutorTool, Tool: tool, Args: given, DependsOn: after, ResultVariable: result})
}

// works are a model's work in chains, by the word used in place of a tool: the title,
// and what it hands on.
var works = map[string]struct{ title, outcome string }{
	edit:     {"Edit", "the change, file by file, with the exact text to replace"},
	fix:      {"Fix", "the cause, and a fix with the exact text to replace"},
	extract:  {"Extract", "the new code, and the change to the old with the exact text to replace"},
	refactor: {"Refactor", "the same behavior in better code: each change with the exact text to replace"},
	create:   {"Create", "the new code and where it goes"},
	addTests: {"Write tests for", "new tests, with the exact place in the file of tests where they go, or a whole new file and its path; every test that is there stays"},
}

// byModel adds a model's work on the results of steps, the step that puts it into
// files, and the tests. The model fills in the args of that step; to names the
// file, if it is known.
func (b *builder) byModel(tool, to string, from []int) {
	w, apply := works[b.in.Action], "Apply the change"
	if tool == "fs.write" {
		apply = "Write the new file"
	}
	apply += prefixed(" to ", plan.OneLine(to, 60))
	done := b.add(Node{Title: w.title + " " + b.about(), Executor: plan.ExecutorSelf, Tool: b.in.Action, DependsOn: from, ExpectedOutcome: w.outcome})
	b.tests(b.add(Node{Title: apply, Executor: plan.ExecutorTool, Tool: tool, DependsOn: append(slices.Clone(from), done)}))
}

// tests adds the run of all tests.
func (b *builder) tests(after ...int) { b.add(changedNode(after...)) }

// addMissing adds an open question of the words.
func (b *builder) addMissing(format string, args ...any) {
	b.missing = append(b.missing, fmt.Sprintf(format, args...))
}

// addInvalid adds a fault of the words that no model could follow.
func (b *builder) addInvalid(format string, args ...any) {
	b.addMissing(format, args...)
	b.invalid = true
}

func (b *builder) shape() shape {
	if strings.Contains(b.in.Target, " ") && b.facts.has(pathOf(b.in.Target)) {
		return aPath
	}
	return shapeOf(b.in.Target)
}

// about is the target on one line.
func (b *builder) about() string { return inTitle(b.in.Target) }

// inTitle is what the words name, in a title.
func inTitle(text string) string { return cmp.Or(plan.OneLine(text, 60), "what was meant") }

// path is the target as a path.
func (b *builder) path() string { return literally(pathOf(b.in.Target)) }

// symbol is the target as the code operators take it.
func (b *builder) symbol() string { return literally(symbolOf(b.in.Target)) }

// place is the place named by the words, as a path.
func (b *builder) place() string {
	b.placed = true
	return pathOf(b.in.Params["in"])
}

// within is the place as an argument.
func (b *builder) within() string { return literally(b.place()) }

// search adds a search for the target: a name as a whole word, several words in
// any order, a quoted text as it stands. Without a capital letter the search
// ignores case.
func (b *builder) search(whole bool, result string) int {
	args := map[string]any{"query": literally(b.in.Target), "path": b.within()}
	name := symbolOf(b.in.Target)
	words := strings.Join(significant(b.in.Target), " ")
	several := strings.ContainsAny(b.in.Target, " \t") && !strings.ContainsAny(b.in.Target, "(){}[]<>=\"`/\\;:*&|$#@+%^~") // no code
	switch {
	case b.in.Params["exact"] == "" && several && words != "":
		args["query"], args["words"] = literally(words), true
	case whole && identifier.MatchString(name):
		args["query"], args["regex"] = literally(wholeWord(name)), true
	case !strings.ContainsFunc(b.in.Target, unicode.IsUpper):
		args["ignore_case"] = true
	}
	return b.call("fs.search", "Search for "+b.about(), args, result)
}

// code adds the steps that show a model the place that the words name, or the
// code of the target, and returns their positions.
func (b *builder) code() []int {
	if place := b.within(); place != "" && isFile(place) {
		return []int{b.file(place)}
	}
	switch s := b.shape(); {
	case s == aPath:
		return []int{b.file(b.path())}
	case b.in.Action == fix && reportedByTests(b.in.Target):
		return []int{b.call("vcs.diff", "Look at the changes", map[string]any{"of": "all"}, "changes")}
	case s == someWords:
		return []int{b.search(false, "found")}
	case s == nothing:
		return nil
	}
	at := b.call("code.definition", "Find where "+b.about()+" is defined", map[string]any{"symbol": b.symbol(), "path": b.within()}, "defined")
	return []int{b.call("fs.read", "Read the file that defines "+b.about(), map[string]any{"path": "${defined.definitions[0].path}"}, "source", at)}
}

// file adds a step that shows a file, or the outline of a folder.
func (b *builder) file(name string) int {
	if isFile(name) {
		return b.call("fs.read", "Read "+plan.OneLine(name, 60), map[string]any{"path": name}, "source")
	}
	return b.call("code.symbols", "List the symbols of "+inTitle(name), map[string]any{"path": name}, "outline")
}
