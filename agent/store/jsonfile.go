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

// How long a change waits for that of another process, which takes
// milliseconds.
const (
	lockPatience = 5 * time.Second
	lockInterval = 5 * time.Millisecond
)

// jsonFile is a small JSON file that several processes read and change. It is
// written whole, under a lock that lies beside it. It is a cache: that it is
// whole counts, not that the newest change outlives a power cut.
type jsonFile[T any] struct {
	path  string
	what  string       // it holds, for errors
	empty T            // its content where there is no file
	sound func(T) bool // whether this program can have written the content

	mu sync.Mutex
}

// damagedError says that a file holds something else than this program wrote.
type damagedError struct{ path, what string }

func (e *damagedError) Error() string {
	return fmt.Sprintf("read the file %s: it does not hold %s and is begun anew", e.path, e.what)
}

// read returns the content. That of a damaged file is empty, with a
// *damagedError.
func (f *jsonFile[T]) read() (T, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.load()
}

// change changes the content while no other process does. A damaged file begins
// anew, which damage says; it is not a failure.
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
