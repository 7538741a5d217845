package tree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync/atomic"
)

// skipped reports whether a folder holds other people's files, which no search is
// about.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", "vendor", ".venv", "venv", "__pycache__", ".tox":
		return true
	default:
		return false
	}
}

// Folder is an open folder on a walk. Opening files in it by name is faster than
// by path, and as safe.
type Folder struct {
	Root  *os.Root
	users atomic.Int32 // it is closed when there are none
}

// Hold keeps the folder open until a call of Release.
func (f *Folder) Hold() { f.users.Add(1) }

// Release undoes a Hold. The last call closes the folder.
func (f *Folder) Release() {
	if f.users.Add(-1) == 0 {
		_ = f.Root.Close() // it was only read
	}
}

const gitignore = ".gitignore"

// ignoreFile returns the text of a .gitignore, or nothing if there is none. Like
// git, it follows no link.
func ignoreFile(root *os.Root, at string) string {
	info, err := root.Lstat(at)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxIgnoreFile {
		return ""
	}
	text, err := root.ReadFile(at)
	if err != nil {
		return ""
	}
	return string(text)
}

// walker goes through folders.
type walker struct {
	ctx    context.Context //nolint:containedctx // of the one walk that it is made for
	visit  func(in *Folder, at string, d fs.DirEntry) error
	closed func() // told of a folder that cannot be read

	private func(at string) bool // no operator may read it
}

// walk visits what is in an open folder.
func (w *walker) walk(in *Folder, at string, rules *ignores) error {
	entries, err := fs.ReadDir(in.Root.FS(), ".")
	if err != nil {
		w.closed()
	}
	prefix := ""
	if at != "." {
		prefix = at + "/"
	}
	if _, ok := slices.BinarySearchFunc(entries, gitignore, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }); ok {
		rules = rules.with(at, ignoreFile(in.Root, gitignore))
	}
	for _, e := range entries {
		if w.ctx.Err() != nil {
			return context.Cause(w.ctx)
		}
		name, dir := e.Name(), e.IsDir()
		at := prefix + name
		if dir && skipped(name) || w.private(at) || rules.ignored(at, dir) {
			continue
		}
		err := w.visit(in, at, e)
		switch {
		case errors.Is(err, fs.SkipDir) && dir:
			continue
		case errors.Is(err, fs.SkipDir):
			return nil
		case err != nil:
			return err
		case dir:
			err = w.enter(in, name, at, rules)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// enter walks a folder of an open folder.
func (w *walker) enter(parent *Folder, name, at string, rules *ignores) error {
	root, err := parent.Root.OpenRoot(name)
	if err != nil {
		w.closed()
		return nil
	}
	in := &Folder{Root: root}
	in.Hold()
	defer in.Release()
	return w.walk(in, at, rules)
}
