package tree

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"golang.org/x/text/unicode/norm"

	"replan/internal/lazyregexp"
)

// placeInFile matches the line behind a path, as searches print it.
var placeInFile = lazyregexp.New(`:\d+(?::\d+)?$`)

// spellings are other ways to write a path, for one that names nothing. The path may
// have quotes around it, a mention's sign before it, a line behind it, or a slash
// that means the workspace.
func spellings(name string) []string {
	bare := strings.TrimPrefix(strings.Trim(name, " `\"'"), "@")
	bare = placeInFile.ReplaceAllString(bare, "")
	local := strings.TrimLeft(bare, "/")
	if local == "" && strings.HasPrefix(bare, "/") {
		local = "."
	}
	var others []string
	for _, other := range []string{bare, local} {
		if other != "" && other != name && !slices.Contains(others, other) {
			others = append(others, other)
		}
	}
	return others
}

// Resolve returns the canonical path of a name: relative, with slashes, without
// links and dots. Files are compared, hashed and reported under this path. The file
// need not exist. A name of nothing that is another spelling of what exists means
// that: `/docs` and "@docs" are docs.
//
// It fails for names that lead out of the folder. [os.Root] refuses them again when
// the file is opened.
func (t *Tree) Resolve(name string) (string, error) {
	at, err := t.resolve(name)
	if err == nil && t.exists(at) {
		return at, nil
	}
	for _, other := range spellings(name) {
		if resolved, err := t.resolve(other); err == nil && t.exists(resolved) {
			return resolved, nil
		}
	}
	return at, err
}

func (t *Tree) exists(at string) bool {
	_, err := t.Root.Lstat(at)
	return err == nil
}

// NoFile returns the error for a missing file. It names similar files, or those that
// a pattern matches.
func (t *Tree) NoFile(ctx context.Context, at string) error {
	if pattern, ok := t.Pattern(at); ok {
		files, more, err := t.Matching(ctx, pattern, maxOffered)
		if err == nil && len(files) > 0 {
			and := ""
			if more {
				and = " and others"
			}
			return fmt.Errorf("%q is a pattern, and one file is wanted; it matches %s%s", at, strings.Join(files, ", "), and)
		}
	}
	return fmt.Errorf("there is no file %q in the workspace%s", at, t.similar(ctx, at, func(d fs.DirEntry) bool { return !d.IsDir() }))
}

// nothing returns the error for a missing file or folder. It names similar ones.
func (t *Tree) nothing(ctx context.Context, at string) error {
	return fmt.Errorf("there is no file or folder %q in the workspace%s", at, t.similar(ctx, at, func(fs.DirEntry) bool { return true }))
}

// noFolder returns the error for a missing folder. It names similar ones.
func (t *Tree) noFolder(ctx context.Context, at string) error {
	return fmt.Errorf("there is no folder %q in the workspace%s", at, t.similar(ctx, at, fs.DirEntry.IsDir))
}

const maxOffered = 3 // names that an error offers

// similar names the wanted entries that are most like a missing one.
func (t *Tree) similar(ctx context.Context, at string, wanted func(fs.DirEntry) bool) string {
	const most = 20_000 // names to look at
	type near struct {
		path string
		far  int
	}
	var found []near
	seen := 0
	err := t.Walk(ctx, ".", func(p string, d fs.DirEntry) error {
		if far, ok := distance(at, p); ok && p != "." && wanted(d) {
			found = append(found, near{p, far})
		}
		if seen++; seen == most {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || len(found) == 0 {
		return ""
	}
	slices.SortStableFunc(found, func(a, b near) int { return a.far - b.far })
	var names []string
	for _, n := range found[:min(len(found), maxOffered)] {
		names = append(names, n.path)
	}
	return "; similar: " + strings.Join(names, ", ")
}

// distance is how far a path is from the one that was asked for; ok is false if they
// are not alike. The same name elsewhere is nearest.
func distance(asked, at string) (far int, ok bool) {
	// Some systems write é as e and an accent.
	want, have := norm.NFC.String(strings.ToLower(path.Base(asked))), norm.NFC.String(strings.ToLower(path.Base(at)))
	stem := func(name string) string { return strings.TrimSuffix(name, path.Ext(name)) }
	inPlace := 0
	if path.Dir(asked) != path.Dir(at) {
		inPlace = 1
	}
	switch edits := levenshtein.ComputeDistance(want, have); {
	case edits == 0:
		return inPlace, true
	case stem(want) == stem(have) && stem(want) != "":
		return 2 + inPlace, true
	case edits <= max(1, min(len(want), len(have))/4):
		return 4 + 2*edits + inPlace, true
	default:
		return 0, false
	}
}

// Pattern reads a path that does not exist as a pattern of paths: ok is false if it
// holds no sign of one.
func (t *Tree) Pattern(name string) (pattern Glob, ok bool) {
	if !strings.ContainsAny(name, "*?[{") {
		return Glob{}, false
	}
	if at, err := t.Relative(name); err != nil || t.exists(at) {
		return Glob{}, false
	} else if pattern, err = NewGlob(at); err != nil {
		return Glob{}, false
	}
	return pattern, true
}

// Matching lists up to most files that a pattern matches; more reports whether there
// are others.
func (t *Tree) Matching(ctx context.Context, pattern Glob, most int) (files []string, more bool, err error) {
	err = t.Walk(ctx, ".", func(at string, d fs.DirEntry) error {
		switch {
		case !d.Type().IsRegular() || !pattern.Match(at):
			return nil
		case len(files) == most:
			more = true
			return fs.SkipAll
		}
		files = append(files, at)
		return nil
	})
	return files, more, err
}
