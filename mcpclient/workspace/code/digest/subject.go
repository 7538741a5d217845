package digest

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"replan/internal/english"
	"replan/internal/lazyregexp"
	"replan/internal/testfile"
	"replan/mcpclient/workspace/code/source"
)

// subject is a commit subject for a diff.
func subject(files []fileDiff) string {
	if from, to, lines := renamed(files); lines > 0 {
		where := " in " + files[0].path
		if len(files) > 1 {
			where = " in " + english.Count(len(files), "file")
		}
		return fits("Rename "+from+" to "+to+where, "Rename "+from+" to "+to)
	}
	if len(files) == 1 {
		return files[0].subject()
	}
	return several(files)
}

// several is the subject of a change of several files. It names the way in which all of
// them change, or their one kind, else the biggest.
func several(files []fileDiff) string {
	status, kind := files[0].status, kindOf(files[0].path)
	biggest, paths, topics, sources := files[0], tally{}, tally{}, 0
	for _, f := range files {
		if f.status != status {
			status = ""
		}
		if k := kindOf(f.path); k != kind {
			kind = ""
		}
		if rank(f) > rank(biggest) {
			biggest = f
		}
		if kindOf(f.path) == aSource {
			sources++
		}
		paths.add(f.path)
		topics.add(topic(f.path))
	}
	n, about := english.Count(len(files), "file"), english.Some(topics.all(), 2, "file")
	verb := map[string]string{"added": "Add ", "removed": "Remove "}[cmp.Or(status, biggest.status)]
	verb = cmp.Or(verb, "Update ")
	rest := " and " + english.Count(len(files)-1, "more file")
	more := fits(verb+biggest.path+rest, verb+path.Base(biggest.path)+rest)
	switch {
	case status == "renamed":
		return "Move " + n
	case kind == aDependency && status != "removed":
		return "Update dependencies"
	case kind == aTest && status == "added":
		return fits("Add tests for "+about, "Add tests in "+n)
	case kind == aTest && status != "removed":
		return fits("Update tests of "+about, "Update tests in "+n)
	case len(files) == 2 && len(paths.all()) == 2 && (verb != "Update " || kind == aDocument):
		return fits(verb+paths.all()[0]+" and "+paths.all()[1], more)
	case sources == 1 && kindOf(biggest.path) == aSource:
		return fits(biggest.subject()+rest, more)
	default:
		return more
	}
}

// rank orders files by what a subject is about: sources first, then by size.
func rank(f fileDiff) int {
	size := f.added + f.removed
	if kindOf(f.path) == aSource {
		size += 1 << 30
	}
	return size
}

// subject is the subject of a change of one file.
func (f fileDiff) subject() string {
	base := path.Base(f.path)
	kind := kindOf(f.path)
	update := []string{"Update " + f.path, "Update " + base}
	named := func(verb string, names []string, preposition string) string {
		s := verb + english.List(names, "and")
		return fits(append([]string{s + preposition + f.path, s + preposition + base, s}, update...)...)
	}
	few := func(names []string) bool { return len(names) > 0 && len(names) <= 3 }
	switch {
	case f.status == "renamed":
		return fits("Move "+f.old+" to "+f.path, "Move "+path.Base(f.old)+" to "+base, "Move "+path.Base(f.old))
	case f.status == "removed":
		return fits("Remove "+f.path, "Remove "+base)
	case kind == aTest && (f.status == "added" || f.removed == 0 && len(f.adds) > 0):
		return fits("Add tests for "+topic(f.path), "Add tests")
	case f.status == "added":
		return fits("Add "+f.path, "Add "+base)
	case kind == aDependency:
		return "Update dependencies"
	case kind == aTest:
		return fits("Update tests of "+topic(f.path), "Update tests")
	case kind != aSource:
		return fits(update...)
	case few(f.adds) && len(f.removes) == 0:
		return named("Add ", f.adds, " to ")
	case few(f.removes) && len(f.adds) == 0:
		return named("Remove ", f.removes, " from ")
	case few(f.within) && len(f.adds) == 0 && !f.unsure:
		return named("Update ", f.within, " in ")
	default:
		return fits(update...)
	}
}

// fileKind is the purpose of a file.
type fileKind string

const (
	aSource     fileKind = "source"
	aTest       fileKind = "test"
	aDocument   fileKind = "document"
	aDependency fileKind = "dependency"
)

var (
	dependencies = strings.Fields("go.mod go.sum go.work go.work.sum package.json package-lock.json yarn.lock pnpm-lock.yaml cargo.lock cargo.toml " +
		"requirements.txt poetry.lock gemfile gemfile.lock composer.lock uv.lock")
	testFolders = strings.Fields("test tests __tests__ spec testdata")
	documents   = strings.Fields("license readme authors")
)

// kindOf derives the purpose of a file from its name.
func kindOf(p string) fileKind {
	name := strings.ToLower(path.Base(p))
	lang, known := source.LanguageOf(p)
	inTests := slices.ContainsFunc(strings.Split(path.Dir(p), "/"), func(dir string) bool { return slices.Contains(testFolders, dir) })
	switch {
	case slices.Contains(dependencies, name):
		return aDependency
	case inTests || testfile.Is(p):
		return aTest
	case known && lang.Sort == source.Prose && path.Ext(name) != ".golden", !known && slices.Contains(documents, strings.TrimSuffix(name, path.Ext(name))):
		return aDocument
	default:
		return aSource
	}
}

// topic is the subject of a test file: auth for auth_test.go.
func topic(p string) string {
	if stem, is := testfile.Tested(p); is {
		return stem
	}
	return path.Base(p)
}

// renamed finds the renaming that is all of a diff, in more than a single changed
// line: in several, or in the declaration.
func renamed(files []fileDiff) (from, to string, lines int) {
	for _, f := range files {
		var before, after []string
		for _, h := range f.hunks {
			for _, l := range h.Lines {
				switch l.Op {
				case gitdiff.OpDelete:
					before = append(before, strings.TrimSuffix(l.Line, "\n"))
				case gitdiff.OpAdd:
					after = append(after, strings.TrimSuffix(l.Line, "\n"))
				}
			}
		}
		if f.status != "changed" || len(before) == 0 || len(before) != len(after) {
			return "", "", 0
		}
		for i := range before {
			if !swaps(before[i], after[i], &from, &to) {
				return "", "", 0
			}
		}
		lines += len(before)
	}
	if lines == 1 && (len(files[0].adds) != 1 || len(files[0].removes) != 1) {
		return "", "", 0
	}
	return from, to, lines
}

var identifiers = lazyregexp.New(`[\pL_][\pL\pN_]*|[^\pL_]+`)

// swaps reports whether two lines differ by one word for another alone, the same
// everywhere.
func swaps(before, after string, from, to *string) bool {
	a, b := identifiers.FindAllString(before, -1), identifiers.FindAllString(after, -1)
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if strings.TrimSpace(a[i]) == strings.TrimSpace(b[i]) { // gofmt aligns the text after a name
			continue
		}
		if *from == "" {
			*from, *to = a[i], b[i]
		}
		if a[i] != *from || b[i] != *to || !source.IsIdentifier(a[i]) || !source.IsIdentifier(b[i]) {
			return false
		}
	}
	return *from != ""
}
