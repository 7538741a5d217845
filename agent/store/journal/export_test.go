package journal

import (
	"bytes"
	"os"

	"replan/agent/event"

	"github.com/gofrs/flock"
)

// MaxValue is the largest value that lies in its line.
const MaxValue = maxValue

// OnFile is a journal that writes to a file that is open already.
func OnFile(file *os.File, path string) (*Journal, error) {
	lock, err := hold(path)
	return &Journal{file: file, lock: lock, values: valuesOf(path)}, err
}

// ReadText reads a journal that is in memory; large values are looked for
// beside path.
func ReadText(path string, text []byte) (events []event.Event, whole int64, torn bool, err error) {
	found, err := read(path, bytes.NewReader(text))
	return found.events, found.whole, found.torn || found.broken, err
}

// Current is what hold asks once it has a lock.
func Current(lock *flock.Flock) bool { return current(lock) }
