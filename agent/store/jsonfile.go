package store

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"replan/internal/wholefile"
	"replan/planning/plan"
)

// Limits on the wait for another process's change, which takes milliseconds.
const (
	lockPatience = 5 * time.Second
	lockInterval = 5 * time.Millisecond
)

// jsonFile is a small JSON file that several processes read and change. It is
// replaced atomically, under a lock file beside it. It is a cache: it must stay
// intact, but the last change may be lost in a power failure.
type jsonFile[T any] struct {
	path  string
	what  string       // its subject, for errors
	empty T            // the content if there is no file
	sound func(T) bool // reports whether this program can have written the content

	mu sync.Mutex
}

// damagedError reports that a file holds something that this program did not
// write.
type damagedError struct{ path, what string }

func (e *damagedError) Error() string {
	return fmt.Sprintf("read the file %s: it does not contain %s; starting a new one", e.path, e.what)
}

// read returns the content. For a damaged file it returns empty content and a
// *damagedError.
func (f *jsonFile[T]) read() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

// change updates the content under the lock. A damaged file starts over, which
// damage reports; that is no failure.
func (f *jsonFile[T]) change(do func(content *T)) (damage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return nil, fmt.Errorf("keep %s: %w", f.what, err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), lockPatience)
	defer cancel()
	lock := flock.New(f.path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockInterval); err != nil {
		return nil, fmt.Errorf("lock %s in %s: %w", f.what, f.path, err)
	}
	content, err := f.load()
	var damaged *damagedError
	if err != nil && !errors.As(err, &damaged) {
		return nil, errors.Join(err, lock.Unlock())
	}
	do(&content)
	return err, errors.Join(f.store(content), lock.Unlock())
}

// load reads the file.
func (f *jsonFile[T]) load() (T, error) {
	data, err := os.ReadFile(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return f.empty, nil
	}
	if err != nil {
		return f.empty, fmt.Errorf("read %s: %w", f.what, err)
	}
	var content T
	if err := json.Unmarshal(data, &content); err != nil || !f.sound(content) {
		return f.empty, &damagedError{f.path, f.what}
	}
	return content, nil
}

// store writes the file.
func (f *jsonFile[T]) store(content T) error {
	data, err := plan.EncodeJSON(content)
	if err == nil {
		err = wholefile.Write(f.path, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("keep %s: %w", f.what, err)
	}
	return nil
}
