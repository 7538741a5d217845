package intent

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/planning/plan"
)

// blocks write the result of each operator as paragraphs.
var blocks = map[string]func(answerer, result) []string{
	"fs.search": answerer.matches, "fs.list": answerer.listed, "fs.read": answerer.text,
	"fs.patch": answerer.changed, "fs.write": answerer.changed, "fs.mkdir": answerer.changed, "fs.remove": answerer.changed, "fs.move": answerer.changed,
	"code.remove": answerer.changed, "code.insert": answerer.changed, "code.comment": answerer.changed, "data.set": answerer.changed,
	"code.symbols": answerer.symbols, "code.definition": answerer.definitions, "code.references": answerer.references,
	"code.summarize": answerer.summary, "code.transform": answerer.transformed,
	runTests: answerer.tests, "test.lint": answerer.linted,
	"vcs.status": answerer.status, "vcs.diff": answerer.diff, "vcs.log": answerer.log, "vcs.show": answerer.commitShown, "vcs.branches": answerer.branches,
	"proc.run": answerer.ran, "fs.stat": answerer.workspace,
	"vcs.branch": answerer.branch, "vcs.commit": answerer.commit, "vcs.push": answerer.push,
}

// about is the target as a code span.
func (a answerer) about() string { return orCode(a.in.Target, "what was asked for") }

// note is an operator's remark on its result.
func (r result) note() string { return prefixed("Note: ", legible(r.Note)) }

// searched says that there is nothing, or only that what was sought was not found, if
// the remark names files that were not searched.
func (r result) searched(nothing, sought string) string {
	if strings.Contains(r.Note, "not searched") {
		return sought + " was found in the files that were searched."
	}
	return nothing + "."
}

// ended are the last paragraphs of a list: whether it was cut, and the remark.
func (r result) ended() []string {
	cut := ""
	if r.Truncated {
		cut = "This is not all: the result was cut short."
	}
	return []string{cut, r.note()}
}

// in counts the files of a list, as a place.
func in(list []item) string {
	names := map[string]bool{}
	for _, i := range list {
		names[i.Path] = true
	}
	return " in " + english.Count(len(names), "file")
}

// matched says what the lines that a search found are, and what there is if it found none.
func (a answerer) matched(total int) (found, none string) {
	place := prefixed(" in ", code(a.in.Params["in"]))
	target := strings.Fields(a.in.Target)
	switch marks := marksIn(a.in.Target); {
	case a.in.Params["of"] == "tests":
		return english.Count(total, "test"), "There is no test" + place + "."
	case a.in.Params["raised"] != "":
		return english.Count(total, "line") + english.Agree(total, " that raises or returns ", " that raise or return ") + a.about(), "No line raises or returns " + a.about() + place + "."
	case len(marks) > 0:
		return english.Count(total, "line") + " with " + markList(marks), "No line has " + markList(marks) + place + "."
	case len(target) > 1 && a.in.Params["exact"] == "" && a.in.Params["case"] == "":
		return english.Count(total, "line") + " with words from " + a.about(), "Nothing in the workspace matches " + a.about() + place + ". Try fewer words."
	default:
		return english.Count(total, "match") + " for " + a.about(), "Nothing in the workspace matches " + a.about() + place + "."
	}
}

func (a answerer) matches(r result) []string {
	total := max(r.Total, len(r.Matches))
	head, none := a.matched(total)
	if total == 0 {
		if len(a.named(a.result("fs.list"))) > 0 {
			return nil // the file itself was found
		}
		return []string{none, r.note()}
	}
	if r.Files.count > 0 {
		head += " in " + english.Count(r.Files.count, "file")
	} else if total == len(r.Matches) {
		head += in(r.Matches)
	}
	r.Note = ""
	return append([]string{head + ":", placed(r.Matches, total, "match", func(i item) string { return code(i.Text) })}, r.ended()...)
}

// named lists the entries of a folder that the target names; all where there is none.
func (a answerer) named(r result) []item {
	target := pathOf(a.in.Target)
	return slices.DeleteFunc(slices.Clone(r.Entries), func(entry item) bool {
		fits, _ := path.Match(target, entry.Path)
		byBase, _ := path.Match(target, path.Base(entry.Path))
		return target != "" && !fits && !byBase && !strings.HasSuffix(entry.Path, "/"+target)
	})
}

// listed lists the files of a folder, or those that the target names.
func (a answerer) listed(r result) []string {
	list, place := a.named(r), orCode(a.in.Params["in"], "the workspace")
	head := english.Count(len(list), "entry") + " in " + place
	switch {
	case a.in.Target != "" && len(list) == 0:
		return nil
	case a.in.Target != "":
		head = english.Count(len(list), "file") + " called " + a.about()
	case len(list) == 0:
		return []string{"There is nothing in " + place + "."}
	}
	lines := rows(list, 0, "entry", func(i item) string {
		if i.Type == "dir" {
			i.Path += "/"
		}
		return code(i.Path)
	})
	return append([]string{head + ":", lines}, r.ended()...)
}

