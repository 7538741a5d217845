package intent

import (
	"slices"
	"strings"
)

// The chains that run tests and linters, and those of version control.

// where is the file or folder that the target names; without a target, the place.
func (d *draft) where() string {
	at, s := d.facts.place(d.in.Target), d.shape()
	switch {
	case s == nothing:
		return d.place()
	case s == aPath, isFolder(d.in.Target) && !d.facts.Known:
		return pathOf(d.in.Target)
	case at != "":
		return at
	default:
		d.addMissing("name a file or a folder: %q is neither", d.about())
		return ""
	}
}

// testsBelow is a path as test.run takes it: a folder with all below it, of a
// file its folder alone.
func testsBelow(text string) string {
	folder := folderOf(text)
	if folder == "" || isFile(text) || isPattern(text) {
		return literally(folder)
	}
	return literally(folder + "/...")
}

// test runs the tests that the words name: one by its name, those of a folder
// and below it, those with a name in theirs. It never runs all where they name
// anything.
func (d *draft) test() {
	args := map[string]any{}
	if s := d.shape(); s == aTest || s == aName && !isFolder(d.in.Target) && !strings.ContainsAny(symbolOf(d.in.Target), ".#:") {
		args["path"], args["run"] = testsBelow(d.place()), d.symbol()
	} else {
		args["path"] = testsBelow(d.where())
	}
	d.call(runTests, "Run the tests", args, "tests")
}

func (d *draft) lint() {
	d.call("test.lint", "Run the linter", map[string]any{"path": literally(folderOf(d.where()))}, "findings")
}

// maxCommits is how much of the history an explanation looks at.
const maxCommits = 10

// mostTests is how many tests with a name are run by theirs.
const mostTests = 8

// debug runs the tests most likely to show the fault, and looks at the last
// commits.
func (d *draft) debug() {
	place, run := "", ""
	switch folder := nearest(d.facts.Folders, d.in.Target); {
	case d.shape() == nothing, reportedByTests(d.in.Target):
		place = d.place()
	case d.shape() == aPath:
		place = pathOf(d.in.Target)
	case folder != "":
		place = folder
	case d.shape() == someWords, d.facts.Known && len(d.facts.Tests) == 0 && d.shape() != aTest:
		d.addMissing("there is no test and no package %s", d.about())
	default:
		place, run = d.place(), d.symbol()
		if tests := d.facts.Tests; len(tests) > 0 && len(tests) <= mostTests && d.shape() != aTest {
			run = strings.Join(tests, "|")
		}
	}
	tests := d.call(runTests, "Run the tests", map[string]any{"path": testsBelow(place), "run": run, "allow_failures": true}, "tests")
	log := d.call("vcs.log", "Look at the last commits", map[string]any{"path": literally(pathOf(place)), "max": number(maxCommits), "allow_none": true}, "log")
	d.call("code.summarize", "Summarize the failures", map[string]any{"tests": "${tests}", "log": "${log}"}, "summary", tests, log)
}

func (d *draft) status() { d.call("vcs.status", "Show the status", nil, "") }

// diff shows what is not committed, or the changes of one commit.
func (d *draft) diff() {
	if commit := d.in.Params["commit"]; commit != "" {
		d.call("vcs.show", "Show the commit "+said(commit), map[string]any{"ref": literally(commit)}, "")
		return
	}
	args := map[string]any{"of": "all"}
	switch target := d.in.Target; {
	case d.shape() == aPath:
		args["path"] = d.path()
	case strings.ContainsAny(target, " \t\n"):
		d.addMissing("%q is neither a path nor a revision", d.about())
	default:
		args["ref"], args["path"] = literally(target), d.within()
	}
	d.call("vcs.diff", "Show the changes", args, "")
}

func (d *draft) history() {
	d.call("vcs.log", "Show the history", map[string]any{"path": literally(d.where())}, "")
}

// commit shows the changes before it asks.
func (d *draft) commit() {
	if d.facts.Clean {
		d.call("vcs.status", "Check for changes to commit", nil, "")
		return
	}
	name := literally(d.where())
	made := map[string]any{"message": "${summary.title}"}
	if message := d.in.Params["message"]; message != "" {
		made["message"] = literally(message)
	}
	if name != "" {
		made["paths"] = []any{name}
	}
	shown := d.call("vcs.diff", "Look at the changes to commit", map[string]any{"of": "commit", "path": name}, "changes")
	summary := d.call("code.summarize", "Summarize the changes", map[string]any{"diff": "${changes.diff}"}, "summary", shown)
	d.call("vcs.commit", "Commit the changes", made, "committed", summary)
}

func (d *draft) branch() {
	args, title := map[string]any{"name": literally(d.in.Target)}, "Switch to the branch "+d.about()
	if d.in.Params["create"] != "" {
		args["create"], title = true, "Create the branch "+d.about()
	}
	switch {
	case strings.ContainsAny(d.in.Target, " \t\n"):
		d.addInvalid("the name of a branch is one word: %s", d.about())
	case d.in.Target == "" && args["create"] != nil:
		d.addMissing("what is the branch called? Name it: create branch fix-login")
	case d.in.Target == "":
		d.call("vcs.branches", "List the branches", nil, "")
		return
	}
	d.call("vcs.branch", title, args, "")
}

func (d *draft) push() {
	args, title := map[string]any{"remote": literally(d.in.Target)}, "Push the commits"
	if d.facts.NoUpstream {
		args["set_upstream"], title = true, "Push the commits, and follow the branch of the remote from then on"
	}
	if d.in.Target != "" && !slices.Contains(remotes, d.in.Target) {
		d.addInvalid("push where? %q is no remote: push to origin", d.about())
	}
	if d.facts.NoRemote {
		d.addInvalid("the repository has no remote to push to (add one with git remote add)")
	}
	d.call("vcs.push", title, args, "", d.call("vcs.status", "Check for commits to push", nil, ""))
}
