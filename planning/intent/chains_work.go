package intent

import (
	"slices"
	"strings"
)

// The chains that run tests and linters, and those of version control.

// test runs the tests that the words name: one by its name, those of a folder
// and below it, those with a name in theirs. It never runs all where they name
// anything.
func (d *draft) test() {
	args := map[string]any{"path": d.testsIn()}
	switch s := d.shape(); {
	case s == aPath, isFolder(d.in.Target):
		args["path"] = testsBelow(d.in.Target)
	case s == aTest, s == aName && !strings.ContainsAny(symbolOf(d.in.Target), ".#:"):
		args["run"] = d.symbol()
	case s != nothing:
		d.addMissing("test what? %q is neither a folder nor a test", d.about())
	}
	d.call(runTests, "Run the tests", args, "tests")
}

// testsIn is the place that the words name, as test.run takes it.
func (d *draft) testsIn() string {
	return testsBelow(d.in.Params["in"])
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

func (d *draft) lint() {
	place := d.within()
	switch d.shape() {
	case nothing:
	case aPath:
		place = literally(folderOf(d.in.Target))
	default:
		d.addMissing("lint what? %q is no path", d.about())
	}
	d.call("test.lint", "Run the linter", map[string]any{"path": place}, "findings")
}

// maxCommits is how much of the history an explanation looks at.
const maxCommits = 10

// mostTests is how many tests with a name are run by theirs.
const mostTests = 8

// debug runs the tests most likely to show the fault, and looks at the last
// commits.
func (d *draft) debug() {
	run := map[string]any{"path": d.testsIn(), "allow_failures": true}
	place := literally(pathOf(d.in.Params["in"]))
	switch folder := nearest(d.facts.Folders, d.in.Target); {
	case d.shape() == nothing, reportedByTests(d.in.Target):
	case d.shape() == aPath:
		run["path"], place = testsBelow(d.in.Target), d.path()
	case folder != "":
		run["path"], place = testsBelow(folder), literally(folder)
	case d.shape() == someWords, d.facts.Known && len(d.facts.Tests) == 0 && d.shape() != aTest:
		d.addMissing("there is no test and no package %s", d.about())
	default:
		run["run"] = d.symbol()
		if tests := d.facts.Tests; len(tests) > 0 && len(tests) <= mostTests && d.shape() != aTest {
			run["run"] = strings.Join(tests, "|")
		}
	}
	tests := d.call(runTests, "Run the tests", run, "tests")
	log := d.call("vcs.log", "Look at the last commits", map[string]any{"path": place, "max": number(maxCommits), "allow_none": true}, "log")
	d.call("code.summarize", "Summarize the failures", map[string]any{"tests": "${tests}", "log": "${log}"}, "summary", tests, log)
}

func (d *draft) status() { d.call("vcs.status", "Show the status", nil, "") }

func (d *draft) diff() {
	args := map[string]any{"of": "all", "path": d.within()}
	switch target := d.in.Target; {
	case d.shape() == aPath:
		args["path"] = d.path()
	case strings.ContainsAny(target, " \t\n"):
		d.addMissing("the changes of what? %q is neither a path nor a revision", d.about())
	default:
		args["ref"] = literally(target)
	}
	d.call("vcs.diff", "Show the changes", args, "")
}

func (d *draft) history() {
	args := map[string]any{"path": d.within()}
	switch {
	case d.shape() == aPath, isFolder(d.in.Target):
		args["path"] = d.path()
	case d.shape() != nothing:
		d.addMissing("the history of what? %q is no file", d.about())
	}
	d.call("vcs.log", "Show the history", args, "")
}

// commit shows the changes before it asks.
func (d *draft) commit() {
	if d.facts.Clean {
		d.call("vcs.status", "Check for changes to commit", nil, "")
		return
	}
	diff, made := map[string]any{"of": "commit"}, map[string]any{"message": "${summary.title}"}
	if message := d.in.Params["message"]; message != "" {
		made["message"] = literally(message)
	}
	switch name := d.path(); {
	case d.shape() == aPath && name != "":
		diff["path"], made["paths"] = name, []any{name}
	case d.shape() != nothing:
		d.addMissing("commit what? %q is no path", d.about())
	}
	shown := d.call("vcs.diff", "Look at the changes to commit", diff, "changes")
	summary := d.call("code.summarize", "Summarize the changes", map[string]any{"diff": "${changes.diff}"}, "summary", shown)
	d.call("vcs.commit", "Commit the changes", made, "", summary)
}

func (d *draft) branch() {
	name := d.in.Target
	creates := d.in.Params["create"] != ""
	switch {
	case name == "" && creates:
		d.addMissing("what is the branch called? Name it: create branch fix-login")
	case strings.ContainsAny(name, " \t\n"):
		d.addMissing("the name of a branch is one word: %s", d.about())
	}
	args, title := map[string]any{"name": literally(name)}, "Switch to the branch "+d.about()
	switch {
	case name == "":
		d.call("vcs.branches", "List the branches", nil, "")
		return
	case creates:
		args["create"], title = true, "Create the branch "+d.about()
	}
	d.call("vcs.branch", title, args, "")
}

func (d *draft) push() {
	args, title := map[string]any{"remote": literally(d.in.Target)}, "Push the commits"
	if d.in.Target != "" && !slices.Contains(remotes, d.in.Target) {
		d.addMissing("push where? %q is no remote: push to origin", d.about())
	}
	if d.facts.NoRemote {
		d.addMissing("the repository has no remote to push to (add one with git remote add)")
	}
	seen := d.call("vcs.status", "Check for commits to push", nil, "")
	if d.facts.NoUpstream {
		args["set_upstream"], title = true, "Push the commits, and follow the branch of the remote from then on"
	}
	d.call("vcs.push", title, args, "", seen)
}
