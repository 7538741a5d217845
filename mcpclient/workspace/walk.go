package workspace

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

	"github.com/mark3labs/mcp-go/mcp"
)

const maxEntries = 1000 // that fs.list returns

// skipped are folders of other people's files, which no search is about.
func skipped(name string) bool {
	switch name {
	case ".git", ".hg", ".svn", "node_modules", "vendor", ".venv", "venv", "__pycache__", ".tox":
		return true
	default:
		return false
	}
}

// walk visits what is under start, which is a path from resolve, in lexical
// order. It leaves out what git ignores and the folders of skipped, but never
// start itself, and follows no links. What cannot be read is passed over.
func (o *Operators) walk(ctx context.Context, start string, visit func(at string, d fs.DirEntry) error) error {
	return o.walkFolders(ctx, start, func(_ *folder, at string, d fs.DirEntry) error { return visit(at, d) }, func() {})
}

// folder is an open folder on a walk. Files are opened in it by their names
// alone, which is faster than by their whole paths and as safe.
type folder struct {
	root  *os.Root
	users atomic.Int32 // it is closed when there are none
}

func (f *folder) hold() { f.users.Add(1) }

func (f *folder) release() {
	if f.users.Add(-1) == 0 {
		_ = f.root.Close() // it was only read
	}
}

// walkFolders is walk that also says in which open folder an entry is, nil for
// start itself, and calls closed for each folder that cannot be read. Who needs
// the folder for longer than the visit holds it.
func (o *Operators) walkFolders(ctx context.Context, start string, visit func(in *folder, at string, d fs.DirEntry) error, closed func()) error {
	info, err := o.root.Lstat(start)
	if err != nil {
		return err
	}
	switch err := visit(nil, start, fs.FileInfoToDirEntry(info)); {
	case errors.Is(err, fs.SkipDir), errors.Is(err, fs.SkipAll):
		return nil
	case err != nil || !info.IsDir():
		return err
	}
	root, err := o.root.OpenRoot(start)
	if err != nil {
		return err
	}
	w := walker{ctx: ctx, visit: visit, closed: closed, private: o.isPrivate}
	in := &folder{root: root}
	in.hold()
	defer in.release()
	err = w.walk(in, start, o.ignoresOf(start))
	if errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// ignoresOf are the rules that hold in a folder but for its own.
func (o *Operators) ignoresOf(at string) *ignores {
	g := repositoryIgnores(o.real)
	if at == "." {
		return g
	}
	dir := "."
	for name := range strings.SplitSeq(at, "/") {
		g = g.with(dir, ignoreFile(o.root, path.Join(dir, gitignore)))
		dir = path.Join(dir, name)
	}
	return g
}

const gitignore = ".gitignore"

// ignoreFile is the text of a .gitignore, empty where there is none. As git
// does, it follows no link.
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
	visit  func(in *folder, at string, d fs.DirEntry) error
	closed func() // told of a folder that cannot be read

	private func(at string) bool // belongs to the program itself
}

// walk visits what is in an open folder.
func (w *walker) walk(in *folder, at string, rules *ignores) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	entries, err := fs.ReadDir(in.root.FS(), ".")
	if err != nil {
		w.closed()
	}
	prefix := ""
	if at != "." {
		prefix = at + "/"
	}
	if _, ok := slices.BinarySearchFunc(entries, gitignore, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }); ok {
		rules = rules.with(at, ignoreFile(in.root, gitignore))
	}
	for _, e := range entries {
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
func (w *walker) enter(parent *folder, name, at string, rules *ignores) error {
	root, err := parent.root.OpenRoot(name)
	if err != nil {
		w.closed()
		return nil
	}
	in := &folder{root: root}
	in.hold()
	defer in.release()
	return w.walk(in, at, rules)
}

type listResult struct {
	Path      string      `json:"path"`
	Entries   []listEntry `json:"entries"`
	Truncated bool        `json:"truncated"`
}

type listEntry struct {
	Path string `json:"path"`
	Type string `json:"type"`           // file, dir, link or other
	Size int64  `json:"size,omitempty"` // bytes of a file
}

func (o *Operators) list(ctx context.Context, c call) (*mcp.CallToolResult, error) {
	var args struct {
		Path  string `json:"path"`
		Depth int    `json:"depth"`
	}
	if err := c.decode(&args); err != nil {
		return nil, err
	}
	if args.Depth < 0 {
		return nil, fmt.Errorf("the argument depth of fs.list must be 1 or more, not %d", args.Depth)
	}
	start, err := o.folder(args.Path)
	if err != nil {
		return nil, err
	}
	result := listResult{Path: start, Entries: []listEntry{}}
	depth := max(args.Depth, 1)
	err = o.walk(ctx, start, func(at string, d fs.DirEntry) error {
		if at == start {
			return nil
		}
		if len(result.Entries) == maxEntries {
			result.Truncated = true
			return fs.SkipAll
		}
		result.Entries = append(result.Entries, entry(at, d))
		if d.IsDir() && levels(start, at) >= depth {
			return fs.SkipDir
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", start, err)
	}
	return structured(result, fmt.Sprintf("%d entries in %s", len(result.Entries), start)), nil
}

// folder resolves a name that must be a folder; empty means the workspace.
func (o *Operators) folder(name string) (string, error) {
	if name == "" {
		return ".", nil
	}
	at, err := o.resolve(name)
	if err != nil {
		return "", err
	}
	info, err := o.root.Stat(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no folder %q in the workspace", at)
	case err != nil:
		return "", fmt.Errorf("looking at %s: %w", at, err)
	case !info.IsDir():
		return "", fmt.Errorf("%s is a file, not a folder; fs.read reads it", at)
	}
	return at, nil
}

func entry(at string, d fs.DirEntry) listEntry {
	e := listEntry{Path: at, Type: typeOf(d.Type())}
	if d.Type().IsRegular() {
		if info, err := d.Info(); err == nil {
			e.Size = info.Size()
		}
	}
	return e
}

// levels is how far below start a path lies.
func levels(start, at string) int {
	n := 1
	if start != "." {
		at = at[len(start)+1:]
	}
	for _, r := range at {
		if r == '/' {
			n++
		}
	}
	return n
}
