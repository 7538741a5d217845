package tree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Walk visits the entries under start in lexical order; start comes from
// [Tree.Resolve]. It skips what git ignores and folders such as node_modules, but
// never start itself. It follows no links and passes over unreadable folders.
func (t *Tree) Walk(ctx context.Context, start string, visit func(at string, d fs.DirEntry) error) error {
	return t.WalkFolders(ctx, start, func(_ *Folder, at string, d fs.DirEntry) error { return visit(at, d) }, func() {})
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

// repositoryIgnores returns the rules from outside the workspace. These are those of its
// parents up to the top of the repository, of info/exclude, and of the file for all
// repositories of the user. Rules that ignore the whole workspace do not apply, because
// the user works there.
func (t *Tree) repositoryIgnores(ctx context.Context) *ignores {
	dir := t.Real
	top, git := topOfRepository(dir)
	if top == "" {
		return nil
	}
	in, err := filepath.Rel(top, dir)
	if err != nil {
		return nil
	}
	environ := t.environ
	if environ == nil {
		environ = os.Environ()
	}
	settings := t.config.of(ctx, top, git, environ)
	g := &ignores{fold: settings.fold} // with paths from the top of the repository
	g = g.with(".", readIgnore(settings.excludes))
	g = g.with(".", readIgnore(filepath.Join(git, "info", "exclude")))
	if in == "." {
		return g
	}
	at := "."
	for name := range strings.SplitSeq(filepath.ToSlash(in), "/") {
		g = g.with(at, readIgnore(filepath.Join(top, filepath.FromSlash(at), ".gitignore")))
		at = path.Join(at, name)
		if g.ignored(at, true) {
			return nil
		}
	}
	return g.from(at + "/")
}
