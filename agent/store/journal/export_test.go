package journal

import (
	"bytes"
	"os"

	"replan/agent/event"

	"github.com/gofrs/flock"
)

// MaxValue is the size of the largest value stored in its line.
const MaxValue = maxValue

// OnFile returns a journal that writes to an open file.
func OnFile(file *os.File, path string) (*Journal, error) {
	lock, err := hold(path)
	return &Journal{file: file, lock: lock, values: valuesOf(path), codes: authentic{key: []byte("key")}}, err
}

// ReadText reads a journal from memory; large values are read from files beside
// path.
func ReadText(path string, text []byte) (events []event.Event, whole int64, torn bool, err error) {
	found, err := read(path, bytes.NewReader(text), authentic{})
	return found.events, found.whole, found.torn || found.broken, err
}

// Current reports whether a lock's file is still the one at its path.
func Current(lock *flock.Flock) bool { return current(lock) }
