package tree

import (
	"context"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"sync"
	"time"
)

// Index remembers what the folders of a tree hold. A walk reads a folder again only if it
// has changed since. Several goroutines may use it.
type Index struct {
	tree *Tree

	mu      sync.Mutex
	top     *ignores // rules from outside of the tree, see [Tree.repositoryIgnores]
	folders map[string]*indexed
	reads   int // folders read, in all walks
}

// NewIndex returns an empty index of a tree.
func NewIndex(t *Tree) *Index { return &Index{tree: t} }

// indexed is what a folder held when it was read.
type indexed struct {
	read       time.Time // before it was read
	changed    time.Time // when an entry was last added, removed or renamed
	entries    []indexEntry
	ignoring   bool // it has a .gitignore
	ignoreText string
	outer      *ignores
	rules      *ignores // of .gitignore, then outer
}

// indexEntry is a file or folder that a walk visits.
type indexEntry struct {
	at, name string
	dir      bool
}

// settles is how long after a change a folder may change again without a new time: file
// systems count in steps of up to two seconds.
const settles = 2 * time.Second

// Walk visits the entries below the top as [Tree.Walk] does. It returns a number that is the
// same as in another walk if no folder has changed between them.
func (x *Index) Walk(ctx context.Context, visit func(at string, dir bool)) (version int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if top := x.tree.repositoryIgnores(ctx); !reflect.DeepEqual(top, x.top) {
		x.top = top
	}
	before := x.folders
	x.folders = make(map[string]*indexed, len(before))
	root, err := x.tree.Root.OpenRoot(".")
	if err != nil {
		return 0, err
	}
	if err = x.walk(ctx, before, root, ".", x.top, visit); err != nil {
		x.folders = nil // it may lack folders
	}
	return x.reads, err
}

// walk visits what is in an open folder, and closes it. before are the folders as they were
// in the walk before.
func (x *Index) walk(ctx context.Context, before map[string]*indexed, in *os.Root, at string, outer *ignores, visit func(at string, dir bool)) error {
	defer in.Close() //nolint:errcheck // it was only read
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := x.read(before[at], in, at, outer)
	x.folders[at] = f
	for _, e := range f.entries {
		visit(e.at, e.dir)
		if !e.dir {
			continue
		}
		inner, err := in.OpenRoot(e.name)
		if err != nil {
			continue // as unreadable folders are passed over
		}
		if err := x.walk(ctx, before, inner, e.at, f.rules, visit); err != nil {
			return err
		}
	}
	return nil
}

// read returns what a folder holds: as before, unless the folder, its .gitignore or the
// rules of a parent have changed.
func (x *Index) read(before *indexed, in *os.Root, at string, outer *ignores) *indexed {
	now := &indexed{read: time.Now(), outer: outer, rules: outer}
	if info, err := in.Stat("."); err == nil {
		now.changed = info.ModTime()
	}
	if before != nil && before.ignoring {
		now.ignoreText = ignoreFile(in, gitignore)
	}
	same := before != nil && before.outer == outer && before.ignoreText == now.ignoreText
	if same && before.changed.Equal(now.changed) && before.read.Sub(now.changed) > settles {
		return before
	}
	x.reads++
	entries, _ := fs.ReadDir(in.FS(), ".") // in an unreadable folder nothing is visited
	now.ignoring = slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == gitignore })
	if now.ignoreText = ""; now.ignoring {
		now.ignoreText = ignoreFile(in, gitignore)
		now.rules = outer.with(at, now.ignoreText)
	}
	if before != nil && before.outer == outer && before.ignoreText == now.ignoreText {
		now.rules = before.rules // the same rules for the folders below, which need not be read again
	}
	prefix := ""
	if at != "." {
		prefix = at + "/"
	}
	for _, e := range entries {
		entry := indexEntry{at: prefix + e.Name(), dir: e.IsDir()}
		if entry.dir && skipped(e.Name()) || x.tree.Closed(entry.at) || now.rules.ignored(entry.at, entry.dir) {
			continue
		}
		entry.name = entry.at[len(prefix):]
		now.entries = append(now.entries, entry)
	}
	return now
}
