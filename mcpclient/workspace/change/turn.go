package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

const (
	turnPatience = 30 * time.Second // for another process that changes files here
	turnInterval = 5 * time.Millisecond
)

// Turn waits until no other call changes files of the workspace, in this process or
// another one. The returned function ends the turn.
func (w *Writer) Turn(ctx context.Context) (release func(), err error) {
	select {
	case w.changing <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	unlock, err := w.lock(ctx)
	if err != nil {
		<-w.changing
		return nil, err
	}
	return func() { unlock(); <-w.changing }, nil
}

// lock keeps other processes from changing the workspace. The lock file is named
// after the folder without its links, so that every way to it means the same file.
func (w *Writer) lock(ctx context.Context) (unlock func(), err error) {
	if w.locks == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(w.locks, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the lock of the workspace: %w", err)
	}
	name := sha256.Sum256([]byte(w.tree.Real))
	lock := flock.New(filepath.Join(w.locks, "workspace-"+hex.EncodeToString(name[:8])+".lock"), flock.SetPermissions(0o600))
	wait, cancel := context.WithTimeout(ctx, turnPatience)
	defer cancel()
	switch _, err := lock.TryLockContext(wait, turnInterval); {
	case ctx.Err() != nil:
		return nil, errors.Join(context.Cause(ctx), lock.Close())
	case errors.Is(err, context.DeadlineExceeded):
		return nil, errors.Join(fmt.Errorf("another replan has been changing files of this folder for %v; try again", turnPatience), lock.Close())
	case err != nil:
		return nil, fmt.Errorf("lock the workspace: %w", err)
	}
	return func() { _ = lock.Unlock() }, nil // the system unlocks it when the program ends
}
