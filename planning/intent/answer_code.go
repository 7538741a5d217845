package intent

import (
	"path"
	"slices"
	"strings"

	"replan/internal/english"
)

// blocksOf write the result of each operator.
var blocksOf = map[string]func(answering, value) string{
	"fs.search": answering.matches, "fs.list": answering.listed, "fs.patch": answering.changed, "fs.write": answering.changed,
	"fs.move": answering.movedFile, "fs.remove": answering.changed, "fs.mkdir": answering.changed, "fs.read": answering.read,
	"code.symbols": answering.symbolList, "code.parse": answering.parsed, "code.definition": answering.definitions,
	"code.references": answering.referenceList, "code.summarize": answering.summary, "code.transform": answering.transformed,
	runTests: answering.testRun, "test.lint": answering.linted,
	"vcs.status": answering.statusOf, "vcs.diff": answering.diffOf, "vcs.log": answering.logOf, "vcs.branches": answering.branchList,
	"vcs.branch": answering.branchOf, "vcs.commit": answering.committed, "vcs.push": answering.pushed,
	"proc.run": answering.ran,
}

// about is the target as a code span.
func (a answering) about() string {
	if about := code(a.in.Target); about != "" {
		return about
	}
	return "what was asked for"
}

// cutShort says that an operator returned less than there is.
func cutShort(v value) string {
	if v.at("truncated").flag() {
		return "\n\nThis is not all: the result was cut short."
	}
	return ""
}

func (a answering) matches(v value) string {
	found := v.at("matches").list()
	total := max(v.at("total").number(), len(found))
	if total == 0 {
		if files := a.result("fs.list"); a.in.Action == find && len(a.named(files)) > 0 {
			return "" // the file itself was found
		}
		head := "Nothing in the workspace matches " + a.about()
		if a.in.Action == debug {
			head = "No test, no package and no text is called " + a.about()
		}
		return head + a.where() + ". Try fewer words, a part of the name, or another spelling."
	}
	files := map[string]bool{}
	lines := make([]string, len(found))
	for i, m := range found {
		files[m.at("path").text()] = true
		lines[i] = strings.TrimSpace(m.place() + " " + code(m.at("text").text()))
	}
	head := english.Count(total, "match") + " of " + a.about()
	if a.in.Action == debug {
		head = "No test and no package is called " + a.about() + ", so none was run. " + head
	}
	if within := v.at("files").number(); within > 0 {
		head += " in " + english.Count(within, "file")
	} else if total == len(found) {
		head += " in " + english.Count(len(files), "file")
	}
	return head + ":\n\n" + rows(lines, total, "match") + cutShort(v) + a.more(total, "find "+a.in.Target, found)
}

// named lists the entries of a folder that the target names.
func (a answering) named(v value) []string {
	target := pathOf(a.in.Target)
	var names []string
	for _, entry := range v.at("entries").list() {
		name := entry.at("path").text()
		fits, _ := path.Match(target, name)
		byBase, _ := path.Match(target, path.Base(name))
		if fits || byBase || strings.HasSuffix(name, "/"+target) {
			names = append(names, code(name))
		}
	}
	return names
}

func (a answering) listed(v value) string {
	if a.in.Action != find {
		return ""
	}
	if a.in.Params["of"] == "packages" {
		return a.packages(v)
	}
	if a.in.Target == "" {
		return a.folder(v)
	}
	names := a.named(v)
	if len(names) == 0 {
		return ""
	}
	return filesAre(len(names)) + " called " + a.about() + ":\n\n" + rows(names, 0, "file") + cutShort(v)
}

// where is the place that the words name, with a blank before it.
func (a answering) where() string {
	if in := code(a.in.Params["in"]); in != "" {
		return " in " + in
	}
	return ""
}

// packages lists the folders that hold source code.
func (a answering) packages(v value) string {
	var folders []string
	files := map[string]int{}
	for _, e := range v.at("entries").list() {
		at := e.at("path").text()
		if e.at("type").text() == "dir" || testFileOf(at) == "" {
			continue
		}
		folder := path.Dir(at)
		if files[folder]++; files[folder] == 1 {
			folders = append(folders, folder)
		}
	}
	slices.Sort(folders)
	lines := make([]string, len(folders))
	for i, folder := range folders {
		lines[i] = code(folder) + ", " + english.Count(files[folder], "file")
	}
	if len(lines) == 0 {
		return "No folder" + a.where() + " holds source code."
	}
	return english.Count(len(lines), "package") + a.where() + ":\n\n" + rows(lines, 0, "package") + cutShort(v)
}

// folder lists all entries of a folder.
func (a answering) folder(v value) string {
	entries := v.at("entries").list()
	lines := make([]string, len(entries))
	for i, e := range entries {
		name := e.at("path").text()
		if e.at("type").text() == "dir" {
			name += "/"
		}
		lines[i] = code(name)
	}
	where := code(a.in.Params["in"])
	if where == "" {
		where = "the workspace"
	}
	if len(lines) == 0 {
		return "There is nothing in " + where + "."
	}
	return english.Count(len(lines), "entry") + " in " + where + ":\n\n" + rows(lines, 0, "entry") + cutShort(v) + a.more(len(lines), "list files", entries)
}

