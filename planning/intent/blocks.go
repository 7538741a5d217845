package intent

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/markdown"
	"replan/internal/testfile"
)

// blocks write the result of each operator as paragraphs.
var blocks = map[string]func(answerer, result) []string{
	"fs.search": answerer.matches, "fs.list": answerer.listed, "fs.read": answerer.read,
	"fs.patch": answerer.changed, "fs.write": answerer.changed, "fs.remove": answerer.changed, "fs.mkdir": answerer.changed, "fs.move": answerer.moved,
	"code.symbols": answerer.symbols, "code.parse": answerer.parsed, "code.definition": answerer.definitions,
	"code.references": answerer.references, "code.summarize": answerer.summary, "code.transform": answerer.transformed,
	runTests: answerer.tests, "test.lint": answerer.linted,
	"vcs.status": answerer.status, "vcs.diff": answerer.diff, "vcs.log": answerer.log, "vcs.branches": answerer.branches,
	"vcs.branch": answerer.branch, "vcs.commit": answerer.commit, "vcs.push": answerer.push,
	"proc.run": answerer.ran,
}

// about is the target as a code span.
func (a answerer) about() string { return orCode(a.in.Target, "what was asked for") }

// within is the place that the words name, with a blank before it.
func (a answerer) within() string { return prefixed(" in ", code(a.in.Params["in"])) }

// note is an operator's remark on its result.
func (r result) note() string { return prefixed("Note: ", markdown.Code(r.Note, maxNote)) }

// end says that a list was cut, and how to see more of it with other words.
func (a answerer) end(r result, total int, words string, list []item) []string {
	cut, more := "", ""
	if r.Truncated {
		cut = "This is not all: the result was cut short."
	}
	if total > maxRows && words != "" {
		more = "To see more, ask with `--output json`"
		for _, i := range list {
			if folder, _, below := strings.Cut(i.Path, "/"); below && folder != "" && a.in.Params["in"] == "" {
				more += ", or name a folder: " + code(words+" in "+folder+"/")
				break
			}
		}
		more += "."
	}
	return []string{cut, more, r.note()}
}

// countFiles counts the files of a list.
func countFiles(list []item) string {
	names := map[string]bool{}
	for _, i := range list {
		names[i.Path] = true
	}
	return english.Count(len(names), "file")
}

func (a answerer) matches(r result) []string {
	total := max(r.Total, len(r.Matches))
	debugs := a.in.Action == debug
	if total == 0 {
		head := "Nothing in the workspace matches " + a.about()
		switch {
		case a.in.Action == find && len(a.named(a.result("fs.list"))) > 0:
			return nil // the file itself was found
		case debugs:
			head = "No test, no package and no text is called " + a.about()
		}
		return []string{head + a.within() + ". Try fewer words, a part of the name, or another spelling."}
	}
	head := english.Count(total, "match") + " of " + a.about()
	if debugs {
		head = "No test and no package is called " + a.about() + ", so none was run. " + head
	}
	switch {
	case r.Files.count > 0:
		head += " in " + english.Count(r.Files.count, "file")
	case total == len(r.Matches):
		head += " in " + countFiles(r.Matches)
	}
	list := rows(r.Matches, total, "match", func(i item) string { return strings.TrimSpace(i.place() + " " + code(i.Text)) })
	r.Note = ""
	return append([]string{head + ":", list}, a.end(r, total, "find "+a.in.Target, r.Matches)...)
}

// named lists the entries of a folder that the target names.
func (a answerer) named(r result) []string {
	target := pathOf(a.in.Target)
	var names []string
	for _, entry := range r.Entries {
		fits, _ := path.Match(target, entry.Path)
		byBase, _ := path.Match(target, path.Base(entry.Path))
		if fits || byBase || strings.HasSuffix(entry.Path, "/"+target) {
			names = append(names, code(entry.Path))
		}
	}
	return names
}

func (a answerer) listed(r result) []string {
	asIs := func(line string) string { return line }
	names := a.named(r)
	switch {
	case a.in.Action != find:
		return nil
	case a.in.Params["of"] == "packages":
		lines := packages(r)
		if len(lines) == 0 {
			return []string{"No folder" + a.within() + " holds source code."}
		}
		return append([]string{english.Count(len(lines), "package") + a.within() + ":", rows(lines, 0, "package", asIs)}, a.end(r, 0, "", nil)...)
	case a.in.Target != "" && len(names) == 0:
		return nil
	case a.in.Target != "":
		return append([]string{filesAre(len(names)) + " called " + a.about() + ":", rows(names, 0, "file", asIs)}, a.end(r, 0, "", nil)...)
	}
	where := " in " + orCode(a.in.Params["in"], "the workspace")
	if len(r.Entries) == 0 {
		return []string{"There is nothing" + where + "."}
	}
	list := rows(r.Entries, 0, "entry", func(i item) string {
		if i.Type == "dir" {
			i.Path += "/"
		}
		return code(i.Path)
	})
	return append([]string{english.Count(len(r.Entries), "entry") + where + ":", list}, a.end(r, len(r.Entries), "list files", r.Entries)...)
}

