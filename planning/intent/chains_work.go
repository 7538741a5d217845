package intent

import (
	"cmp"
	"slices"
	"strconv"
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
		d.addMissing("the words name neither a folder nor a test: %s", d.about())
	}
	d.call(runTests, "Run the tests", args, "tests")
}

// testsIn is the place that the words name, as test.run takes it.
func (d *draft) testsIn() string {
	if d.within() == "" {
		return ""
	}
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
	if d.shape() == aPath {
		place = literally(folderOf(d.in.Target))
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
	d.needTarget()
	run := map[string]any{"path": d.testsIn(), "allow_failures": true}
	place := literally(pathOf(d.in.Params["in"]))
	words := strings.Fields(strings.ToLower(d.in.Target))
	outcome := len(words) > 0 && slices.Contains(testOutcomes, words[len(words)-1])
	switch folder := nearest(d.facts.Folders, d.in.Target); {
	case d.shape() == nothing, outcome:
	case d.shape() == aPath:
		run["path"], place = testsBelow(d.in.Target), literally(pathOf(d.in.Target))
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
	args := map[string]any{"of": cmp.Or(literally(d.in.Params["of"]), "all"), "path": d.within()}
	switch target := d.in.Target; {
	case d.shape() == aPath:
		args["path"] = literally(pathOf(target))
	case strings.ContainsAny(target, " \t\n"):
		d.addMissing("the words name neither a path nor a revision: %s", d.about())
	default:
		args["ref"] = literally(target)
	}
	d.call("vcs.diff", "Show the changes", args, "")
}

func (d *draft) history() {
	args := map[string]any{"path": d.within()}
	if n, err := strconv.Atoi(d.in.Params["max"]); err == nil && n > 0 {
		args["max"] = number(n)
	}
	switch {
	case d.shape() == aPath, isFolder(d.in.Target):
		args["path"] = literally(pathOf(d.in.Target))
	case d.shape() != nothing:
		d.addMissing("the words name no file: %s", d.about())
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
	switch name := literally(pathOf(d.in.Target)); {
	case d.shape() == aPath && name != "":
		diff["path"], made["paths"] = name, []any{name}
	case d.shape() != nothing:
		d.addMissing("this is no path to commit: %s", d.about())
	}
	shown := d.call("vcs.diff", "Look at the changes to commit", diff, "changes")
	summary := d.call("code.summarize", "Summarize the changes", map[string]any{"diff": "${changes.diff}"}, "summary", shown)
	d.call("vcs.commit", "Commit the changes", made, "", summary)
}

func (d *draft) branch() {
	name := d.in.Target
	creates := d.in.Params["create"] == "true"
	if name == "" {
		if creates {
			d.addMissing("the words do not say what to call the branch")
		}
		d.call("vcs.branches", "List the branches", nil, "")
		return
	}
	if strings.ContainsAny(name, " \t\n") {
		d.addMissing("a branch has a name of one word, and this is none: %s", d.about())
	}
	args, title := map[string]any{"name": literally(name)}, "Switch to the branch "+d.about()
	if creates {
		args["create"], title = true, "Create the branch "+d.about()
	}
	d.call("vcs.branch", title, args, "")
}

func (d *draft) push() {
	args := map[string]any{}
	words := strings.Fields(d.in.Target)
	if len(words) > 0 && slices.Contains(remotes, words[0]) {
		args["remote"], words = literally(words[0]), words[1:]
	}
	switch len(words) {
	case 0:
	case 1:
		args["branch"] = literally(words[0])
	default:
		d.addMissing("the words name neither a remote nor a branch: %s", d.about())
	}
	if d.facts.NoRemote {
		d.addMissing("the repository has no remote to push to (add one with git remote add)")
	}
	seen := d.call("vcs.status", "Check for commits to push", nil, "")
	title := "Push the commits"
	if d.facts.NoUpstream && args["branch"] == nil {
		args["set_upstream"], title = true, "Push the commits, and follow the branch of the remote from then on"
	}
	d.call("vcs.push", title, args, "", seen)
}