// text is a file as code in its language.
func (a answerer) text(r result) []string {
	text, ok := r.value.(string)
	if !ok { // a file of JSON
		indented, _ := json.MarshalIndent(r.value, "", "  ") // it was JSON
		text = string(indented)
	}
	name := pathOf(a.in.Target)
	if text = fence(strings.TrimPrefix(path.Ext(name), "."), text); text == "" {
		return []string{code(name) + " is empty."}
	}
	return []string{code(name) + ":", text}
}

func (a answerer) symbols(r result) []string {
	what, total := "symbol", max(r.Total, len(r.Symbols))
	form := ListForm{Kinds: strings.Fields(a.in.Params["kinds"]), Exported: a.in.Params["exported"] != ""}
	most := maxRows
	if len(form.Kinds) > 0 {
		most = maxNamed
	}
	if (len(form.Kinds) > 0 || form.Exported) && (total == len(r.Symbols) || total > mostListed) {
		r.Symbols = form.symbols(r.Symbols)
		total = len(r.Symbols)
		if len(form.Kinds) > 0 {
			what = form.Kinds[0]
		}
		if form.Exported {
			what = "exported " + what
		}
		if total == 0 {
			return []string{"There is no " + what + a.where(r) + ".", r.note()}
		}
	}
	if total == 0 {
		return []string{r.searched("There is no symbol"+a.where(r), "No symbol"+a.where(r)), r.note()}
	}
	head := english.Count(total, what) + withMethods(form.Kinds, r.Symbols) + a.where(r)
	lines := firstRows(most, r.Symbols, total, what, func(i item) string {
		return strings.TrimSpace(code(cmp.Or(i.Signature, i.Qualified, i.Name))+" "+legible(i.Kind)) + prefixed(" at ", i.place())
	})
	return append([]string{head + ":", lines}, r.ended()...)
}

// where says where symbols were looked for, or by which name.
func (a answerer) where(r result) string {
	switch r.Path {
	case "":
		return " with a name like " + a.about()
	case ".":
		return " in the code"
	default:
		return " in " + code(r.Path)
	}
}

