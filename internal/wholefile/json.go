package wholefile

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// JSON is a small JSON file that several processes read and change. It is a cache:
// it must stay intact, but the last change may be lost in a power failure.
type JSON[T any] struct {
	Path  string
	What  string       // its subject, for errors
	Empty T            // the content if there is no file; Change does not alter its maps and slices in place
	Sound func(T) bool // reports whether this program can have written the content

	mu sync.Mutex
}

// DamagedError reports that a file holds something that this program did not
// write.
type DamagedError struct{ path, what string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("read the file %s: it does not contain %s; starting a new one", e.path, e.what)
}

// Read returns the content. For a damaged file it returns empty content and a
// *DamagedError.
func (f *JSON[T]) Read() (T, error) {
	data, err := os.ReadFile(f.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f.Empty, fmt.Errorf("read %s: %w", f.What, err)
	}
	return f.decode(data)
}

// Change updates the content while other processes wait, as [Edit] does. A damaged
// file starts over, which damage reports; that is no failure.
func (f *JSON[T]) Change(ctx context.Context, do func(content *T)) (damage, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	err = Edit(ctx, f.Path, func(before []byte) ([]byte, error) {
		var content T
		content, damage = f.decode(before)
		do(&content)
		var after bytes.Buffer
		enc := json.NewEncoder(&after)
		enc.SetEscapeHTML(false)
		err := enc.Encode(content)
		return after.Bytes(), err
	})
	if err != nil {
		return nil, fmt.Errorf("save %s in %s: %w", f.What, f.Path, err)
	}
	return damage, nil
}

// decode reads the content of a file; data is nil if there is none.
func (f *JSON[T]) decode(data []byte) (T, error) {
	if data == nil {
		return f.Empty, nil
	}
	var content T
	if err := json.Unmarshal(data, &content); err != nil || !f.Sound(content) {
		return f.Empty, &DamagedError{f.Path, f.What}
	}
	return content, nil
}
