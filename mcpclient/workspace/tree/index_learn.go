package tree

import (
	"cmp"
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The bounds of what an index learns.
const (
	mostDerived  = 32 << 10 // bytes of the text that is kept of one file
	mostKept     = 64 << 20 // of the texts of all files
	mostLearned  = 1 << 30  // read by one Learn; the next goes on
	mostLearners = 8        // goroutines
)

// content is what is known of the content of a file.
type content struct {
	stamp Stamp
	text  string // derived
	whole bool   // text is all that there is to know
}

// Learned reports whether some Learn came to its end.
func (x *Index) Learned() bool { return x.learned.Load() }

// Learn reads the files that have changed since it last did, and keeps what derive returns of
// each, for [Index.Search]. If derive is not ok, nothing is known of the file. Of files that are
// binary or larger than [MaxFile] the text "" is kept. Walks need not wait for it. It knows the
// files of the last walk, and looks at each of them. It reads at most 1 GB and keeps at most 64
// MB. If another Learn is under way, it leaves the work to it.
func (x *Index) Learn(ctx context.Context, derive func(data []byte) (text string, ok bool)) error {
	if !x.learning.TryLock() {
		return nil
	}
	defer x.learning.Unlock()
	x.mu.Lock()
	folders := maps.Clone(x.folders)
	x.mu.Unlock()
	changes := newWatch(x.tree.Real, folders) // before files are looked at: what changes meanwhile is known
	l := learner{ctx: ctx, derive: derive}
	for _, f := range folders {
		for _, e := range f.entries {
			if c := e.content.Load(); c != nil {
				l.kept.Add(int64(len(c.text)))
			}
		}
	}
	jobs := make(chan string)
	var workers sync.WaitGroup
	for range max(min(runtime.GOMAXPROCS(0), mostLearners), 1) {
		workers.Go(func() {
			var data []byte
			for at := range jobs {
				root, err := x.tree.Root.OpenRoot(at)
				if err != nil {
					continue // it is gone, or unreadable as for the walk
				}
				for _, e := range folders[at].entries {
					if e.regular {
						data = l.learn(root, e, folders[at].watchedBy(changes), data)
					}
				}
				_ = root.Close() // it was only read
			}
		})
	}
	for _, at := range slices.Sorted(maps.Keys(folders)) {
		if ctx.Err() != nil {
			break
		}
		jobs <- at
	}
	close(jobs)
	workers.Wait()
	if ctx.Err() != nil {
		changes.end()
		return context.Cause(ctx)
	}
	x.learned.Store(true)
	x.watching(changes)
	return nil
}

// watching puts a watch in the place of the one before.
func (x *Index) watching(changes *watch) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.changes.end()
	if x.changes = changes; x.closed {
		x.changes.end()
		x.changes = nil
	}
}

// Close ends the watch of the kernel on what was learned. Without it, which is only on Linux,
// [Index.Search] looks at each file.
func (x *Index) Close() {
	x.mu.Lock()
	x.closed = true
	x.mu.Unlock()
	x.watching(nil)
}

// learner is one Learn.
type learner struct {
	ctx    context.Context //nolint:containedctx // of the one call that it is made for
	derive func(data []byte) (text string, ok bool)
	kept   atomic.Int64 // bytes of text
	read   atomic.Int64 // bytes
}

// learn reads a file into data, which it returns, unless it is as it was. A file that may
// change again without a new time is left for the next Learn. told tells of later changes.
func (l *learner) learn(in *os.Root, e *indexEntry, changes *watch, data []byte) []byte {
	if l.ctx.Err() != nil || l.read.Load() > mostLearned {
		return data
	}
	now := time.Now()
	info, err := in.Lstat(e.name)
	if err != nil || !info.Mode().IsRegular() {
		return data
	}
	stamp, settled := StampOf(info, now)
	before := e.content.Load()
	if before != nil && before.stamp == stamp {
		e.current.Store(changes)
		return data
	}
	if !settled {
		return data
	}
	c := &content{stamp: stamp, whole: true}
	if size := info.Size(); size > 0 && size <= MaxFile {
		if data, err = fill(data, in, e.name, int(size)); err != nil {
			return data
		}
		l.read.Add(size)
		if !IsBinary(data) {
			c.text, c.whole = l.derive(data)
		}
	}
	if before != nil {
		l.kept.Add(-int64(len(before.text)))
	}
	if n := int64(len(c.text)); n > mostDerived || l.kept.Add(n) > mostKept {
		c.text, c.whole = "", false
	}
	e.content.Store(c)
	e.current.Store(changes)
	return data
}

// fill reads a file that should have so many bytes into data, as far as it has room.
func fill(data []byte, in *os.Root, name string, size int) ([]byte, error) {
	f, err := OpenRegular(in, name)
	if err != nil {
		return data, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	data = slices.Grow(data[:0], size)[:size]
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.ErrUnexpectedEOF) { // it has shrunk, so the next look at it sees another size
		err = nil
	}
	return data[:n], err
}

// Search is like [Index.Walk]. Its files, for which to wait, may hold what is looked for. These
// are the regular files whose text is wanted. They have changed since [Index.Learn], or it
// knows nothing of them. They come in the order of the walk; call files in any case. Where the
// kernel tells of writes, one through a hard link or a map of memory is seen by the next Learn.
// Elsewhere it is seen at once.
func (x *Index) Search(ctx context.Context, visit func(at string, dir bool), wanted func(text string) bool) (files func() []string, version int, err error) {
	type job struct {
		in *Folder
		f  *folderListing
	}
	x.mu.Lock()
	changes := x.changes
	if !changes.take() {
		changes = nil
	}
	x.mu.Unlock()
	jobs := make(chan job, 64)
	found := make([][]string, max(min(runtime.GOMAXPROCS(0), mostLearners), 1))
	var workers sync.WaitGroup
	for i := range found {
		workers.Go(func() {
			for j := range jobs {
				found[i] = append(found[i], j.f.mayHold(ctx, j.in.Root, changes, wanted)...)
				j.in.Release()
			}
		})
	}
	version, err = x.walkAll(ctx, visit, func(in *Folder, f *folderListing) {
		in.Hold()
		jobs <- job{in, f}
	})
	close(jobs)
	return func() []string {
		workers.Wait()
		all := slices.Concat(found...)
		slices.SortFunc(all, inOrder)
		return all
	}, version, err
}

// mayHold returns the files of a folder that may hold what is looked for. It looks at those
// whose changes the kernel would not have told.
func (f *folderListing) mayHold(ctx context.Context, in *os.Root, changes *watch, wanted func(text string) bool) (files []string) {
	watched := f.watchedBy(changes) != nil
	stamp, done := stampIn, func() {}
	if !watched {
		stamp, done = stampsIn(in)
	}
	defer done()
	for _, e := range f.entries {
		if !e.regular || ctx.Err() != nil {
			continue
		}
		if c := e.content.Load(); c != nil && c.whole && !wanted(c.text) {
			if watched && e.current.Load() == changes {
				continue
			}
			if now, err := stamp(in, e.name); err == nil && now == c.stamp {
				continue
			}
		}
		files = append(files, e.at)
	}
	return files
}

// inOrder compares paths as a walk visits them: what is in a folder comes where its name does.
func inOrder(a, b string) int {
	for i := range min(len(a), len(b)) {
		switch {
		case a[i] == b[i]:
		case a[i] == '/':
			return -1
		case b[i] == '/':
			return 1
		default:
			return cmp.Compare(a[i], b[i])
		}
	}
	return cmp.Compare(len(a), len(b))
}
