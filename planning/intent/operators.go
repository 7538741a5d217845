package intent

import (
	"strings"
	"time"

	"replan/planning/plan"
)

// operator describes one of the workspace's operators for the router.
type operator struct {
	asks    bool          // it has effects, and asks before it runs
	changes bool          // it changes files, which tests can speak for or against
	limit   time.Duration // it may take longer than steps do that say nothing of it; 0 means no longer
}

// slow is how long programs of the project may take.
const slow = 15 * time.Minute

// operators are those that chains are made of, by name.
var operators = map[string]operator{
	"fs.read": {}, "fs.list": {}, "fs.stat": {}, "fs.search": {},
	"fs.write":  {asks: true, changes: true},
	"fs.patch":  {asks: true, changes: true},
	"fs.move":   {asks: true, changes: true},
	"fs.mkdir":  {asks: true},
	"fs.remove": {asks: true, changes: true},

	"code.symbols": {}, "code.definition": {}, "code.references": {}, "code.parse": {}, "code.summarize": {},
	"code.transform": {}, // it works out a change, and makes none

	"test.detect": {},
	"test.run":    {limit: slow}, // the user's own words ask for it
	"test.lint":   {limit: slow},

	"vcs.status": {}, "vcs.diff": {}, "vcs.log": {}, "vcs.show": {}, "vcs.branches": {},
	"vcs.branch": {asks: true},
	"vcs.commit": {asks: true},
	"vcs.push":   {asks: true},

	"proc.run": {asks: true, limit: slow},
}

// checks are what shows that a node has done its work. None of them can refute right
// work: names are matched by words, so a check looks only at what the node changed.
func (c Chain) checks(n Node) []plan.Check {
	switch {
	case n.Executor != plan.ExecutorTool:
		return nil
	case n.Tool == runTests && n.Args["allow_failures"] != true:
		return []plan.Check{{Title: "no test fails", Expect: "result.passed and len(result.failed) == 0"}}
	case n.Tool == "vcs.branch":
		return []plan.Check{{Title: "the branch is checked out", Tool: "vcs.branches", Args: map[string]any{}, Expect: "result.current == args.name"}}
	case n.Tool == "vcs.commit" && n.ResultVariable != "":
		return []plan.Check{{
			Title: "what was committed is in the history", Tool: "vcs.log", Args: map[string]any{"max": number(maxCommits), "allow_none": true},
			Expect: strings.ReplaceAll(`X.hash == "" or any(result.commits, .hash == X.hash)`, "X", n.ResultVariable),
		}}
	case n.Tool == "fs.patch":
		return c.patchChecks(n)
	default:
		return nil
	}
}

// patchChecks are the checks of a node that applies a change worked out by another.
func (c Chain) patchChecks(n Node) []plan.Check {
	for _, node := range c.Nodes {
		change := node.ResultVariable
		switch {
		case node.Tool != "code.transform" || change == "" || n.Args["diff"] != "${"+change+".diff}":
		case node.Args["kind"] == "rename" && c.renamedSymbol(node) == nil:
			return nil
		case node.Args["kind"] == "rename":
			args := map[string]any{"symbol": c.renamedSymbol(node), "allow_none": true}
			if at := node.Args["path"]; at != nil {
				args["path"] = at
			}
			return []plan.Check{{
				Title: "no changed file defines the old name", Tool: "code.definition", Args: args,
				Expect: strings.ReplaceAll("none(result.definitions, .path in map(X.files, .path))", "X", change),
			}}
		default:
			return []plan.Check{{
				Title: "the first file of the change differs from before", Tool: "fs.stat", Args: map[string]any{"path": "${" + change + ".files[0].path}"},
				Expect: strings.ReplaceAll("result.sha256 != X.hashes[result.path]", "X", change),
			}}
		}
	}
	return nil
}

// renamedSymbol is the old name of a rename as the words give it, so that the check
// waits for no further result.
func (c Chain) renamedSymbol(rename Node) any {
	for _, uses := range c.Nodes {
		if uses.Tool == "code.references" && rename.Args["symbol"] == "${"+uses.ResultVariable+".symbol}" {
			return uses.Args["symbol"]
		}
	}
	return rename.Args["symbol"]
}
