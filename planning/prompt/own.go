package prompt

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"replan/planning/plan"
	"replan/planning/retrieval"
)

// ownTool is how the list of tools shows one use of a built-in operator.
type ownTool struct {
	name string
	args string // those that a plan needs; a question mark marks one that may be left out
	does string
}

// ownTools are the built-in operators, in the order of the list. Each has its arguments and
// a few plain words. One with several uses has a line for each.
var ownTools = []ownTool{
	{"fs.list", "path?", "list the files of a folder"},
	{"fs.read", "path, offset?, limit?", "read a text file"},
	{"fs.search", "query, path?, glob?, regex?, ignore_case?", "find the lines that contain a text, in all files"},
	{"fs.stat", "path", "show the size and the date of a file"},
	{"fs.write", "path, text", "create a file, or replace it"},
	{"fs.patch", "path, old, new", "replace a text in a file"},
	{"data.set", "path, key, value", "set a value in a JSON, TOML, YAML or .env file, or a constant in code"},
	{"fs.move", "from, to", "move or rename a file"},
	{"fs.remove", "path", "delete a file"},
	{"fs.mkdir", "path", "create a folder"},
	{"code.symbols", "path?, query?", "list the functions, types and constants of files"},
	{"code.definition", "symbol", "find where a name is declared"},
	{"code.references", "symbol", "find all uses of a function, type or variable"},
	{"code.parse", "path", "show the outline of a source file"},
	{"code.summarize", "path?, symbol?", "summarize a file or a declaration"},
	{"code.transform", `kind: "rename", symbol, new_name`, "rename a function, type or variable everywhere"},
	{"code.transform", `kind: "replace", pattern, replacement, glob?, regex?`, "replace a text in many files"},
	{"code.remove", "symbol, path?", "delete a function, type or constant"},
	{"code.comment", "symbol, text, path?", "write the doc comment of a function or type"},
	{"code.insert", "text, path?, symbol?, where?", "insert text before or after a declaration, or at the end of a file"},
	{"test.run", "path?, run?", "run the tests"},
	{"test.lint", "path?", "run the linter"},
	{"test.detect", "path?", "find the projects whose tests can be run"},
	{"vcs.status", "", "list changed files"},
	{"vcs.diff", "ref?", "show changes that are not committed"},
	{"vcs.show", "ref?", "show a commit: its message and its changes"},
	{"vcs.log", "max?, path?", "list the last commits with their messages"},
	{"vcs.branches", "", "list the branches"},
	{"vcs.branch", "name", "create a branch, or switch to one"},
	{"vcs.commit", "message", "commit all changes"},
	{"vcs.push", "remote?, branch?", "push a branch"},
	{"proc.run", "argv", "run a program, as a list of words"},
	{"memory.read", "query?", "look up what the user likes"},
	{"memory.write", "text", "keep what the user says about themselves"},
}

// rarely are operators that small models are not offered: each word costs them time, and
// others do the same.
var rarely = strings.Fields("fs.stat fs.mkdir code.parse code.summarize test.detect vcs.branches vcs.push memory.read memory.write data.set code.transform code.remove code.comment code.insert")

// writtenLater are arguments of changes that a small model writes when the step is ready:
// in a plan it writes them from memory.
var writtenLater = strings.Fields("text old new")

// isOwn reports whether a tool is in the list of built-in operators. One that takes other
// arguments than the list says is shown like a tool of another server.
func isOwn(t plan.Tool) bool {
	return t.Trusted && slices.ContainsFunc(ownTools, func(o ownTool) bool { return o.name == t.Name && o.takenBy(t) })
}

// ownList lists the built-in operators of a brief, a line for each use. It depends on no
// goal, so that it is the same in all requests of a session.
func ownList(b Brief) string {
	var list strings.Builder
	for _, o := range ownTools {
		tool, err := b.Catalog.Find(o.name)
		if err != nil || !isOwn(tool) || b.Prompting.Small && slices.Contains(rarely, o.name) || !o.takenBy(tool) {
			continue
		}
		list.WriteString(o.name + "(" + o.args + ") - " + o.does + "\n")
	}
	return strings.TrimSuffix(list.String(), "\n")
}

// takenBy reports whether the tool takes the arguments of the line.
func (o ownTool) takenBy(t plan.Tool) bool {
	for _, name := range o.arguments() {
		if !strings.Contains(string(t.InputSchema), `"`+name+`"`) {
			return false
		}
	}
	return true
}

// arguments are the names of the arguments in a line.
func (o ownTool) arguments() []string {
	var names []string
	for part := range strings.SplitSeq(o.args, ", ") {
		name, _, _ := strings.Cut(part, ":")
		if name = strings.TrimSuffix(name, "?"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// ownArguments are the arguments of an operator that the list names.
func ownArguments(name string) []string {
	var names []string
	for _, o := range ownTools {
		if o.name == name {
			names = append(names, o.arguments()...)
		}
	}
	return names
}

// foreign are the tools of other servers among ranked ones.
func foreign(matches []retrieval.Match) []retrieval.Match {
	return slices.DeleteFunc(slices.Clone(matches), func(m retrieval.Match) bool { return isOwn(m.Tool) })
}

// exampleNames are names that only the examples of the prompt hold. A plan that has one is
// about the example.
var exampleNames = []string{"ParseDate", "docs/setup.md", "log.?level"}

// Copied returns the faults of a plan that copies an example of the prompt. Such a plan
// has a name of the example that neither the goal nor what is known of the project holds.
func Copied(b Brief, p plan.Plan) []plan.Fault {
	known := b.Goal + "\n" + ground(b) + "\n" + b.Prompting.Instructions
	for _, item := range b.Looked {
		known += "\n" + Text(item.Result)
	}
	var faults []plan.Fault
	for i, s := range p.Steps {
		args := plan.CanonicalJSON(s.Args)
		for _, name := range exampleNames {
			if strings.Contains(args, name) && !strings.Contains(known, name) {
				faults = append(faults, plan.Fault{
					Code: plan.CodeBadArgs, Path: plan.JSONPointer("/steps", strconv.Itoa(i), "args"), Step: s.Index,
					Message: fmt.Sprintf("step %s is about %s, which is from an example and not from this project", plan.OneLine(s.Index, 40), name),
				})
			}
		}
	}
	return faults
}
