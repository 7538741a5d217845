package intent

import (
	"fmt"
	"strings"

	"replan/internal/english"
)

// The blocks of an answer that tell of changes, tests and version control.

// fileLines write the files of a change, each with the lines added and removed.
func fileLines(files []value) []string {
	lines := make([]string, len(files))
	for i, f := range files {
		name := code(f.at("path").text())
		if name == "" {
			name = code(f.text())
		}
		added, removed := f.at("added").number(), f.at("removed").number()
		if f.at("added").v != nil || f.at("removed").v != nil {
			name += fmt.Sprintf(" +%d −%d", added, removed)
		}
		if status := plain(f.at("status").text()); status != "" {
			name += " " + status
		}
		if f.at("staged").flag() {
			name += " (staged)"
		}
		lines[i] = name
	}
	return lines
}

// change names the change in a few words.
func (a answering) change() string {
	switch {
	case a.in.Action == rename && a.in.Params["new_name"] != "":
		return "Renamed " + a.about() + " to " + code(a.in.Params["new_name"])
	case a.in.Action == edit && a.in.Target != "" && (a.removes() || a.in.Params["remove"] != ""):
		return "Removed " + a.about()
	case a.in.Action == edit && a.in.Params["with"] != "":
		return "Replaced " + a.about() + " by " + code(a.in.Params["with"])
	default:
		return "Changed"
	}
}

// removes reports whether nothing was to be put in another's place.
func (a answering) removes() bool {
	with, replaces := a.in.Params["with"]
	return replaces && with == ""
}

func (a answering) changed(v value) string {
	files := v.at("files").list()
	head := a.change()
	if transformed := a.result("code.transform"); transformed.isObject() {
		head += ": " + english.Count(transformed.at("edits").number(), "edit") + " in " + english.Count(len(files), "file")
		if by := plain(transformed.at("by").text()); by != "" {
			head += ", found by " + by
		}
	} else {
		head += " " + english.Count(len(files), "file")
	}
	text := head + "."
	if len(files) > 0 {
		text += "\n\n" + rows(fileLines(files), 0, "file")
	}
	return text + noted(a.result("code.transform"))
}

func (a answering) movedFile(value) string {
	for _, item := range a.of("fs.move") {
		args := value{item.Args}
		if from, to := code(args.at("from").text()), code(args.at("to").text()); from != "" && to != "" {
			return "Moved " + from + " to " + to + "."
		}
	}
	return "Moved " + a.about() + "."
}

// transformed tells of a change that was worked out and not made.
func (a answering) transformed(v value) string {
	files := v.at("files").list()
	edits := v.at("edits").number()
	if edits == 0 && len(files) == 0 {
		return "There is nothing to change for " + a.about() + "." + noted(v)
	}
	text := "Not changed yet: " + english.Count(edits, "edit") + " in " + english.Count(len(files), "file") + ".\n\n" + rows(fileLines(files), 0, "file")
	text += noted(v)
	if diff := v.at("diff").text(); diff != "" {
		text += "\n\n" + fence("diff", diff)
	}
	return text
}

// noTests is how test.run says that it found none.
const noTests = "there are no tests to run"

func (a answering) testRun(v value) string {
	head := "The tests pass"
	switch passed := v.at("passed").flag(); {
	case passed && strings.HasPrefix(v.at("summary").text(), noTests):
		return "There are no tests to run here."
	case passed && a.in.Action == debug && shapeOf(a.in.Target) == aTest:
		return a.about() + " passes here."
	case passed && a.in.Action == debug && shapeOf(a.in.Target) != nothing && !a.allTests():
		return "The tests of " + a.about() + " pass here" + a.testsRun() + "."
	}
	if !v.at("passed").flag() {
		head = "The tests fail"
	}
	summary := strings.TrimPrefix(v.at("summary").text(), "the tests passed")
	if summary = code(strings.TrimPrefix(summary, ": ")); summary != "" {
		head += ": " + summary
	} else {
		head += "."
	}
	failures := v.at("failures").list()
	lines := make([]string, 0, len(failures))
	told := map[string]bool{}
	for _, f := range failures {
		name := f.at("name").text()
		told[name] = true
		line := code(name)
		if where := f.place(); where != "" {
			line += " at " + where
		}
		if message := code(f.at("message").text()); message != "" {
			line += ": " + message
		}
		lines = append(lines, strings.TrimSpace(line))
	}
	for _, name := range v.at("failed").list() {
		if !told[name.text()] && name.text() != "" {
			lines = append(lines, code(name.text()))
		}
	}
	if len(lines) > 0 {
		head += "\n\n" + rows(lines, 0, "failure")
	}
	return head
}

// allTests reports whether all tests were run, whatever the words name.
func (a answering) allTests() bool {
	for _, item := range a.of(runTests) {
		if args := (value{item.Args}); args.at("run").text() != "" || args.at("path").text() != "" {
			return false
		}
	}
	return true
}

// testsRun names the tests that were run, with a colon before them.
func (a answering) testsRun() string {
	for _, item := range a.of(runTests) {
		args := value{item.Args}
		if run := code(args.at("run").text()); run != "" {
			return ": " + run
		}
		if at := code(args.at("path").text()); at != "" {
			return ": " + at
		}
	}
	return ""
}

