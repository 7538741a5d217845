package intent

import (
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
	switch target := d.in.Target; d.shape() {
	case aTest:
		args["run"] = d.symbol()
	case aPath:
		args["path"] = testsBelow(target)
	case aName:
		switch name := symbolOf(target); {
		case isFolder(target):
			args["path"] = testsBelow(target)
		case strings.ContainsAny(name, ".#:"):
			d.addMissing("the words name neither a folder nor a test: %s", d.about())
		default:
			args["run"] = d.symbol()
		}
	case someWords:
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

// debug runs the tests most likely to show the fault, and looks at the last
// commits.
func (d *draft) debug() {
	d.needTarget()
	run := map[string]any{"path": d.testsIn()}
	place := literally(pathOf(d.in.Params["in"]))
	words := strings.Fields(strings.ToLower(d.in.Target))
	named := d.facts.Known && len(words) > 0 && !slices.Contains(testOutcomes, words[len(words)-1])
	switch s := d.shape(); {
	case named && (s == aName || s == aTest):
		name, folder := d.facts.tested(d.in.Target)
		switch {
		case folder != "":
			run["path"], place = testsBelow(folder), literally(folder)
		case name != "":
			run["run"] = literally(name)
		case s == aName:
			d.search(false, "") // no test is called so: where it is
			return
		default:
			run["run"] = d.symbol()
		}
	case named && s == someWords:
		d.search(false, "")
		return
	}
	switch d.shape() {
	case aTest:
		if run["run"] == nil && !named {
			run["run"] = d.symbol()
		}
	case aPath:
		run["path"] = testsBelow(d.in.Target)
		place = literally(pathOf(d.in.Target))
	}
	run["allow_failures"] = true
	tests := d.call(runTests, "Run the tests", run, "tests")
	log := d.call("vcs.log", "Look at the last commits", map[string]any{"path": place, "max": number(maxCommits), "allow_none": true}, "log")
	d.call("code.summarize", "Summarize the failures", map[string]any{"tests": "${tests}", "log": "${log}"}, "summary", tests, log)
}

func (d *draft) status() { d.call("vcs.status", "Show the status", nil, "") }

func (d *draft) diff() {
	args := map[string]any{"of": "all"}
	switch d.in.Params["of"] {
	case "staged", "--staged", "cached", "--cached":
		args["of"] = "staged"
	case "unstaged":
		args["of"] = "unstaged"
	}
	switch target := d.in.Target; d.shape() {
	case aPath:
		args["path"] = literally(pathOf(target))
	case nothing:
		args["path"] = d.within()
	default:
		if strings.ContainsAny(target, " \t\n") {
			d.addMissing("the words name neither a path nor a revision: %s", d.about())
			break
		}
		args["ref"] = literally(target)
	}
	d.call("vcs.diff", "Show the changes", args, "")
}

func (d *draft) history() {
	args := map[string]any{"path": d.within()}
	if n, err := strconv.Atoi(d.in.Params["max"]); err == nil && n > 0 {
		args["max"] = number(n)
	}
	switch d.shape() {
	case aPath:
		args["path"] = literally(pathOf(d.in.Target))
	case aName, aTest:
		if isFolder(d.in.Target) {
			args["path"] = d.symbol()
			break
		}
		at := d.call("code.definition", "Find where "+d.about()+" is defined", map[string]any{"symbol": d.symbol(), "path": args["path"]}, "defined")
		args["path"] = "${defined.definitions[0].path}"
		d.call("vcs.log", "Show the history of its file", args, "", at)
		return
	case someWords:
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
	if slices.Contains([]string{"message", "msg", "comment", "text", "title"}, d.in.Params["message"]) {
		d.addMissing("the words do not say the message") // "commit with message", and then nothing
	}
	diff := map[string]any{"of": "commit"}
	made := map[string]any{"message": "${summary.title}"}
	if message := d.in.Params["message"]; message != "" {
		made["message"] = literally(message)
	}
	if d.shape() != nothing {
		names := d.paths()
		if len(names) == 0 {
			d.addMissing("these are no paths to commit: %s", d.about())
		} else {
			made["paths"] = names
		}
		if len(names) == 1 {
			diff["path"] = names[0]
		}
	}
	shown := d.call("vcs.diff", "Look at the changes to commit", diff, "changes")
	summary := d.call("code.summarize", "Summarize the changes", map[string]any{"diff": "${changes.diff}"}, "summary", shown)
	d.call("vcs.commit", "Commit the changes", made, "", summary)
}

// paths are those that the target lists; nil where it lists anything else.
func (d *draft) paths() []any {
	var all []any
	for _, word := range strings.FieldsFunc(d.in.Target, func(r rune) bool { return strings.ContainsRune(", \t\n", r) }) {
		switch {
		case isPath(word):
			all = append(all, literally(pathOf(word)))
		case word != "and":
			return nil
		}
	}
	if slices.Contains(all, any("")) {
		return nil // the workspace itself
	}
	return all
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

// remotes are the names that remotes go by.
var remotes = strings.Fields("origin upstream github gitlab fork backup mirror")

func (d *draft) push() {
	args := map[string]any{}
	switch words := strings.Fields(d.in.Target); {
	case len(words) == 0, len(words) == 1 && words[0] == "remote":
	case len(words) == 1 && slices.Contains(remotes, words[0]):
		args["remote"] = literally(words[0])
	case len(words) == 1:
		args["branch"] = literally(words[0])
	case len(words) == 2 && slices.Contains(remotes, words[0]):
		args["remote"], args["branch"] = literally(words[0]), literally(words[1])
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
