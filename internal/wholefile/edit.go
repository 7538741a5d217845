package wholefile

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// ErrReadOnly reports that a file is set read-only.
var ErrReadOnly = errors.New("the file is read-only")

// Patience is how long [Edit] waits for another process that edits the file.
const Patience = 2 * time.Second

// Edit changes the file at path: change receives its content, nil if the file
// does not exist, and returns the new one. A link stays a link, the mode stays,
// and a read-only file stays as it is. Processes that edit the same file take
// turns. Edit creates a missing folder, readable only by the user, after it has
// called change once. It writes nothing if nothing changes.
func Edit(ctx context.Context, path string, change func(before []byte) ([]byte, error)) (err error) {
	folder := filepath.Dir(path)
	if _, err := os.Stat(folder); errors.Is(err, fs.ErrNotExist) {
		if after, err := change(nil); err != nil || len(after) == 0 {
			return err
		}
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return err
		}
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if _, err := os.Readlink(path); err == nil {
		return fmt.Errorf("the link %s leads to no file: %w", path, fs.ErrNotExist)
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	lock := lockFor(path)
	_, err = lock.TryLockContext(ctx, 10*time.Millisecond)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("another program is writing the file: %w", err)
	case err != nil:
		return fmt.Errorf("lock the folder: %w", err)
	}
	defer func() { err = errors.Join(err, lock.Unlock()) }()
	mode := fs.FileMode(0o600)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case info.Mode().Perm()&0o200 == 0:
		return ErrReadOnly
	default:
		mode = info.Mode().Perm()
	}
	before, err := os.ReadFile(path) //nolint:gosec // the caller names the file
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	after, err := change(before)
	if err != nil || string(after) == string(before) {
		return err
	}
	return write(path, after, mode)
}

// lockFor returns the lock of the file at path.
func lockFor(path string) *flock.Flock {
	name, flag := lockName(path)
	return flock.New(name, flock.SetFlag(flag), flock.SetPermissions(0o600))
}
