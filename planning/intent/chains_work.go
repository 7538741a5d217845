package intent

import (
	"slices"
	"strconv"
	"strings"

	"replan/internal/english"
)

// The chains that run tests and linters, and those of version control.

// where is the file or folder that the target names; without a target, the place.
func (b *builder) where() string {
	at, s := b.facts.place(b.in.Target), b.shape()
	switch {
	case s == nothing:
		return b.place()
	case s == aPath, isFolder(b.in.Target) && !b.facts.Known:
		return pathOf(b.in.Target)
	case at != "":
		return at
	default:
		if tests := b.facts.Tests; b.in.Action == test && len(tests) > 0 {
			b.addMissing("%q is no file, folder or test. Did you mean: run %s?", b.about(), english.List(tests[:min(len(tests), 3)], "or"))
			return ""
		}
		b.addMissing("name a file or a folder: %q is neither", b.about())
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
func (b *builder) test() {
	args := map[string]any{}
	if s := b.shape(); s == aTest || s == aName && !isFolder(b.in.Target) && !strings.ContainsAny(symbolOf(b.in.Target), ".#:") {
		args["path"], args["run"] = testsBelow(b.place()), b.symbol()
	} else {
		args["path"] = testsBelow(b.where())
	}
	b.call(runTests, "Run the tests", args, "tests")
	if left := notRun(b.facts.LeftOut); left != "" {
		b.in.Params["left_out"], b.in.Params["ran"] = left, b.facts.ranOnly()
	}
}

func (b *builder) lint() {
	b.call("test.lint", "Run the linter", map[string]any{"path": literally(folderOf(b.where()))}, "findings")
}

// maxCommits is how much of the history an explanation looks at.
const maxCommits = 10

// mostTests is how many tests with a name are run by theirs.
const mostTests = 8

// debug runs the tests most likely to show the fault, and looks at the last
// commits.
func (b *builder) debug() {
	if b.in.Params["trace"] != "" && b.shape() == aName {
		b.call("code.references", "Find the callers of "+b.about(), map[string]any{"symbol": b.symbol(), "path": b.within(), "allow_none": true}, "")
		if b.facts.Known && len(b.facts.Tests) == 0 && nearest(b.facts.Folders, b.in.Target) == "" {
			return
		}
	}
	place, run := "", ""
	switch folder := nearest(b.facts.Folders, b.in.Target); {
	case b.shape() == nothing, reportedByTests(b.in.Target):
		place = b.place()
	case b.shape() == aPath:
		place = pathOf(b.in.Target)
	case folder != "":
		place = folder
	case b.shape() == someWords, b.facts.Known && len(b.facts.Tests) == 0 && b.shape() != aTest:
		b.addMissing("no test or package is called %s", b.about())
	default:
		place, run = b.place(), b.symbol()
		if tests := b.facts.Tests; len(tests) > 0 && len(tests) <= mostTests && b.shape() != aTest {
			run = strings.Join(tests, "|")
		}
	}
	tests := b.call(runTests, "Run the tests", map[string]any{"path": testsBelow(place), "run": run, "allow_failures": true}, "tests")
	log := b.call("vcs.log", "Look at the last commits", map[string]any{"path": literally(pathOf(place)), "max": number(maxCommits), "allow_none": true}, "log")
	b.call("code.summarize", "Summarize the failures", map[string]any{"tests": "${tests}", "log": "${log}"}, "summary", tests, log)
}

func (b *builder) status() { b.call("vcs.status", "Show the status", nil, "") }

// diff shows what is not committed, or the changes of one commit.
func (b *builder) diff() {
	if commit := b.in.Params["commit"]; commit != "" {
		b.call("vcs.show", "Show the commit "+inTitle(commit), map[string]any{"ref": literally(commit)}, "")
		return
	}
	args := map[string]any{"of": "all"}
	switch target := b.in.Target; {
	case b.shape() == aPath:
		args["path"] = b.path()
	case strings.ContainsAny(target, " \t\n"):
		b.addMissing("%q is neither a path nor a revision", b.about())
	default:
		args["ref"], args["path"] = literally(target), b.within()
	}
	b.call("vcs.diff", "Show the changes", args, "")
}

func (b *builder) history() {
	args := map[string]any{"path": literally(b.where())}
	if n, err := strconv.Atoi(b.in.Params["max"]); err == nil {
		args["max"] = number(n)
	}
	since := b.in.Params["since"]
	if strings.TrimSpace(since) != "" {
		args["since"] = literally(dateOf(since))
	}
	b.call("vcs.log", "Show the history", args, "")
	if strings.TrimSpace(since) != "" { // what is not committed has changed, too
		b.call("vcs.status", "Show what is not committed", nil, "")
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

// blame shows who wrote a file, or one line of it.
func (b *builder) blame() {
	switch {
	case b.in.Params["of"] != "":
		b.addMissing(askLine)
	case b.shape() != aPath || !isFile(b.in.Target):
		b.addMissing("%q is no file: name one, as in blame main.go", b.about())
	}
	title, path := "Show who wrote "+b.about(), pathOf(b.in.Target)
	if line := b.in.Params["line"]; line != "" {
		title, path = "Show who wrote line "+line+" of "+b.about(), path+":"+line
	}
	b.call("vcs.log", title, map[string]any{"path": literally(path)}, "")
}

// commit shows the changes before it asks.
func (b *builder) commit() {
	if b.facts.Clean {
		b.call("vcs.status", "Check for changes to commit", nil, "")
		return
	}
	name := literally(b.where())
	args := map[string]any{"message": "${summary.title}"}
	if message := b.in.Params["message"]; message != "" {
		args["message"] = literally(message)
	}
	if name != "" {
		args["paths"] = []any{name}
	}
	shown := b.call("vcs.diff", "Look at the changes to commit", map[string]any{"of": "commit", "path": name}, "changes")
	summary := b.call("code.summarize", "Summarize the changes", map[string]any{"diff": "${changes.diff}"}, "summary", shown)
	b.call("vcs.commit", "Commit the changes", args, "committed", summary)
}

func (b *builder) branch() {
	args, title := map[string]any{"name": literally(b.in.Target)}, "Switch to the branch "+b.about()
	if b.in.Params["create"] != "" {
		args["create"], title = true, "Create the branch "+b.about()
	}
	switch {
	case strings.ContainsAny(b.in.Target, " \t\n"):
		b.addInvalid("the name of a branch is one word: %s", b.about())
	case b.in.Target == "" && args["create"] != nil:
		b.addMissing("what is the branch called? Name it: create branch fix-login")
	case b.in.Target == "":
		b.call("vcs.branches", "List the branches", nil, "")
		return
	}
	b.call("vcs.branch", title, args, "")
}

func (b *builder) push() {
	args, title := map[string]any{"remote": literally(b.in.Target)}, "Push the commits"
	if b.facts.NoUpstream {
		args["set_upstream"], title = true, "Push the commits, and follow the branch of the remote from then on"
	}
	if b.in.Target != "" && !slices.Contains(remotes, b.in.Target) {
		b.addInvalid("push where? %q is no remote: push to origin", b.about())
	}
	if b.facts.NoRemote {
		b.addInvalid("the repository has no remote to push to (add one with git remote add)")
	}
	b.call("vcs.push", title, args, "", b.call("vcs.status", "Check for commits to push", nil, ""))
}
