package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"replan/agent/event"
	"replan/internal/wholefile"
)

// ErrEmpty says that a journal holds no whole event: its writer was stopped before
// the first was on disk, so nothing was done because of it.
var ErrEmpty = errors.New("it holds no event, because its writer was stopped before the first; delete it")

// DamageError names the damaged line of a journal.
type DamageError struct {
	Path string
	Line int    // from 1
	Why  string // names the file of a damaged value
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at line %d: %s", e.Path, e.Line, e.Why)
}

// castagnoli is the polynomial of CRC-32C, which has hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Journal is the open journal of one run. It has one writer at a time, held by
// a file lock, and is not safe for use by several goroutines at once.
type Journal struct {
	file   *os.File
	lock   *flock.Flock
	values values
	broken error // of the failed write; a line after a torn one would be damage
}

// Create starts the journal at path, which must not exist (fs.ErrExist). It makes
// a missing folder; both are readable by the user alone. It fails with ErrLocked
// while another process has a journal of this name.
func Create(path string) (*Journal, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of journals: %w", err)
	}
	lock, err := hold(path)
	if err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create the journal: %w", err), lock.Unlock())
	}
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(err, file.Close(), lock.Unlock())
	}
	return &Journal{file: file, lock: lock, values: valuesOf(path)}, nil
}

// Open continues the journal at path: it takes the lock, reads every event, cuts
// off a torn last line and replaces a damaged one by an event that says so. New
// events follow the returned ones. It fails with an error that wraps
// fs.ErrNotExist without a journal, ErrLocked while another process has it,
// ErrEmpty without an event, and a *DamageError; in all of these cases the file
// stays as it is.
func Open(path string) (*Journal, []event.Event, error) {
	// Checked first, so that no lock file is left for a missing journal.
	if _, err := os.Stat(path); err != nil {
		return nil, nil, fmt.Errorf("open the journal: %w", err)
	}
	lock, err := hold(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("open the journal: %w", err), lock.Unlock())
	}
	j := &Journal{file: file, lock: lock, values: valuesOf(path)}
	events, err := j.takeUp(path)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, events, nil
}

// takeUp reads the events and leaves the file ending with the last of them, on
// disk: a killed writer may have written without a sync, and the events are about
// to be acted upon.
func (j *Journal) takeUp(path string) ([]event.Event, error) {
	found, err := read(path, j.file)
	if err != nil {
		return nil, err
	}
	if len(found.events) == 0 {
		return nil, fmt.Errorf("open the journal %s: %w", path, ErrEmpty)
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
	return found.events, nil
}

// replaceBroken replaces a damaged last line by an event that says so, at once: a
// crash between the two must not lose the damage.
func (j *Journal) replaceBroken(path string, found contents) ([]event.Event, error) {
	last := found.events[len(found.events)-1]
	damaged := event.Event{Seq: last.Seq + 1, Time: last.Time, Run: last.Run, Data: event.JournalDamaged{Line: len(found.events) + 1}}
	line, err := damaged.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	whole := make([]byte, found.whole)
	if _, err := j.file.ReadAt(whole, 0); err != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	if err := j.file.Close(); err != nil { // no open file can be replaced on Windows
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", err)
	}
	writeErr := wholefile.Write(path, seal(whole, line))
	if j.file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0); err != nil { //nolint:gosec // the caller chose the path
		return nil, errors.Join(writeErr, fmt.Errorf("open the journal: %w", err))
	}
	if writeErr != nil {
		return nil, fmt.Errorf("replace the damaged line of the journal: %w", writeErr)
	}
	return append(found.events, damaged), nil
}

// Append writes the events, which must not be passing ones, and returns once
// they are on disk, large values first. One fsync of the journal serves all of
// them. Once it has failed it fails always.
func (j *Journal) Append(events ...event.Event) error {
	if len(events) == 0 || j.broken != nil {
		return j.broken
	}
	j.broken = j.write(events)
	return j.broken
}

// write is Append for a journal without an error.
func (j *Journal) write(events []event.Event) error {
	var lines []byte
	var moved []value
	for _, e := range events {
		line, err := e.MarshalJSON()
		if err != nil {
			return fmt.Errorf("the journal: %w", err)
		}
		if !readable(line) {
			return fmt.Errorf("the journal: event %d: %w", e.Seq, errTooDeep)
		}
		if len(line) > maxValue {
			var large []value
			if line, large, err = extract(line); err != nil {
				return fmt.Errorf("the journal: event %d: %w", e.Seq, err)
			}
			moved = append(moved, large...)
		}
		lines = seal(lines, line)
	}
	if err := j.values.keep(moved); err != nil {
		return fmt.Errorf("the journal: %w", err)
	}
	_, err := j.file.Write(lines)
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("the journal: %w", err) // which names the file
	}
	return nil
}

// maxDepth is how deep encoding/json and jsontext read nested values.
const maxDepth = 10000

var errTooDeep = fmt.Errorf("a value in it is nested more than %d deep, and could not be read again", maxDepth)

// readable reports whether a line can be decoded again: deeper values can be
// written, but not read. Few lines are long enough to need the check.
func readable(line []byte) bool {
	return len(line) <= maxDepth || bytes.Count(line, []byte("["))+bytes.Count(line, []byte("{")) <= maxDepth || json.Valid(line)
}

// Close releases the journal. The lock file stays: to remove it would let two
// others hold a lock on two files of one name.
func (j *Journal) Close() error {
	return errors.Join(j.file.Close(), j.lock.Unlock())
}

// Read returns the events of the journal at path, without a lock: it may still be
// written. A torn or damaged last line is left out, and torn is true; earlier
// damage is a *DamageError and comes with the events before it.
func Read(path string) (events []event.Event, torn bool, err error) {
	file, err := os.Open(path) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, false, fmt.Errorf("open the journal: %w", err)
	}
	found, err := read(path, file)
	return found.events, found.torn || found.broken, errors.Join(err, file.Close())
}

// read reads a journal from its beginning.
func read(path string, from io.Reader) (contents, error) {
	r := reader{path: path, values: valuesOf(path)}
	return r.read(from)
}

// syncDir makes a new file's name durable.
func syncDir(dir string) error {
	d, err := os.Open(dir) //nolint:gosec // the caller chose the path
	if err != nil {
		return fmt.Errorf("sync the folder %s: %w", dir, err)
	}
	// Some file systems refuse to sync a folder; the file itself is synced.
	_ = d.Sync()
	return d.Close()
}
