package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
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

// Walk visits the entries under start in lexical order; start comes from
// [Tree.Resolve]. It skips what git ignores and folders such as node_modules, but
// never start itself. It follows no links and passes over unreadable folders.
func (t *Tree) Walk(ctx context.Context, start string, visit func(at string, d fs.DirEntry) error) error {
	return t.WalkFolders(ctx, start, func(_ *Folder, at string, d fs.DirEntry) error { return visit(at, d) }, func() {})
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

// WalkFolders is like [Tree.Walk] and passes the open folder of each entry, nil for
// start itself. A visitor that needs the folder for longer calls Hold. It calls
// closed for each folder that cannot be read.
func (t *Tree) WalkFolders(ctx context.Context, start string, visit func(in *Folder, at string, d fs.DirEntry) error, closed func()) error {
	info, err := t.Root.Lstat(start)
	if err != nil {
		return err
	}
	switch err := visit(nil, start, fs.FileInfoToDirEntry(info)); {
	case errors.Is(err, fs.SkipDir), errors.Is(err, fs.SkipAll):
		return nil
	case err != nil || !info.IsDir():
		return err
	}
	root, err := t.Root.OpenRoot(start)
	if err != nil {
		return err
	}
	w := walker{ctx: ctx, visit: visit, closed: closed, private: t.Closed}
	in := &Folder{Root: root}
	in.Hold()
	defer in.Release()
	err = w.walk(in, start, t.ignoresOf(ctx, start))
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// ignoresOf returns the rules that apply to a folder, without its own.
func (t *Tree) ignoresOf(ctx context.Context, at string) *ignores {
	g := t.repositoryIgnores(ctx)
	if at == "." {
		return g
	}
	dir := "."
	for name := range strings.SplitSeq(at, "/") {
		g = g.with(dir, ignoreFile(t.Root, path.Join(dir, gitignore)))
		dir = path.Join(dir, name)
	}
	return g
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

// Folder resolves a name that must be a folder. An empty name is the workspace.
func (t *Tree) Folder(ctx context.Context, name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	at, err := t.Resolve(name)
	if err != nil {
		return "", err
	}
	info, err := t.Root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", t.noFolder(ctx, at)
	case err != nil:
		return "", fmt.Errorf("looking at %s: %w", at, err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file, not a folder; fs.read reads it", at)
	}
	return at, nil
}
