package journal

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"replan/agent/event"
	"replan/internal/wholefile"
)

// DamageError describes a damaged line of a journal.
type DamageError struct {
	Path string
	Line int    // starting at 1
	Why  string // includes the file of a damaged value
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at line %d: %s", e.Path, e.Line, e.Why)
}

// castagnoli is the polynomial of CRC-32C, which has hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// disk is what a journal uses of its file. Tests make it fail.
type disk interface {
	io.ReadWriteCloser
	io.ReaderAt
	Truncate(size int64) error
	Sync() error
}

// Journal is the open journal of one run. A file lock limits it to one writer at
// a time. It is not safe for concurrent use.
type Journal struct {
	file   disk
	lock   *lock
	values valueFolder
	codes  authentic
	lines  int   // that are on disk
	broken error // of the failed write; a line after a torn one would count as damage
}

// Create creates the journal at path, and its folder if missing; only the user
// can read them. If the journal exists, the error is fs.ErrExist; if another
// process holds a journal of this name, it is ErrLocked.
func Create(path string) (*Journal, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("create the folder of journals: %w", err)
	}
	codes, err := authenticate(dir)
	if err != nil {
		return nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		lock.note(0) // a user may have removed a journal of this name, but not its lock file
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create the journal: %w", err), lock.release())
	}
	if err := errors.Join(lock.takeJournal(path), syncDir(dir)); err != nil {
		return nil, errors.Join(err, file.Close(), lock.release())
	}
	return &Journal{file: file, lock: lock, values: valuesOf(path), codes: codes}, nil
}

// Open opens the journal at path for appending and returns its events. It takes
// the lock, cuts off a torn last line and replaces a damaged one with an event
// that reports the damage.
//
// It verifies that no program without the folder's key changed, moved or removed a
// line in the middle. The record in the lock file shows that no line is missing at
// the end. A single missing line counts as damaged.
//
// It leaves the file unchanged. It returns an error that wraps fs.ErrNotExist for a
// missing journal, ErrLocked if another process has it, and event.ErrNoEvents if it has
// no events. Other damage is a *DamageError.
func Open(path string) (*Journal, []event.Event, error) {
	// Check first, so that a missing journal leaves no lock file.
	if _, err := os.Stat(path); err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	codes, err := authenticate(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the journal: %w", err), lock.release())
	}
	j := &Journal{file: file, lock: lock, values: valuesOf(path), codes: codes}
	events, err := j.takeUp(path)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, events, nil
}

// takeUp reads the events, truncates the file after the last one and syncs it. A
// killed writer may not have synced, and the events are about to be acted on.
func (j *Journal) takeUp(path string) ([]event.Event, error) {
	found, err := read(path, j.file, j.codes)
	if err == nil {
		found, err = found.miss(path, j.lock.noted())
	}
	if err != nil {
		return nil, err
	}
	j.codes.follow(found.last)
	if len(found.events) == 0 {
		return nil, fmt.Errorf("open the journal %s: %w", path, event.ErrNoEvents)
	}
	if found.broken {
		return j.replaceBroken(path, found)
	}
	if found.torn {
		if err := j.file.Truncate(found.whole); err != nil {
			return nil, fmt.Errorf("cut off the torn end of the journal: %w", err)
		}
	}
	if err := j.file.Sync(); err != nil {
		return nil, fmt.Errorf("sync the journal: %w", err)
	}
	j.lines = len(found.events)
	j.lock.note(j.lines)
	return found.events, nil
}

// replaceBroken replaces a damaged last line with an event that reports it. It
// does so in one step, since a crash in between must not lose the damage.
func (j *Journal) replaceBroken(path string, found contents) ([]event.Event, error) {
	damaged := found.damaged()
	line, err := damaged.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	whole := make([]byte, found.whole)
	if _, err := j.file.ReadAt(whole, 0); err != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	if err := j.file.Close(); err != nil { // Windows cannot replace an open file
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	writeErr := wholefile.Write(path, seal(whole, j.codes.sign(line)))
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, errors.Join(writeErr, fmt.Errorf("open the journal: %w", err))
	}
	j.file = file
	if writeErr != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", writeErr)
	}
	if err := j.lock.takeJournal(path); err != nil {
		return nil, err
	}
	j.lines = len(found.events) + 1
	j.lock.note(j.lines)
	return append(found.events, damaged), nil
}

// Append writes durable events and returns once they are on disk, large values
// first. A single fsync of the journal covers all of them. After one failure,
// every later call fails.
func (j *Journal) Append(events ...event.Event) error {
	if len(events) == 0 || j.broken != nil {
		return j.broken
	}
	j.broken = j.write(events)
	return j.broken
}

// write is Append for a journal that has not failed.
func (j *Journal) write(events []event.Event) error {
	lines, err := j.values.seal(nil, events, &j.codes)
	if err != nil {
		return err
	}
	_, err = j.file.Write(lines)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the journal: %w", err) // includes the file name
	}
	j.lines += len(events)
	j.lock.note(j.lines)
	return nil
}

// Close releases the journal. It keeps the lock file: without it, two processes
// could lock two files of the same name.
func (j *Journal) Close() error {
	return errors.Join(j.file.Close(), j.lock.release())
}

// Read returns the events of the journal at path. It takes no lock, so the
// journal may still be growing. It skips a torn or damaged last line and sets
// torn. For earlier damage it returns a *DamageError with the events before it.
func Read(path string) (events []event.Event, torn bool, err error) {
	file, err := os.Open(path) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, false, fmt.Errorf("open the journal: %w", err)
	}
	found, err := read(path, file, authentic{})
	return found.events, found.torn || found.broken, errors.Join(err, file.Close())
}

// read reads a journal from the start, and verifies its codes if there is a key.
func read(path string, from io.Reader, codes authentic) (contents, error) {
	r := reader{path: path, values: valuesOf(path), codes: codes}
	return r.read(from)
}

// syncDir makes the name of a new file durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller chose the path
	if err != nil {
		return fmt.Errorf("sync the folder %s: %w", dir, err)
	}
	// Some file systems refuse to sync a folder; the file itself is synced.
	_ = d.Sync()
	return d.Close()
}
