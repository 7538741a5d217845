package intent

import (
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
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
		if tests := d.facts.Tests; d.in.Action == test && len(tests) > 0 {
			d.addMissing("%q is no file, folder or test. Did you mean: run %s?", d.about(), english.List(tests[:min(len(tests), 3)], "or"))
			return ""
		}
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
	if d.in.Params["trace"] != "" && d.shape() == aName {
		d.call("code.references", "Find the callers of "+d.about(), map[string]any{"symbol": d.symbol(), "path": d.within(), "allow_none": true}, "")
		if d.facts.Known && len(d.facts.Tests) == 0 && nearest(d.facts.Folders, d.in.Target) == "" {
			return
		}
	}
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
	args := map[string]any{"path": literally(d.where())}
	if n, err := strconv.Atoi(d.in.Params["max"]); err == nil {
		args["max"] = number(n)
	}
	since := d.in.Params["since"]
	if strings.TrimSpace(since) != "" {
		args["since"] = literally(dateOf(since))
	}
	d.call("vcs.log", "Show the history", args, "")
	if strings.TrimSpace(since) != "" { // what is not committed has changed, too
		d.call("vcs.status", "Show what is not committed", nil, "")
	}
}

// dateOf is a day as git reads it: from its beginning.
func dateOf(day string) string {
	words := strings.Fields(strings.ToLower(day))
	if len(words) == 0 {
		return ""
	}
	switch last := words[len(words)-1]; {
	case len(words) == 1 && slices.Contains(days, last), len(words) == 2 && slices.Contains(days[2:], last):
		return last + " 00:00"
	case len(words) == 2 && words[0] == "last":
		return "1 " + last + " ago"
	default:
		return day
	}
}

// days are the words for days; the first two are no weekdays.
var days = strings.Fields("yesterday today monday tuesday wednesday thursday friday saturday sunday")

const askLine = "which line, of which file? Name both: who wrote line 12 of main.go"

// blame shows who wrote the lines of a file, or one of them.
func (d *draft) blame() {
	argv := []string{"git", "--no-pager", "blame", "--date=short"}
	line := d.in.Params["line"]
	if file, at, ok := strings.Cut(d.in.Target, ":"); ok && isCount(at) {
		d.in.Target, line = file, at
		d.resolve()
	}
	switch {
	case d.in.Params["of"] != "":
		d.addMissing(askLine)
	case d.shape() != aPath || !isFile(d.in.Target):
		d.addMissing("%q is no file: name one, as in blame main.go", d.about())
	}
	title := "Show who wrote " + d.about()
	if line != "" {
		argv, title = append(argv, "-L", line+","+line), "Show who wrote line "+line+" of "+d.about()
	}
	d.program(title, append(argv, "--", pathOf(d.in.Target)))
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
