package tree

import (
	"context"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Index remembers what the folders of a tree hold, and what [Index.Learn] derives from its
// files. A walk reads a folder again only if it has changed since. Several goroutines may use it.
type Index struct {
	tree *Tree

	learning sync.Mutex  // held by the only Learn that is under way
	learned  atomic.Bool // some Learn came to its end

	mu      sync.Mutex
	top     *ignores // rules from outside of the tree, see [Tree.repositoryIgnores]
	folders map[string]*folderListing
	reads   int    // folders read, in all walks
	changes *watch // of what was learned; nil if nothing reports changes
	closed  bool
}

// NewIndex returns an empty index of a tree.
func NewIndex(t *Tree) *Index { return &Index{tree: t} }

// folderListing is what a folder held when it was read.
type folderListing struct {
	read       time.Time     // before it was read
	folder     fs.FileInfo   // changed when an entry was last added, removed or renamed; nil if unreadable
	entries    []*indexEntry // by name
	ignoring   bool          // it has a .gitignore
	ignoreText string
	outer      *ignores
	rules      *ignores // of .gitignore, then outer
	watched    atomic.Pointer[watch]
}

// indexEntry is a file or folder that a walk visits.
type indexEntry struct {
	at, name string
	dir      bool
	regular  bool
	content  atomic.Pointer[content] // nil if nothing is known of it
	current  atomic.Pointer[watch]   // would have told if content no longer were
}

// settles is how long after a change a folder may change again without a new time. File
// systems count in steps of up to two seconds.
const settles = 2 * time.Second

// Walk visits the entries below the top as [Tree.Walk] does. It returns a number that is the
// same as in another walk if no folder has changed between them.
func (x *Index) Walk(ctx context.Context, visit func(at string, dir bool)) (version int, err error) {
	return x.walkAll(ctx, visit, func(*Folder, *folderListing) {})
}

// walkAll is like Walk and calls enter for each folder before what is in it is visited.
func (x *Index) walkAll(ctx context.Context, visit func(at string, dir bool), enter func(in *Folder, f *folderListing)) (version int, err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if top := x.tree.repositoryIgnores(ctx); !reflect.DeepEqual(top, x.top) {
		x.top = top
	}
	root, err := x.tree.Root.OpenRoot(".")
	if err != nil {
		return 0, err
	}
	w := indexWalk{x: x, ctx: ctx, before: x.folders, now: make(map[string]*folderListing, len(x.folders)), visit: visit, enter: enter}
	if err = w.walk(root, ".", x.top); err == nil {
		x.folders = w.now
	}
	return x.reads, err
}

// indexWalk is one walk of an index.
type indexWalk struct {
	x           *Index
	ctx         context.Context           //nolint:containedctx // of the one walk that it is made for
	before, now map[string]*folderListing // the folders as they were in the walk before, and are in this one
	visit       func(at string, dir bool)
	enter       func(in *Folder, f *folderListing)
}

// walk visits what is in an open folder, and closes it.
func (w *indexWalk) walk(root *os.Root, at string, outer *ignores) error {
	in := &Folder{Root: root}
	in.Hold()
	defer in.Release()
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	f := w.x.read(w.before[at], root, at, outer)
	w.now[at] = f
	w.enter(in, f)
	for _, e := range f.entries {
		w.visit(e.at, e.dir)
		if !e.dir {
			continue
		}
		inner, err := root.OpenRoot(e.name)
		if err != nil {
			continue // as unreadable folders are passed over
		}
		if err := w.walk(inner, e.at, f.rules); err != nil {
			return err
		}
	}
	return nil
}

// read returns what a folder holds: as before, unless the folder, its .gitignore or the
// rules of a parent have changed.
func (x *Index) read(before *folderListing, in *os.Root, at string, outer *ignores) *folderListing {
	now := &folderListing{read: time.Now(), outer: outer, rules: outer}
	if info, err := in.Stat("."); err == nil {
		now.folder = info
	}
	if before != nil && before.ignoring {
		now.ignoreText = ignoreFile(in, gitignore)
	}
	same := before != nil && before.outer == outer && before.ignoreText == now.ignoreText
	if same && before.holds(now.folder) {
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
		name, dir := prefix+e.Name(), e.IsDir()
		if dir && skipped(e.Name()) || x.tree.Closed(name) || now.rules.ignored(name, dir) {
			continue
		}
		now.entries = append(now.entries, before.entry(name, len(prefix), dir, e.Type().IsRegular()))
	}
	return now
}

// holds reports whether a folder is the one that was read, and as it was.
func (f *folderListing) holds(now fs.FileInfo) bool {
	return f.folder != nil && now != nil && os.SameFile(f.folder, now) && f.folder.ModTime().Equal(now.ModTime()) && f.read.Sub(now.ModTime()) > settles
}

// entry returns the entry of a name, with what is known of it if there was such an entry before.
func (f *folderListing) entry(at string, folder int, dir, regular bool) *indexEntry {
	if f != nil {
		if i, ok := slices.BinarySearchFunc(f.entries, at[folder:], func(e *indexEntry, name string) int { return strings.Compare(e.name, name) }); ok {
			if e := f.entries[i]; e.dir == dir && e.regular == regular {
				return e
			}
		}
	}
	return &indexEntry{at: at, name: at[folder:], dir: dir, regular: regular}
}

// watch notes which watch tells of changes in the folder.
func (f *folderListing) watch(w *watch) { f.watched.Store(w) }

// watchedBy returns a watch if it tells of changes in the folder.
func (f *folderListing) watchedBy(w *watch) *watch {
	if f.watched.Load() != w {
		return nil
	}
	return w
}

// written marks a file that was written to.
func (f *folderListing) written(name string) {
	if f == nil {
		return
	}
	if i, ok := slices.BinarySearchFunc(f.entries, name, func(e *indexEntry, name string) int { return strings.Compare(e.name, name) }); ok {
		f.entries[i].current.Store(nil)
	}
}
