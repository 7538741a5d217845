package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/gofrs/flock"
)

// ErrLocked says that another process writes this journal.
var ErrLocked = errors.New("another replan is working on it")

// lockSuffix ends the name of a journal's lock file.
const lockSuffix = ".lock"

// lockTries is how often a lock is tried for. A listing of the journals holds
// each lock for some microseconds to see whether it is free, and must not be
// taken for a writer. A time limit would not do: on a busy machine it can pass
// before the first try.
const (
	lockTries    = 11
	lockInterval = 5 * time.Millisecond
)

// hold takes the lock of the journal at path, or fails with ErrLocked.
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
		// Who deleted the journal removed the file between our opening and our
		// locking it; a lock on a file without a name keeps nobody out.
		if err := lock.Unlock(); err != nil {
			return nil, fmt.Errorf("lock the journal %s: %w", path, err)
		}
	}
}

// current reports whether the locked file is still the one of its name.
func current(lock *flock.Flock) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(lock.Path())
	return err == nil && os.SameFile(locked, named)
}

// locked reports whether the journal at path is being written. It makes no lock
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
