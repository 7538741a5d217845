package journal

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"

	"replan/agent/event"
	"replan/agent/store/values"

	"github.com/gofrs/flock"
)

// MaxValue is the size of the largest value stored in its line.
const MaxValue = values.Max

// OnFile returns a journal that writes to an open file.
func OnFile(file *os.File, path string) (*Journal, error) {
	lock, err := hold(path)
	return &Journal{file: file, lock: lock, values: valuesOf(path), codes: authentic{key: []byte("key")}}, err
}

// Disk is what a journal uses of its file.
type Disk = disk

// CreateOn is Create with another disk in place of the file.
func CreateOn(path string, on func(Disk) Disk) (*Journal, error) {
	j, err := Create(path)
	if err == nil {
		j.file = on(j.file)
	}
	return j, err
}

// OpenOn is Open with another disk in place of the file.
func OpenOn(path string, on func(Disk) Disk) (*Journal, []event.Event, error) {
	codes, err := authenticate(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	lock, err := hold(path)
	if err != nil {
		return nil, nil, err
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, nil, errors.Join(err, lock.release())
	}
	j := &Journal{file: on(file), lock: lock, values: valuesOf(path), codes: codes}
	events, err := j.takeUp(path)
	if err != nil {
		return nil, nil, errors.Join(err, j.Close())
	}
	return j, events, nil
}

// ReadText reads a journal from memory; large values are read from files beside
// path.
func ReadText(path string, text []byte) (events []event.Event, whole int64, torn bool, err error) {
	found, err := read(path, bytes.NewReader(text), authentic{})
	return found.events, found.whole, found.torn || found.broken, err
}

// Current reports whether a lock's file is still the one at its path.
func Current(lock *flock.Flock) bool { return current(lock) }
