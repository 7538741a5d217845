package workcopy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"time"

	"replan/mcpclient/workspace/tree"
)

// The most that a copy holds.
const (
	maxFiles = 500_000
	maxBytes = 16 << 30
)

// granularity is how long after a change another one may have the same time.
const granularity = 20 * time.Millisecond

// mirror makes the copy follow the folder. Paths that runs changed keep their state,
// unless all of the copy is reset.
type mirror struct {
	ctx     context.Context //nolint:containedctx // of the one pass that it is made for
	copy    *Copy
	reset   bool
	files   int
	bytes   int64
	fresh   bool // files were copied
	skipped int  // entries that cannot be read
}

// follow carries out the pass.
func (c *Copy) follow(ctx context.Context, reset bool) error {
	m := mirror{ctx: ctx, copy: c, reset: reset}
	if err := m.folder("."); err != nil {
		return err
	}
	c.unread = m.skipped
	if !m.fresh {
		return nil
	}
	// A change after this has another stamp.
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(granularity):
		return nil
	}
}

// folder makes the entries of a folder alike.
func (m *mirror) folder(dir string) error {
	if m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	here, err := entries(m.copy.folder, dir)
	if err != nil {
		return fmt.Errorf("read the folder %s: %w", dir, err)
	}
	there, err := entries(m.copy.root, dir)
	if err != nil {
		return fmt.Errorf("read the folder %s of the copy: %w", dir, err)
	}
	names := maps.Clone(here)
	maps.Copy(names, there)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		at := path.Join(dir, name)
		if at == gitName || m.copy.isPrivate(at) {
			continue // the repository is copied apart
		}
		copied := stampIn(m.copy.root, at, there[name])
		if m.reset && there[name] != nil && !copied.exists() { // a pipe, a socket or a device has no stamp
			if err := m.copy.root.Remove(at); err != nil {
				return fmt.Errorf("remove %s from the copy: %w", at, err)
			}
		}
		if err := m.entry(at, stampIn(m.copy.folder, at, here[name]), copied); err != nil {
			return err
		}
	}
	return nil
}

// entries returns the entries of a folder by name. A folder that cannot be read has
// none.
func entries(root *os.Root, dir string) (map[string]fs.DirEntry, error) {
	all, err := fs.ReadDir(root.FS(), dir)
	if err != nil && !errors.Is(err, fs.ErrPermission) && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	byName := make(map[string]fs.DirEntry, len(all))
	for _, e := range all {
		byName[e.Name()] = e
	}
	return byName, nil
}

func stampIn(root *os.Root, at string, e fs.DirEntry) stamp {
	if e == nil {
		return stamp{}
	}
	info, err := e.Info()
	if err != nil {
		return stamp{}
	}
	return stampOf(root, at, info)
}

// entry makes one path alike.
func (m *mirror) entry(at string, folder, copied stamp) error {
	known := m.copy.base[at]
	if copied != known.Copy && !m.reset {
		switch {
		case folder.isDir() && copied.isDir():
			return m.folder(at)
		case m.copy.equal(at, folder, copied):
			m.copy.know(at, pair{folder, copied})
		}
		return nil // a run changed it
	}
	if m.files++; m.files > maxFiles {
		return fmt.Errorf("the folder holds more than %d files: it is too large for a copy", maxFiles)
	}
	if m.reset && copied.isDir() && copied != known.Copy {
		_ = m.copy.root.Chmod(at, 0o700) // else its removal fails, and says so
		copied = look(m.copy.root, at)
	}
	switch {
	case folder.isDir() && copied.isDir():
		m.copy.know(at, pair{folder, copied})
		return m.folder(at)
	case !folder.exists() && copied.isDir():
		if err := m.folder(at); err != nil {
			return err
		}
		if m.copy.root.Remove(at) == nil { // it may hold what runs made
			m.copy.know(at, pair{})
		}
		return nil
	case folder == known.Folder && copied == known.Copy:
		return nil
	}
	// A pipe or socket may be there too, which has no stamp.
	if err := m.copy.root.RemoveAll(at); err != nil {
		return fmt.Errorf("remove %s from the copy: %w", at, err)
	}
	if !folder.exists() {
		m.copy.know(at, pair{})
		return nil
	}
	return m.take(at, folder)
}

// know remembers the state of a path; the zero state forgets it.
func (c *Copy) know(at string, p pair) {
	was, known := c.base[at]
	switch {
	case p == pair{}:
		c.unsaved = c.unsaved || known
		delete(c.base, at)
	case p != was:
		c.unsaved = true
		c.base[at] = p
	}
}

// take copies an entry that the copy does not have.
func (m *mirror) take(at string, folder stamp) error {
	var err error
	root := m.copy.root
	switch {
	case folder.isDir():
		err = root.Mkdir(at, folder.Mode.Perm()|0o700)
	case folder.isLink():
		err = root.Symlink(folder.Link, at)
	default:
		if m.bytes += folder.Size; m.bytes > maxBytes {
			return fmt.Errorf("the folder holds more than %d GB: it is too large for a copy", maxBytes>>30)
		}
		err = m.copyFile(at, folder)
		m.fresh = true
	}
	switch {
	case errors.Is(err, fs.ErrPermission), errors.Is(err, fs.ErrNotExist):
		m.skipped++ // not readable, or gone meanwhile
		m.copy.know(at, pair{})
		return nil
	case err != nil:
		return fmt.Errorf("copy %s: %w", at, err)
	}
	m.copy.know(at, pair{folder, look(root, at)})
	if folder.isDir() {
		return m.folder(at)
	}
	return nil
}

// copyFile copies a file with its mode and time. The file system shares the blocks if
// it can.
func (m *mirror) copyFile(at string, folder stamp) (err error) {
	from, err := m.copy.folder.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only read
	if info, err := from.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, fs.ErrNotExist)
	}
	to, err := m.copy.root.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	modified := time.Unix(0, folder.Modified)
	return errors.Join(err, to.Chmod(folder.Mode.Perm()), to.Close(), m.copy.root.Chtimes(at, modified, modified))
}

// equal reports whether a path is the same in the folder and in the copy.
func (c *Copy) equal(at string, folder, copied stamp) bool {
	switch {
	case folder.Mode != copied.Mode, folder.Link != copied.Link, folder.Size != copied.Size:
		return false
	case !folder.Mode.IsRegular() || !folder.exists():
		return true
	}
	a, err := c.folder.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return false
	}
	defer a.Close() //nolint:errcheck // it was only read
	b, err := c.root.OpenFile(at, os.O_RDONLY|tree.NonBlocking, 0)
	if err != nil {
		return false
	}
	defer b.Close() //nolint:errcheck // it was only read
	return sameContent(a, b)
}

// sameContent reports whether two readers have the same content.
func sameContent(a, b io.Reader) bool {
	const block = 64 << 10
	one, two := make([]byte, block), make([]byte, block)
	for {
		n, errA := io.ReadFull(a, one)
		m, errB := io.ReadFull(b, two)
		if !bytes.Equal(one[:n], two[:m]) {
			return false
		}
		if errA != nil || errB != nil {
			return endOf(errA) && endOf(errB)
		}
	}
}

func endOf(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