// packages lists the folders that hold source code, with their number of files.
func packages(r result) []string {
	files := map[string]int{}
	var folders []string
	for _, entry := range r.Entries {
		if entry.Type == "dir" || testfile.Of(entry.Path) == "" {
			continue
		}
		folder := path.Dir(entry.Path)
		if files[folder]++; files[folder] == 1 {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	for i, folder := range folders {
		folders[i] = code(folder) + ", " + english.Count(files[folder], "file")
	}
	return folders
}

func (answerer) read(r result) []string {
	text, _ := r.value.(string)
	return []string{fence("", text)}
}

// symbolLine writes a symbol with its place.
func symbolLine(i item) string {
	for _, name := range []string{i.Qualified, i.Name} {
		if i.Signature == "" {
			i.Signature = name
		}
	}
	return strings.TrimSpace(code(i.Signature)+" "+plain(i.Kind)) + prefixed(" at ", i.place())
}

// elsewhere suggests a search for a name that is not known.
func (a answerer) elsewhere() string {
	return "Try its full name, such as Type.Method, or search the text: find " + a.about() + "."
}

func (a answerer) symbols(r result) []string {
	total := max(r.Total, len(r.Symbols))
	if total == 0 {
		return []string{"There are no symbols in or like " + a.about() + ". Try a part of the name, or search the text: find " + a.about() + "."}
	}
	head := english.Count(total, "symbol") + " like " + a.about()
	if file := code(r.Path); file != "" {
		head = english.Count(total, "symbol") + " in " + file
	}
	return append([]string{head + ":", rows(r.Symbols, total, "symbol", symbolLine)}, a.end(r, total, "list symbols", r.Symbols)...)
}

func (a answerer) parsed(r result) []string {
	head := code(r.Path) + prefixed(" is ", plain(r.Language))
	if r.Lines > 0 {
		head += ", " + english.Count(r.Lines, "line")
	}
	if len(r.Outline) == 0 {
		return []string{head + ", with no symbols that could be made out.", r.note()}
	}
	return []string{head + ":", rows(r.Outline, 0, "symbol", symbolLine), r.note()}
}

func (a answerer) definitions(r result) []string {
	if len(r.Definitions) == 0 {
		text := "Nothing in the workspace defines " + a.about() + "."
		if r.note() != "" {
			return []string{text, r.note()} // it lists the candidates
		}
		return []string{text + " " + a.elsewhere()}
	}
	shown := r.Definitions[:min(len(r.Definitions), maxRows)]
	var parts []string
	for _, d := range shown {
		name := a.in.Target
		for _, n := range []string{d.Name, d.Qualified} {
			if n != "" {
				name = n
			}
		}
		head := strings.TrimSpace(code(name)+" "+plain(d.Kind)) + prefixed(" is defined at ", d.place())
		if signature := fence("", d.Signature); signature != "" {
			parts = append(parts, head+":", signature)
		} else {
			parts = append(parts, head+prefixed(": ", code(d.Text)))
		}
		parts = append(parts, fence("text", strings.TrimSpace(d.Doc)))
	}
	if rest := max(r.Total, len(r.Definitions)) - len(shown); rest > 0 {
		parts = append(parts, "… and "+english.Count(rest, "more definition"))
	}
	return append(parts, r.note())
}

func (a answerer) references(r result) []string {
	all := max(r.Total, len(r.References))
	name := orCode(r.Symbol, a.about())
	switch {
	case all == 0 && r.Definition == nil && r.Note != "":
		return []string{"Nothing in the workspace refers to " + name + ".", r.note()}
	case all == 0:
		return []string{"Nothing refers to " + name + ". " + a.elsewhere()}
	}
	defined := ""
	if r.Definition != nil {
		defined = r.Definition.place()
	}
	var uses []item
	for _, i := range r.References {
		if !i.Definition {
			uses = append(uses, i)
		} else if defined == "" {
			defined = i.place()
		}
	}
	total := all - (len(r.References) - len(uses))
	if total <= 0 {
		return []string{"Nothing uses " + name + " besides its definition at " + defined + ".", r.note()}
	}
	head := english.Count(total, "reference") + " to " + name
	if total == len(uses) {
		head += " in " + countFiles(uses)
	}
	head += prefixed(", found by ", plain(r.By))
	switch {
	case defined == "":
	case total < all: // the tool's own total, on the screen too, counts it
		head += "; its definition at " + defined + " is not counted"
	default:
		head += "; it is defined at " + defined
	}
	list := rows(uses, total, "reference", func(i item) string {
		return strings.TrimSpace(i.place() + prefixed(" in ", code(i.In)) + ": " + code(i.Text))
	})
	return append([]string{head + ":", list}, a.end(r, total, "where is "+a.in.Target+" used", r.References)...)
}

func (a answerer) summary(r result) []string {
	text := prose(r.Summary)
	if text == "" {
		text = orCode(r.Title, "There is nothing to tell of "+a.about()+".")
	}
	return []string{text}
}

// fileLine writes a file of a change, with the lines added and removed.
func fileLine(i item) string {
	line := code(i.Path)
	if i.Added != nil || i.Removed != nil {
		number := func(n *int) int {
			if n == nil {
				return 0
			}
			return *n
		}
		line += fmt.Sprintf(" +%d −%d", number(i.Added), number(i.Removed))
	}
	line += prefixed(" ", plain(i.Status))
	if i.Staged {
		line += " (staged)"
	}
	return line
}

func (a answerer) changed(r result) []string {
	with, replaces := a.in.Params["with"]
	head := "Changed"
	switch {
	case a.in.Action == rename && a.in.Params["new_name"] != "":
		head = "Renamed " + a.about() + " to " + code(a.in.Params["new_name"])
	case a.in.Action == edit && a.in.Target != "" && (replaces && with == "" || a.in.Params["remove"] != ""):
		head = "Removed " + a.about()
	case a.in.Action == edit && with != "":
		head = "Replaced " + a.about() + " by " + code(with)
	}
	change := a.result("code.transform")
	if change.isObject() {
		head += ": " + edits(change.Edits, len(r.Files.list)) + prefixed(", found by ", plain(change.By))
	} else {
		head += " " + english.Count(len(r.Files.list), "file")
	}
	return []string{head + ".", rows(r.Files.list, 0, "file", fileLine), change.note()}
}

// edits counts the edits of a change.
func edits(n, files int) string {
	return english.Count(n, "edit") + " in " + english.Count(files, "file")
}

func (a answerer) moved(result) []string {
	for _, step := range a.of("fs.move") {
		from, _ := step.Args["from"].(string)
		to, _ := step.Args["to"].(string)
		if from != "" && to != "" {
			return []string{"Moved " + code(from) + " to " + code(to) + "."}
		}
	}
	return []string{"Moved " + a.about() + "."}
}

// transformed tells of a change that was worked out but not made.
func (a answerer) transformed(r result) []string {
	if r.Edits == 0 && len(r.Files.list) == 0 {
		return []string{"There is nothing to change for " + a.about() + ".", r.note()}
	}
	return []string{
		"Not changed yet: " + edits(r.Edits, len(r.Files.list)) + ".",
		rows(r.Files.list, 0, "file", fileLine), r.note(), fence("diff", r.Diff),
	}
}

// noTests is how test.run says that it found none.
const noTests = "there are no tests to run"

func (a answerer) tests(r result) []string {
	if r.Passed {
		run, at := "", ""
		for _, step := range a.of(runTests) {
			if run == "" && at == "" {
				run, _ = step.Args["run"].(string)
				at, _ = step.Args["path"].(string)
			}
		}
		if run == "" {
			run = at
		}
		switch {
		case strings.HasPrefix(r.Summary, noTests):
			return []string{"There are no tests to run here."}
		case a.in.Action == debug && shapeOf(a.in.Target) == aTest:
			return []string{a.about() + " passes here."}
		case a.in.Action == debug && shapeOf(a.in.Target) != nothing && run != "":
			return []string{"The tests of " + a.about() + " pass here: " + code(run) + "."}
		}
	}
	lines := make([]string, 0, len(r.Failures))
	for _, f := range r.Failures {
		lines = append(lines, strings.TrimSpace(code(f.Name)+prefixed(" at ", f.place())+prefixed(": ", code(f.Message))))
	}
	for _, name := range r.Failed {
		if name != "" && !slices.ContainsFunc(r.Failures, func(f item) bool { return f.Name == name }) {
			lines = append(lines, code(name))
		}
	}
	head := "The tests fail"
	if r.Passed {
		head = "The tests pass"
	}
	return verdict(head, strings.TrimPrefix(strings.TrimPrefix(r.Summary, "the tests passed"), ": "), lines, "failure")
}

func (answerer) linted(r result) []string {
	lines := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		lines[i] = strings.TrimSpace(f.place() + " " + code(f.Message))
	}
	if r.Passed && len(lines) == 0 {
		return []string{"The linter finds nothing."}
	}
	return verdict("The linter complains", r.Summary, lines, "finding")
}

// verdict puts the summary of tests or a linter behind its head, and lists faults.
func verdict(head, summary string, lines []string, noun string) []string {
	if summary = code(summary); summary == "" {
		head += "."
	}
	return []string{head + prefixed(": ", summary), rows(lines, 0, noun, func(line string) string { return line })}
}

// filesAre counts files as the subject of a sentence.
func filesAre(n int) string {
	if n == 1 {
		return "1 file is"
	}
	return english.Count(n, "file") + " are"
}

func (a answerer) status(r result) []string {
	if a.in.Action == commit {
		return []string{"Nothing to commit: no file differs from the last commit."}
	}
	head := "On no branch"
	if r.Branch != "" {
		head = "On branch " + code(r.Branch)
	}
	head += prefixed(", following ", code(r.Upstream))
	if r.Ahead > 0 {
		head += ", " + english.Count(r.Ahead, "commit") + " ahead"
	}
	if r.Behind > 0 {
		head += ", " + english.Count(r.Behind, "commit") + " behind"
	}
	if len(r.Files.list) == 0 {
		return []string{head + ". Nothing is changed."}
	}
	return []string{head + ". " + filesAre(len(r.Files.list)) + " changed:", rows(r.Files.list, 0, "file", fileLine)}
}

func (a answerer) diff(r result) []string {
	diff := fence("diff", r.Diff)
	if len(r.Files.list) == 0 && diff == "" {
		return []string{"There are no changes."}
	}
	head := fmt.Sprintf("%s changed, +%d −%d:", english.Count(len(r.Files.list), "file"), r.Added, r.Removed)
	return append([]string{head, rows(r.Files.list, 0, "file", fileLine), diff}, a.end(r, 0, "", nil)...)
}

func (answerer) log(r result) []string {
	if len(r.Commits) == 0 {
		return []string{"There are no commits."}
	}
	return []string{"The last commits:", rows(r.Commits, r.Total, "commit", func(c item) string {
		day, _, _ := strings.Cut(c.Date, "T") // of an ISO date the day is enough
		return strings.TrimSpace(shortHash(c.Hash)+" "+code(c.Subject)) + prefixed(" by ", code(c.Author)) + prefixed(", ", code(day))
	})}
}

func (answerer) branches(r result) []string {
	head := ""
	switch current := code(r.Current); {
	case current != "":
		head = "The branch is " + current + "."
	case len(r.Branches) == 0:
		return []string{"There are no branches yet."}
	}
	return []string{head, rows(r.Branches, 0, "branch", func(b item) string {
		line := strings.TrimSpace(code(b.Name) + " " + code(b.Subject))
		if b.Current {
			line += " (current)"
		}
		return line
	})}
}

func (a answerer) branch(r result) []string {
	name := orCode(r.Branch, a.about())
	if r.Created || a.in.Params["create"] != "" {
		return []string{"Created the branch " + name + " and switched to it.", r.note()}
	}
	return []string{"Switched to the branch " + name + ".", r.note()}
}

func (answerer) commit(r result) []string {
	text := "Committed" + prefixed(" ", shortHash(r.Hash)) + prefixed(" on ", code(r.Branch)) + prefixed(": ", code(r.Subject))
	if r.Files.count > 0 {
		text += ", " + english.Count(r.Files.count, "file")
	}
	return []string{text + "."}
}

func (answerer) push(r result) []string {
	commits, remote := orCode(r.Branch, "the commits"), orCode(r.Remote, "the remote")
	if r.UpToDate {
		return []string{"There was nothing to push: " + remote + " has " + commits + " as it is."}
	}
	return []string{"Pushed " + commits + " to " + remote + "."}
}

func (answerer) ran(r result) []string {
	return []string{fmt.Sprintf("%s ended with exit code %d.", code(r.Command), r.Exit), fence("", r.Output)}
}
