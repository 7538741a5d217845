package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked reports that another process writes this journal.
var ErrLocked = errors.New("another replan is working on it")

// lockSuffix is the suffix of a journal's lock file.
const lockSuffix = ".lock"

// lockTries is the number of attempts to take a lock. A listing of journals holds
// each lock for some microseconds to test it, and must not count as a writer. A
// time limit would not work: on a busy machine it can expire before the first
// attempt.
const (
	lockTries    = 11
	lockInterval = 5 * time.Millisecond
)

// lock keeps other processes from a journal. It locks a file beside it, since the
// journal may not exist yet, and the journal itself, since anybody can remove that file.
type lock struct {
	beside *flock.Flock
	itself *flock.Flock // nil before the journal exists, and on Windows, where a lock would keep readers out
	head   *os.File     // the file beside the journal
}

// hold takes the lock of the journal at path, or returns ErrLocked.
func hold(path string) (*lock, error) {
	beside, err := take(path, path+lockSuffix)
	if err != nil {
		return nil, err
	}
	l := &lock{beside: beside}
	if l.head, err = os.OpenFile(beside.Path(), os.O_RDWR, 0); err != nil {
		return nil, errors.Join(fmt.Errorf("lock the journal %s: %w", path, err), l.release())
	}
	if err := l.takeJournal(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, l.release())
	}
	return l, nil
}

// takeJournal locks the journal itself: a new one, or the one that replaced the locked
// one.
func (l *lock) takeJournal(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	itself, err := take(path, path, flock.SetFlag(os.O_RDWR))
	if err == nil && l.itself != nil {
		err = l.itself.Unlock()
	}
	l.itself = itself
	return err
}

// The file beside the journal holds the number of its synced lines, in digits after the
// byte that Windows locks. It is written after they were synced, and not synced itself. A
// crash leaves a number that is too small at worst, which hides a loss and invents none.
const headAt, headDigits = 1, 19

// note records how many lines of the journal are on disk. An error leaves a smaller
// number.
func (l *lock) note(lines int) {
	_, _ = l.head.WriteAt(fmt.Appendf(nil, "%*d\n", headDigits, lines), headAt)
}

// noted returns the recorded number of lines, 0 if there is none.
func (l *lock) noted() int {
	text := make([]byte, headDigits)
	n, _ := l.head.ReadAt(text, headAt)
	lines, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return 0 // an older replan wrote the journal, or its lock file was removed
	}
	return lines
}

// release gives up the lock.
func (l *lock) release() error {
	err := l.beside.Unlock()
	if l.itself != nil {
		err = errors.Join(l.itself.Unlock(), err)
	}
	if l.head != nil {
		err = errors.Join(l.head.Close(), err)
	}
	return err
}

// take locks a file of the journal at path, or returns ErrLocked.
func take(path, name string, options ...flock.Option) (*flock.Flock, error) {
	for tries := 1; ; tries++ {
		file := flock.New(name, options...)
		held, err := file.TryLock()
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock the journal %s: %w", path, err)
		case !held && tries == lockTries:
			return nil, fmt.Errorf("open the journal %s: %w", path, ErrLocked)
		case !held:
			time.Sleep(lockInterval)
			continue
		case current(file):
			return file, nil
		}
		// Another process deleted or replaced the file between our open and our lock. A lock
		// on an unlinked file keeps no process out.
		if err := file.Unlock(); err != nil {
			return nil, fmt.Errorf("lock the journal %s: %w", path, err)
		}
	}
}

// current reports whether the locked file still has its name.
func current(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(locked, named)
}

// locked reports whether the journal at path is being written. It creates no lock
// file.
func locked(path string) (bool, error) {
	for _, name := range []string{path + lockSuffix, path} {
		if name == path && runtime.GOOS == "windows" {
			continue
		}
		file := flock.New(name, flock.SetFlag(os.O_RDONLY))
		free, err := file.TryRLock()
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return false, fmt.Errorf("look at the lock of the journal %s: %w", path, err)
		case !free:
			return true, nil
		default:
			if err := file.Unlock(); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}

// remove removes the file of the lock; a waiting process notices. Where an open file
// cannot be removed, it releases the lock first.
func (l *lock) remove() error {
	if os.Remove(l.beside.Path()) == nil {
		return l.release()
	}
	if err := l.release(); err != nil {
		return err
	}
	return os.Remove(l.beside.Path())
}
