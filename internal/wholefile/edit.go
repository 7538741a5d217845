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

// Edit changes the file at path: change receives its content, empty if the file
// does not exist, and returns the new one. A link stays a link, the mode stays,
// and a read-only file stays as it is. Processes that edit the same file take
// turns. Edit creates a missing folder, readable only by the user.
func Edit(ctx context.Context, path string, change func(before []byte) ([]byte, error)) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	} else if _, err := os.Readlink(path); err == nil {
		return fmt.Errorf("the link %s leads to no file: %w", path, fs.ErrNotExist)
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	lock := lockFor(path)
	if _, err := lock.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return fmt.Errorf("another program is writing the file: %w", err)
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
	if err != nil || err == nil && info != nil && string(after) == string(before) {
		return err
	}
	return write(path, after, mode)
}

// lockFor returns the lock of the file at path.
func lockFor(path string) *flock.Flock {
	name, flag := lockName(path)
	return flock.New(name, flock.SetFlag(flag), flock.SetPermissions(0o600))
}
