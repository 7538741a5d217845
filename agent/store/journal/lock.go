package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
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

// hold takes the lock of the journal at path, or returns ErrLocked.
func hold(path string) (*flock.Flock, error) {
	for tries := 1; ; tries++ {
		lock := flock.New(path + lockSuffix)
		held, err := lock.TryLock()
		switch {
		case err != nil:
			return nil, fmt.Errorf("lock the journal %s: %w", path, err)
		case !held && tries == lockTries:
			return nil, fmt.Errorf("open the journal %s: %w", path, ErrLocked)
		case !held:
			time.Sleep(lockInterval)
			continue
		case current(lock):
			return lock, nil
		}
		// Somebody deleted the journal and its lock file between our open and our
		// lock. A lock on an unlinked file keeps nobody out.
		if err := lock.Unlock(); err != nil {
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
	lock := flock.New(path+lockSuffix, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look at the lock of the journal %s: %w", path, err)
	}
	if !free {
		return true, nil
	}
	return false, lock.Unlock()
}
