package digest

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"replan/internal/english"
	"replan/internal/markdown"
	"replan/mcpclient/workspace/code/source"
)

// subject is a commit subject for a diff.
func subject(files []fileDiff, touched []touch) string {
	if from, to, n := renamed(files, touched); n > 0 {
		where := "in " + files[0].path
		if len(files) > 1 {
			where = "in " + english.Count(len(files), "file")
		}
		return fits(fmt.Sprintf("Rename %s to %s %s", from, to, where), fmt.Sprintf("Rename %s to %s", from, to))
	}
	if len(files) == 1 {
		return alone(files[0], touched[0])
	}
	if s, ok := uniform(files); ok {
		return s
	}
	main, sources, tests := -1, 0, 0
	for i, f := range files {
		switch kindOf(f.path) {
		case aTest:
			tests++
		case aSource:
			sources++
			if main < 0 || f.added+f.removed > files[main].added+files[main].removed {
				main = i
			}
		}
	}
	if sources == 1 {
		s := alone(files[main], touched[main])
		if len(files) == 1+tests {
			return fits(s+", with tests", s)
		}
		return fits(s+" and "+more(len(files)-1), s)
	}
	if main < 0 {
		main = biggest(files)
	}
	verb := "Update "
	if files[main].status == "added" {
		verb = "Add "
	}
	return fits(verb+files[main].path+" and "+more(len(files)-1), verb+base(files[main].path)+" and "+more(len(files)-1))
}

func more(n int) string { return english.Count(n, "more file") }

// uniform is the subject of a diff with the same change in all its files.
func uniform(files []fileDiff) (string, bool) {
	paths := make([]string, len(files))
	same, kind := files[0].status, kindOf(files[0].path)
	for i, f := range files {
		paths[i] = f.path
		if f.status != same {
			same = ""
		}
		if kindOf(f.path) != kind {
			kind = mixed
		}
	}
	first := files[biggest(files)].path
	switch {
	case same == "renamed":
		return moved(files), true
	case same == "removed":
		return listed("Remove ", paths, first), true
	case kind == someDependencies:
		return "Update dependencies", true
	case kind == aTest && same == "added":
		return fits("Add tests for "+english.Some(topics(paths), 2, "file"), "Add tests in "+english.Count(len(files), "file")), true
	case kind == aTest:
		return fits("Update tests of "+english.Some(topics(paths), 2, "file"), "Update tests in "+english.Count(len(files), "file")), true
	case same == "added":
		return listed("Add ", paths, first), true
	case kind == aDocument:
		return listed("Update ", paths, first), true
	default:
		return "", false
	}
}

// listed names two files, or one and how many more.
func listed(verb string, paths []string, first string) string {
	if len(paths) == 2 {
		if s := verb + paths[0] + " and " + paths[1]; utf8.RuneCountInString(s) <= MaxTitle {
			return s
		}
	}
	rest := " and " + more(len(paths)-1)
	return fits(verb+first+rest, verb+base(first)+rest)
}

func moved(files []fileDiff) string {
	from, to := path.Dir(files[0].old), path.Dir(files[0].path)
	for _, f := range files {
		if path.Dir(f.old) != from || path.Dir(f.path) != to {
			return fmt.Sprintf("Move %s", english.Count(len(files), "file"))
		}
	}
	s := fmt.Sprintf("Move %s", english.Count(len(files), "file"))
	return fits(fmt.Sprintf("%s from %s to %s", s, from, to), s)
}