func (a answerer) definitions(r result) []string {
	if len(r.Definitions) == 0 {
		// The note lists the candidates.
		return []string{r.searched("Nothing in the workspace defines "+a.about(), "No definition of "+a.about()), r.note()}
	}
	shown := r.Definitions[:min(len(r.Definitions), maxRows)]
	var parts []string
	for _, d := range shown {
		name := cmp.Or(d.Qualified, d.Name, a.in.Target)
		head := code(name)
		if kind := legible(d.Kind); kind != "" {
			head = "The " + kind + " " + head
		}
		head += prefixed(" is defined at ", d.place())
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
	name, defined := orCode(r.Symbol, a.about()), ""
	if a.in.Params["of"] == "tests" {
		return a.covering(r, name)
	}
	if r.Definition != nil {
		defined = r.Definition.place()
	}
	uses := slices.DeleteFunc(slices.Clone(r.References), func(i item) bool {
		if i.Definition {
			defined = cmp.Or(defined, i.place())
		}
		return i.Definition
	})
	total := max(r.Total, len(r.References)) - (len(r.References) - len(uses))
	switch {
	case total <= 0 && defined == "":
		return []string{r.searched("Nothing in the workspace refers to "+name, "No reference to "+name), r.note()}
	case total <= 0:
		return []string{r.searched("Nothing uses "+name+", which is defined at "+defined, "No use of "+name+", which is defined at "+defined+","), r.note()}
	}
	head := english.Count(total, "reference") + " to " + name
	if total == len(uses) {
		head += in(uses)
	}
	lines := slices.CompactFunc(slices.Clone(uses), func(a, b item) bool { return a.Line > 0 && a.place() == b.place() }) // two on one line
	list := placed(lines, total-len(uses)+len(lines), "reference", func(i item) string {
		return strings.TrimPrefix(prefixed("in ", code(i.In))+": "+code(i.Text), ": ")
	})
	return append([]string{head + matchedBy[r.By] + prefixed("; it is defined at ", defined) + ":", list}, r.ended()...)
}

func (a answerer) summary(r result) []string {
	return []string{cmp.Or(prose(r.Summary), orCode(r.Title, "There is nothing to say about "+a.about()+"."))}
}

// matchedBy says how the places of a result were found.
var matchedBy = map[string]string{"types": ", matched by type", "words": ", matched by name only", "text": ", matched as text"}

// fileLine writes a file of a change, with the lines added and removed.
func fileLine(i item) string {
	line := code(i.Path)
	if i.Added != nil && i.Removed != nil {
		line += fmt.Sprintf(" +%d −%d", *i.Added, *i.Removed)
	}
	line += prefixed(" ", legible(i.Status))
	if i.Staged {
		line += " (staged)"
	}
	return line
}

func (a answerer) changed(r result) []string {
	head := "Changed"
	whole := a.in.Params["remove"] != "" || a.in.Action == create && a.in.Params["of"] != "" // what the words name
	switch with, replaces := a.in.Params["with"]; {
	case whole && a.in.Action == create:
		head = "Created " + a.about()
	case a.in.Action == rename:
		head = "Renamed " + a.about() + prefixed(" to ", code(a.in.Params["new_name"]))
	case replaces && with == "", a.in.Params["remove"] != "":
		head = "Removed " + a.about()
	case replaces:
		head = "Replaced " + a.about() + " with " + code(with)
	}
	change := a.result("code.transform")
	switch n := len(r.Files.list); {
	case change.isObject():
		head += ": " + change.edits() + matchedBy[change.By]
	case n > 0 && !whole && head == "Changed":
		head += " " + english.Count(n, "file")
	case n > 0 && !whole:
		head += " in " + english.Count(n, "file")
	}
	return []string{head + ".", rows(r.Files.list, 0, "file", fileLine), change.note()}
}

// edits counts the edits of a change.
func (r result) edits() string {
	return english.Count(r.Edits, "edit") + " in " + english.Count(len(r.Files.list), "file")
}

// transformed tells of a change that was worked out but not made. Who denied it has seen
// its diff at the gate.
func (a answerer) transformed(r result) []string {
	if r.Edits == 0 && len(r.Files.list) == 0 {
		return []string{"There is nothing to change for " + a.about() + ".", r.note()}
	}
	parts := []string{"Not changed yet: " + r.edits() + ".", rows(r.Files.list, 0, "file", fileLine), r.note()}
	if slices.ContainsFunc(a.steps, deniedAtGate) {
		return parts
	}
	return append(parts, fence("diff", r.Diff))
}

// untested reports whether test.run passed without a test.
func (r result) untested() bool { return r.Passed && strings.HasPrefix(r.Summary, plan.NoTests) }

// Untested reports whether a result of test.run says that it passed without a test.
func Untested(result any) bool { return resultOf(result).untested() }

func (a answerer) tests(r result) []string {
	if r.untested() && a.in.Params["tests"] != "" {
		return []string{"No tests were run: there are none here."}
	}
	ran := cmp.Or(a.in.Params["ran"], "tests")
	if r.untested() {
		return []string{"There are no " + ran + " to run here.", a.in.Params["left_out"]}
	}
	lines := make([]string, 0, len(r.Failures))
	for _, f := range r.Failures {
		message := strings.TrimPrefix(f.Message, fmt.Sprintf("%s:%d: ", path.Base(f.File), f.Line)) // as Go begins it
		lines = append(lines, strings.TrimSpace(code(f.Name)+prefixed(" at ", f.place())+prefixed(": ", code(message))))
	}
	for _, name := range r.Failed {
		if name != "" && !slices.ContainsFunc(r.Failures, func(f item) bool { return f.Name == name }) {
			lines = append(lines, code(name))
		}
	}
	head := "The " + ran + " fail"
	if r.Passed {
		head = "The " + ran + " pass"
	}
	summary := strings.TrimPrefix(strings.TrimPrefix(r.Summary, "the tests passed"), ": ")
	if packages, tests, ok := strings.Cut(summary, "; "); ok && packageCount.MatchString(packages) {
		if strings.Contains(tests, ",") {
			tests += ","
		}
		summary = tests + " in " + packages
	}
	if strings.HasPrefix(summary, fmt.Sprintf("%d failed: ", len(r.Failed))) { // the list below names them
		summary = english.Count(len(lines), "failure")
	}
	return append(verdict(head, summary, lines, "failure"), a.in.Params["left_out"])
}

// packageCount matches how many packages test.run has tested.
var packageCount = lazyregexp.New(`^\d+ packages?(?:, \d+ without tests)?$`)

func (answerer) linted(r result) []string {
	if r.Passed && len(r.Findings) == 0 {
		return []string{"The linter found nothing."}
	}
	lines := make([]string, len(r.Findings))
	for i, f := range r.Findings {
		lines[i] = strings.TrimSpace(legible(f.at()) + " " + code(f.Message))
	}
	return verdict("The linter complains", r.Summary, lines, "finding")
}

// verdict puts the summary of tests or a linter behind its head, and lists faults.
func verdict(head, summary string, lines []string, noun string) []string {
	if summary = legible(summary); summary == "" {
		head += "."
	}
	return []string{head + prefixed(": ", summary), rows(lines, 0, noun, func(line string) string { return line })}
}

func (a answerer) status(r result) []string {
	if a.in.Action == commit {
		return []string{nothingToCommit}
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
	n := len(r.Files.list)
	if n == 0 {
		return []string{head + ". Nothing is changed."}
	}
	return []string{head + ". " + english.Count(n, "file") + english.Agree(n, " is", " are") + " changed:", rows(r.Files.list, 0, "file", fileLine)}
}

func (answerer) diff(r result) []string {
	diff := fence("diff", r.Diff)
	if len(r.Files.list) == 0 && diff == "" {
		return []string{"There are no changes."}
	}
	head := fmt.Sprintf("%s changed, +%d −%d:", english.Count(len(r.Files.list), "file"), r.Added, r.Removed)
	return append([]string{head, rows(r.Files.list, 0, "file", fileLine), diff}, r.ended()...)
}

// commitShown tells the author and the message of a commit, then its changes.
func (a answerer) commitShown(r result) []string {
	day, _, _ := strings.Cut(r.Date, "T") // of an ISO date the day is enough
	head := "Commit " + shortHash(r.Hash) + prefixed(" by ", legible(r.Author)) + prefixed(" on ", legible(day)) + prefixed(": ", legible(r.Subject))
	if len(r.Files.list) == 0 && r.Diff == "" {
		return append([]string{head, fence("text", r.Body), "It changed no files."}, r.ended()...)
	}
	return append([]string{head, fence("text", r.Body)}, a.diff(r)...)
}

func (a answerer) log(r result) []string {
	since := prefixed(" since ", legible(a.in.Params["since"]))
	if len(r.Commits) == 0 && since != "" {
		return []string{"Nothing was committed" + since + "."}
	}
	if line := a.in.Params["line"]; line != "" {
		return a.lineWritten(r, "line "+legible(line)+" of "+a.about())
	}
	if len(r.Commits) == 0 {
		return []string{"There are no commits."}
	}
	hint := ""
	if a.in.Action == blame {
		hint = "To see who wrote one line, name it: " + code("blame "+a.in.Target+":1") + "."
	}
	head := "The last commits:"
	if r.Total == len(r.Commits) {
		var authors []string
		for _, c := range r.Commits {
			if name := legible(c.Author); name != "" && !slices.Contains(authors, name) {
				authors = append(authors, name)
			}
		}
		head = english.Count(r.Total, "commit") + prefixed(" by ", english.List(authors, "and")) + since + ":"
	}
	return []string{head, rows(r.Commits, r.Total, "commit", func(c item) string {
		day, _, _ := strings.Cut(c.Date, "T") // of an ISO date the day is enough
		return strings.TrimSpace(strings.Trim(shortHash(c.Hash), "`")+" "+legible(c.Subject)) + prefixed(", ", legible(c.Author)) + prefixed(", ", legible(day))
	}), hint}
}

// workspace says which folder the workspace is.
func (a answerer) workspace(result) []string {
	return []string{"This is " + orCode(a.in.Params["workspace"], "the workspace") + "."}
}

// lineWritten says who wrote a line of a file.
func (answerer) lineWritten(r result, line string) []string {
	if len(r.Commits) == 0 {
		return []string{english.Capital(cmp.Or(legible(r.Note), "nobody committed "+line)) + "."}
	}
	c := r.Commits[0]
	day, _, _ := strings.Cut(c.Date, "T")
	return []string{cmp.Or(legible(c.Author), "Somebody") + " last changed " + line + prefixed(" on ", legible(day)) + prefixed(" in ", shortHash(c.Hash)) + prefixed(": ", legible(c.Subject)) + "."}
}

func (answerer) branches(r result) []string {
	if len(r.Branches) == 0 && r.Current == "" {
		return []string{"There are no branches yet."}
	}
	head := "No branch is checked out."
	if r.Current != "" {
		head = "The branch is " + code(r.Current) + "."
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

// nothingToCommit answers a commit where no file differs from the last one.
const nothingToCommit = "Nothing to commit: no file differs from the last commit."

func (answerer) commit(r result) []string {
	if r.Hash == "" && r.Note != "" {
		return []string{nothingToCommit}
	}
	text := "Committed" + prefixed(" ", shortHash(r.Hash)) + prefixed(" on ", code(r.Branch)) + prefixed(": ", code(r.Subject))
	if r.Files.count > 0 {
		text += ", " + english.Count(r.Files.count, "file")
	}
	return []string{text + "."}
}

func (answerer) push(r result) []string {
	commits, remote := orCode(r.Branch, "the commits"), orCode(r.Remote, "the remote")
	if r.UpToDate {
		return []string{"There was nothing to push: " + remote + " already has " + commits + "."}
	}
	return []string{"Pushed " + commits + " to " + remote + "."}
}
