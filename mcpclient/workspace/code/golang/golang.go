// Package golang knows Go source by its types: where names are declared and
// used, and which edits a new name comes to. It reads the modules of one folder
// through the go command and the type checker of the standard library, runs none
// of their code and changes no file.
//
// What is declared is found by parsing alone, in files that hold the word, so it
// answers at once and on code that does not compile. What a name denotes is asked
// of the type checker.
package golang

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"replan/mcpclient/workspace/code/source"
)

// Config says which folder is read, and with what environment.
type Config struct {
	// Dir is the folder of the workspace, absolute. No other is ever edited.
	Dir string
	// Environ is what the go command gets, as NAME=VALUE; nil means the
	// environment of this process.
	Environ []string
}

// Project is the Go code of a workspace. It keeps nothing between two calls, so
// it never answers from what a file held before, and several goroutines may use
// it.
type Project struct {
	dir     string // absolute
	real    string // dir with its links resolved
	environ []string
}

// New is cheap: nothing is read before the first question.
func New(cfg Config) *Project {
	real, err := filepath.EvalSymlinks(cfg.Dir)
	if err != nil {
		real = cfg.Dir
	}
	environ := cfg.Environ
	if environ == nil {
		environ = os.Environ()
	}
	return &Project{dir: filepath.Clean(cfg.Dir), real: real, environ: environ}
}

// References is where a name is used.
type References struct {
	Symbol source.Symbol
	Uses   []source.Reference // the declaration among them, by file and line
	Notes  []string           // what the answer may lack, in sentences
}

// Renamed is what a change of a name comes to beside its edits.
type Renamed struct {
	Symbol source.Symbol     // as it was
	Name   string            // the new one
	Also   []source.Symbol   // methods and fields that are renamed with it
	Notes  []string          // what a reader should look at, in sentences
	Read   map[string][]byte // what the files with edits held, by path
}

// Outline is what one file declares.
type Outline struct {
	Package string
	Imports []string
	Symbols []source.Symbol // in the order of the file
	Notes   []string        // the first syntax error, where there is one
}

// AmbiguousError says that a name means more than one thing.
type AmbiguousError struct {
	Name       string
	Candidates []source.Symbol
}

func (e *AmbiguousError) Error() string {
	const most = 8
	var named []string
	for _, c := range e.Candidates[:min(most, len(e.Candidates))] {
		named = append(named, fmt.Sprintf("%s (%s:%d)", c.Qualified, c.Path, c.Line))
	}
	more := ""
	if left := len(e.Candidates) - most; left > 0 {
		more = fmt.Sprintf(" and %d more", left)
	}
	return fmt.Sprintf("%s means %d things: %s%s; name one of them in full, or its place as file:line:column",
		e.Name, len(e.Candidates), strings.Join(named, ", "), more)
}

// UnknownError says that nothing has that name.
type UnknownError struct {
	Name   string
	Within string   // where it was looked for, "" for the whole workspace
	Near   []string // names that are spelled nearly so
	Found  []string // places outside Within that declare it
}

func (e *UnknownError) Error() string {
	where := "the Go code of this workspace"
	if e.Within != "" {
		where = e.Within
	}
	switch {
	case len(e.Found) > 0:
		return fmt.Sprintf("%s is not declared in %s; it is in %s", e.Name, where, strings.Join(e.Found, ", "))
	case len(e.Near) > 0:
		return fmt.Sprintf("nothing in %s is called %s; there is %s", where, e.Name, strings.Join(e.Near, ", "))
	default:
		return fmt.Sprintf("nothing in %s is called %s", where, e.Name)
	}
}

// RefusedError says why a name is not changed.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

func refuse(format string, args ...any) error {
	return &RefusedError{Reason: fmt.Sprintf(format, args...)}
}

// Governs reports whether a path of the workspace, relative to it, lies in a Go
// module: a go.mod or a go.work is in its folder or above it, inside the
// workspace.
func (p *Project) Governs(name string) bool {
	at, err := p.local(name)
	if err != nil {
		return false
	}
	for {
		for _, marker := range []string{"go.mod", "go.work"} {
			if info, err := os.Stat(p.onDisk(path.Join(at, marker))); err == nil && info.Mode().IsRegular() {
				return true
			}
		}
		if at == "." {
			return false
		}
		at = path.Dir(at)
	}
}

// local makes a name of a file or folder relative to the workspace, with
// slashes; "" is the workspace itself.
func (p *Project) local(name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	if filepath.IsAbs(name) {
		if rel, ok := p.relative(name); ok {
			return rel, nil
		}
		return "", fmt.Errorf("%s is outside the workspace; name a file relative to the workspace", name)
	}
	if !filepath.IsLocal(filepath.FromSlash(name)) {
		return "", fmt.Errorf("%s is outside the workspace; name a file relative to the workspace", name)
	}
	return path.Clean(filepath.ToSlash(name)), nil
}

// relative makes an absolute path relative to the workspace, where it is in it.
func (p *Project) relative(abs string) (string, bool) {
	for _, base := range []string{p.dir, p.real} {
		if rel, err := filepath.Rel(base, abs); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel), true
		}
	}
	return "", false
}

func (p *Project) onDisk(at string) string {
	return filepath.Join(p.dir, filepath.FromSlash(at))
}

// under reports whether at is scope or below it.
func under(at, scope string) bool {
	return scope == "." || at == scope || strings.HasPrefix(at, scope+"/")
}

// exists says in a sentence that a path is not there.
func (p *Project) exists(at string) error {
	if _, err := os.Stat(p.onDisk(at)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file or folder %q in the workspace", at)
	} else if err != nil {
		return fmt.Errorf("looking at %s: %w", at, err)
	}
	return nil
}

// sortSymbols puts them in the order of files and lines, each place once.
func sortSymbols(symbols []source.Symbol) []source.Symbol {
	slices.SortStableFunc(symbols, func(a, b source.Symbol) int { return comparePlaces(a.Place, b.Place) })
	return slices.CompactFunc(symbols, func(a, b source.Symbol) bool { return comparePlaces(a.Place, b.Place) == 0 })
}

func comparePlaces(a, b source.Place) int {
	if c := strings.Compare(a.Path, b.Path); c != 0 {
		return c
	}
	if a.Line != b.Line {
		return a.Line - b.Line
	}
	return a.Column - b.Column
}