// alone is the subject of a change of one file.
func alone(f fileDiff, t touch) string {
	switch kind := kindOf(f.path); {
	case f.status == "renamed":
		return fits("Move "+f.old+" to "+f.path, "Move "+base(f.old)+" to "+base(f.path), "Move "+base(f.old))
	case f.status == "removed":
		return fits("Remove "+f.path, "Remove "+base(f.path))
	case kind == aTest && f.status == "added", kind == aTest && f.removed == 0 && len(t.added) > 0:
		return fits("Add tests for "+topic(f.path), "Add tests")
	case f.status == "added":
		return fits("Add "+f.path, "Add "+base(f.path))
	case kind == someDependencies:
		return "Update dependencies"
	case kind == aTest:
		return fits("Update tests of "+topic(f.path), "Update tests")
	case kind != aSource:
		return fits("Update "+f.path, "Update "+base(f.path))
	}
	const named = 3
	in := " in " + f.path
	switch {
	case len(t.added) > 0 && len(t.added) <= named && len(t.removed) == 0:
		return fits("Add "+english.List(t.added, "and")+" to "+f.path, "Add "+english.List(t.added, "and")+" to "+base(f.path), "Add "+english.List(t.added, "and"), "Update "+f.path)
	case len(t.removed) > 0 && len(t.removed) <= named && len(t.added) == 0:
		return fits("Remove "+english.List(t.removed, "and")+" from "+f.path, "Remove "+english.List(t.removed, "and"), "Update "+f.path)
	case len(t.added) == 0 && len(t.within) > 0 && len(t.within) <= named:
		return fits("Update "+english.List(t.within, "and")+in, "Update "+english.List(t.within, "and")+" in "+base(f.path), "Update "+english.List(t.within, "and"), "Update "+f.path)
	default:
		return fits("Update "+f.path, "Update "+base(f.path))
	}
}

func biggest(files []fileDiff) int {
	best := 0
	for i, f := range files {
		if f.added+f.removed > files[best].added+files[best].removed {
			best = i
		}
	}
	return best
}

// fits is the first of several wordings short enough, on one line; the last is
// cut.
func fits(ways ...string) string {
	for _, s := range ways {
		if s = markdown.Line(s, 200); utf8.RuneCountInString(s) <= MaxTitle {
			return s
		}
	}
	return markdown.Line(ways[len(ways)-1], MaxTitle)
}

type fileKind int

const (
	aSource fileKind = iota
	aTest
	aDocument
	someDependencies
	mixed
)

// kindOf derives the purpose of a file from its name.
func kindOf(p string) fileKind {
	name := strings.ToLower(base(p))
	stem := strings.TrimSuffix(name, path.Ext(name))
	switch name {
	case "go.mod", "go.sum", "go.work", "go.work.sum", "package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml", "cargo.lock", "cargo.toml",
		"requirements.txt", "poetry.lock", "gemfile", "gemfile.lock", "composer.lock", "uv.lock":
		return someDependencies
	}
	for dir := range strings.SplitSeq(path.Dir(p), "/") {
		switch dir {
		case "test", "tests", "__tests__", "spec", "testdata":
			return aTest
		}
	}
	switch {
	case strings.HasSuffix(stem, "_test"), strings.HasPrefix(name, "test_"), strings.HasSuffix(stem, ".test"), strings.HasSuffix(stem, ".spec"),
		strings.HasSuffix(stem, "_spec"), strings.HasSuffix(base(p), "Test.java"), strings.HasSuffix(base(p), "Test.kt"), strings.HasSuffix(base(p), "Tests.cs"):
		return aTest
	}
	if lang, ok := source.LanguageOf(p); ok && lang.Sort == source.Prose && path.Ext(name) != ".golden" || !ok && (stem == "license" || stem == "readme" || stem == "authors") {
		return aDocument
	}
	return aSource
}

// topic is the subject of a test file: auth for auth_test.go.
func topic(p string) string {
	name := base(p)
	stem := strings.TrimSuffix(name, path.Ext(name))
	for _, end := range []string{"_test", ".test", ".spec", "_spec", "Tests", "Test"} {
		if s, ok := strings.CutSuffix(stem, end); ok && s != "" {
			return s
		}
	}
	if s, ok := strings.CutPrefix(stem, "test_"); ok && s != "" {
		return s
	}
	return name
}

func topics(paths []string) []string {
	var out []string
	for _, p := range paths {
		if t := topic(p); !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