func (answering) linted(v value) string {
	found := v.at("findings").list()
	head := "The linter finds nothing"
	if len(found) > 0 || !v.at("passed").flag() {
		head = "The linter complains"
	}
	if summary := code(v.at("summary").text()); summary != "" && (len(found) > 0 || !v.at("passed").flag()) {
		head += ": " + summary
	} else {
		head += "."
	}
	lines := make([]string, len(found))
	for i, f := range found {
		lines[i] = strings.TrimSpace(f.place() + " " + code(f.at("message").text()))
	}
	if len(lines) > 0 {
		head += "\n\n" + rows(lines, 0, "finding")
	}
	return head
}

func (a answering) statusOf(v value) string {
	if a.in.Action == commit {
		return "Nothing to commit: no file differs from the last commit."
	}
	head := "On no branch"
	if branch := code(v.at("branch").text()); branch != "" {
		head = "On branch " + branch
	}
	if upstream := code(v.at("upstream").text()); upstream != "" {
		head += ", following " + upstream
	}
	if n := v.at("ahead").number(); n > 0 {
		head += ", " + english.Count(n, "commit") + " ahead"
	}
	if n := v.at("behind").number(); n > 0 {
		head += ", " + english.Count(n, "commit") + " behind"
	}
	files := v.at("files").list()
	if len(files) == 0 {
		return head + ". Nothing is changed."
	}
	return head + ". " + filesAre(len(files)) + " changed:\n\n" + rows(fileLines(files), 0, "file")
}

func (answering) diffOf(v value) string {
	files := v.at("files").list()
	diff := v.at("diff").text()
	if len(files) == 0 && strings.TrimSpace(diff) == "" {
		return "There are no changes."
	}
	text := fmt.Sprintf("%s changed, +%d −%d:\n\n%s", english.Count(len(files), "file"), v.at("added").number(), v.at("removed").number(),
		rows(fileLines(files), 0, "file"))
	if strings.TrimSpace(diff) != "" {
		text += "\n\n" + fence("diff", diff)
	}
	return text + cutShort(v)
}

func (answering) logOf(v value) string {
	commits := v.at("commits").list()
	if len(commits) == 0 {
		return "There are no commits."
	}
	lines := make([]string, len(commits))
	for i, c := range commits {
		line := strings.TrimSpace(code(shortHash(c)) + " " + code(c.at("subject").text()))
		if author := code(c.at("author").text()); author != "" {
			line += " by " + author
		}
		if date := c.at("date").text(); date != "" {
			day, _, _ := strings.Cut(date, "T") // of an ISO date the day is enough
			line += ", " + code(day)
		}
		lines[i] = line
	}
	return "The last commits:\n\n" + rows(lines, v.at("total").number(), "commit")
}

// shortHash is as much of a commit's hash as is usually shown.
func shortHash(v value) string {
	hash := []rune(v.at("hash").text())
	return string(hash[:min(len(hash), 10)])
}

func (answering) branchList(v value) string {
	branches := v.at("branches").list()
	lines := make([]string, len(branches))
	for i, b := range branches {
		line := strings.TrimSpace(code(b.at("name").text()) + " " + code(b.at("subject").text()))
		if b.at("current").flag() {
			line += " (current)"
		}
		lines[i] = line
	}
	switch current := code(v.at("current").text()); {
	case len(lines) == 0 && current == "":
		return "There are no branches yet."
	case current == "":
		return rows(lines, 0, "branch")
	default:
		return strings.TrimSpace("The branch is " + current + ".\n\n" + rows(lines, 0, "branch"))
	}
}

func (a answering) branchOf(v value) string {
	name := code(v.at("branch").text())
	if name == "" {
		name = a.about()
	}
	if v.at("created").flag() || a.in.Params["create"] != "" {
		return "Created the branch " + name + " and switched to it." + noted(v)
	}
	return "Switched to the branch " + name + "." + noted(v)
}

func (answering) committed(v value) string {
	text := "Committed"
	if hash := code(shortHash(v)); hash != "" {
		text += " " + hash
	}
	if branch := code(v.at("branch").text()); branch != "" {
		text += " on " + branch
	}
	if subject := code(v.at("subject").text()); subject != "" {
		text += ": " + subject
	}
	files := v.at("files")
	if n := max(len(files.list()), files.number()); n > 0 {
		text += ", " + english.Count(n, "file")
	}
	return text + "."
}

func (answering) pushed(v value) string {
	what, to := code(v.at("branch").text()), code(v.at("remote").text())
	if what == "" {
		what = "the commits"
	}
	if to == "" {
		to = "the remote"
	}
	if v.at("up_to_date").flag() {
		return "There was nothing to push: " + to + " has " + what + " as it is."
	}
	return "Pushed " + what + " to " + to + "."
}

func (answering) ran(v value) string {
	text := fmt.Sprintf("%s ended with exit code %d.", code(v.at("command").text()), v.at("exit").number())
	if output := v.at("output").text(); strings.TrimSpace(output) != "" {
		text += "\n\n" + fence("", output)
	}
	return text
}