// more says how to see the rows beyond the bound of a list.
func (a answering) more(total int, words string, found []value) string {
	if total <= maxRows {
		return ""
	}
	text := "\n\nTo see more, ask with `--output json`"
	for _, f := range found {
		if folder, _, below := strings.Cut(f.at("path").text(), "/"); below && folder != "" && a.in.Params["in"] == "" {
			return text + ", or name a folder: " + code(words+" in "+folder+"/") + "."
		}
	}
	return text + "."
}

func (answering) read(v value) string { return fence("", v.text()) }

// symbolLines write symbols, each with its place.
func symbolLines(symbols []value) []string {
	lines := make([]string, len(symbols))
	for i, s := range symbols {
		name := s.at("signature").text()
		for _, key := range []string{"qualified", "name"} {
			if name == "" {
				name = s.at(key).text()
			}
		}
		line := strings.TrimSpace(code(name) + " " + plain(s.at("kind").text()))
		if where := s.place(); where != "" {
			line += " at " + where
		}
		lines[i] = line
	}
	return lines
}

func (a answering) symbolList(v value) string {
	found := v.at("symbols").list()
	total := max(v.at("total").number(), len(found))
	if total == 0 {
		return "There are no symbols in or like " + a.about() + ". Try a part of the name, or search the text: find " + a.about() + "."
	}
	about := " like " + a.about()
	if file := code(v.at("path").text()); file != "" {
		about = " in " + file
	}
	return english.Count(total, "symbol") + about + ":\n\n" + rows(symbolLines(found), total, "symbol") + cutShort(v) + a.more(total, "list symbols", found) + noted(v)
}

func (a answering) parsed(v value) string {
	head := code(v.at("path").text())
	if language := plain(v.at("language").text()); language != "" {
		head += " is " + language
	}
	if n := v.at("lines").number(); n > 0 {
		head += ", " + english.Count(n, "line")
	}
	outline := v.at("outline").list()
	if len(outline) == 0 {
		return head + ", with no symbols that could be made out." + noted(v)
	}
	return head + ":\n\n" + rows(symbolLines(outline), 0, "symbol") + noted(v)
}

func (a answering) definitions(v value) string {
	found := v.at("definitions").list()
	if len(found) == 0 {
		text := "Nothing in the workspace defines " + a.about() + "."
		if note := noted(v); note != "" {
			return text + note // the note lists the candidates
		}
		return text + " Try its full name, such as Type.Method, or search the text: find " + a.about() + "."
	}
	total := max(v.at("total").number(), len(found))
	shown := found[:min(len(found), maxRows)]
	blocks := make([]string, 0, len(shown)+1)
	for _, d := range shown {
		name := d.at("qualified").text()
		if name == "" {
			name = d.at("name").text()
		}
		if name == "" {
			name = a.in.Target
		}
		head := strings.TrimSpace(code(name) + " " + plain(d.at("kind").text()))
		if where := d.place(); where != "" {
			head += " is defined at " + where
		}
		if signature := d.at("signature").text(); strings.TrimSpace(signature) != "" {
			head += ":\n\n" + fence("", signature)
		} else if text := code(d.at("text").text()); text != "" {
			head += ": " + text
		}
		if doc := strings.TrimSpace(d.at("doc").text()); doc != "" {
			head += "\n\n" + fence("text", doc)
		}
		blocks = append(blocks, head)
	}
	if rest := total - len(shown); rest > 0 {
		blocks = append(blocks, "… and "+english.Count(rest, "more definition"))
	}
	return strings.Join(blocks, "\n\n") + noted(v)
}

func (a answering) referenceList(v value) string {
	found := v.at("references").list()
	total := max(v.at("total").number(), len(found))
	name := a.about()
	if symbol := code(v.at("symbol").text()); symbol != "" {
		name = symbol
	}
	if note := v.at("note").text(); total == 0 && v.at("definition").v == nil && note != "" {
		return "Nothing in the workspace refers to " + name + "." + noted(v)
	}
	if total == 0 {
		return "Nothing refers to " + name + ". Try its full name, such as Type.Method, or search the text: find " + a.about() + "."
	}
	files := map[string]bool{}
	var lines []string
	defined := v.at("definition").place()
	for _, r := range found {
		if r.at("definition").flag() { // it is no use
			total--
			if defined == "" {
				defined = r.place()
			}
			continue
		}
		files[r.at("path").text()] = true
		line := r.place()
		if within := code(r.at("in").text()); within != "" {
			line += " in " + within
		}
		lines = append(lines, strings.TrimSpace(line+": "+code(r.at("text").text())))
	}
	if total <= 0 {
		return "Nothing uses " + name + " besides its definition at " + defined + "." + noted(v)
	}
	head := english.Count(total, "reference") + " to " + name
	if total == len(lines) {
		head += " in " + english.Count(len(files), "file")
	}
	if by := plain(v.at("by").text()); by != "" {
		head += ", found by " + by
	}
	switch counted := total < max(v.at("total").number(), len(found)); {
	case defined == "":
	case counted: // among the uses in the tool's own total, which is on the screen too
		head += "; its definition at " + defined + " is not counted"
	default:
		head += "; it is defined at " + defined
	}
	return head + ":\n\n" + rows(lines, total, "reference") + cutShort(v) + a.more(total, "where is "+a.in.Target+" used", found) + noted(v)
}

func (a answering) summary(v value) string {
	if text := prose(v.at("summary").text()); text != "" {
		return text
	}
	if title := code(v.at("title").text()); title != "" {
		return title
	}
	return "There is nothing to tell of " + a.about() + "."
}
