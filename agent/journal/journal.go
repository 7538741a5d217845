// Package journal keeps the events of runs on disk: one file a run, one event a
// line, each line with a checksum of itself. A line that was written and synced
// is never lost; a last line that was torn by a crash is cut off; anything else
// that is damaged is refused with the number of the line.
package journal

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"

	"replan/agent"
)

// ErrLocked says that another process writes this journal.
var ErrLocked = errors.New("another replan is working on it")

// DamageError says which line of a journal is not what was written.
type DamageError struct {
	Path string
	Line int // from 1
	Why  string
}

func (e *DamageError) Error() string {
	return fmt.Sprintf("the journal %s is damaged at line %d: %s", e.Path, e.Line, e.Why)
}

// castagnoli is the polynomial of CRC-32C, which has hardware support.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 20

// Journal is the open journal of one run. It has one writer at a time, held by
// a file lock, and is not safe for use by several goroutines at once.
type Journal struct {
	file   *os.File
	lock   *flock.Flock
	broken error // of the write that failed; what follows a torn line would be damage
}

// Create starts the journal at path, which must not exist. The folder is made
// where it is missing; both are readable by the user alone.
func Create(path string) (*Journal, error) {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of journals: %w", err)
	}
	lock := flock.New(path + ".lock")
	held, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the journal %s: %w", path, err)
	}
	if !held {
		return nil, fmt.Errorf("open the journal %s: %w", path, ErrLocked)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, errors.Join(fmt.Errorf("create the journal: %w", err), lock.Unlock())
	}
	if err := syncDir(dir); err != nil {
		return nil, errors.Join(err, file.Close(), lock.Unlock())
	}
	return &Journal{file: file, lock: lock}, nil
}

// Append writes the events, which must not be passing ones, and returns once
// they are on disk. One fsync serves all of them. Once it has failed it fails
// always.
func (j *Journal) Append(events ...agent.Event) error {
	if len(events) == 0 || j.broken != nil {
		return j.broken
	}
	var buf bytes.Buffer
	for _, e := range events {
		line, err := seal(e)
		if err != nil {
			return err
		}
		buf.Write(line)
	}
	_, err := j.file.Write(buf.Bytes())
	if err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		j.broken = fmt.Errorf("the journal: %w", err) // which names the file
	}
	return j.broken
}

// Close releases the journal. The lock file stays: to remove it would let two
// others hold a lock on two files of one name.
func (j *Journal) Close() error {
	return errors.Join(j.file.Close(), j.lock.Unlock())
}

// seal writes one event as a line whose last field is the checksum of the line
// as it would be without that field.
func seal(e agent.Event) ([]byte, error) {
	line, err := e.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	sum := crc32.Checksum(line, castagnoli)
	sealed := append(line[:len(line)-1:len(line)-1], fmt.Sprintf(`,"crc":"%08x"}`, sum)...)
	return append(sealed, '\n'), nil
}

// crcField is how a line ends: ,"crc":"01234567"}
const crcField = len(`,"crc":"01234567"}`)

// unseal checks one line and returns the event in it.
func unseal(line []byte) (agent.Event, error) {
	var e agent.Event
	cut := len(line) - crcField
	if cut < 0 || !bytes.HasPrefix(line[cut:], []byte(`,"crc":"`)) || !bytes.HasSuffix(line, []byte(`"}`)) {
		return e, errors.New("it has no checksum")
	}
	body := append(bytes.Clone(line[:cut]), '}')
	written := string(line[cut+len(`,"crc":"`) : len(line)-len(`"}`)])
	if sum := fmt.Sprintf("%08x", crc32.Checksum(body, castagnoli)); sum != written {
		return e, fmt.Errorf("its checksum is %s where %s was written", sum, written)
	}
	if err := json.Unmarshal(body, &e); err != nil {
		return e, err
	}
	return e, nil
}

// Read returns the events of the journal at path. A last line that was torn is
// left out, and torn is true; damage before it is a *DamageError.
func Read(path string) (events []agent.Event, torn bool, err error) {
	file, err := os.Open(path) //nolint:gosec // the caller chose the path
	if err != nil {
		return nil, false, fmt.Errorf("open the journal: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	in := bufio.NewReaderSize(file, 64<<10)
	for number := 1; ; number++ {
		line, readErr := in.ReadBytes('\n')
		if len(line) > maxLine {
			return events, false, &DamageError{path, number, "it is longer than any line that is written"}
		}
		whole := bytes.HasSuffix(line, []byte("\n"))
		if len(line) > 0 {
			e, bad := unseal(bytes.TrimSuffix(line, []byte("\n")))
			_, more := in.Peek(1)
			switch {
			case bad == nil && whole:
				events = append(events, e)
			case errors.Is(more, io.EOF):
				return events, true, nil
			default:
				return events, false, &DamageError{path, number, bad.Error()}
			}
		}
		if errors.Is(readErr, io.EOF) {
			return events, false, nil
		}
		if readErr != nil {
			return events, false, fmt.Errorf("read the journal %s: %w", path, readErr)
		}
	}
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
