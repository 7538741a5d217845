//go:build windows

package wholefile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error { return write(path, data, 0o600) }

// WriteFrom is [Write] with what content writes.
func WriteFrom(path string, content io.WriterTo) error {
	return replace(path, content, 0o600, time.Time{})
}

// WriteDated is Write with a time of the last change that is not now.
func WriteDated(path string, data []byte, modified time.Time) error {
	return replace(path, bytes.NewReader(data), 0o600, modified)
}

func write(path string, data []byte, mode fs.FileMode) error {
	return replace(path, bytes.NewReader(data), mode, time.Time{})
}

// replace is write with a time of the last change; the zero time is now.
func replace(path string, content io.WriterTo, mode fs.FileMode, modified time.Time) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".whole-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // removes the file if it was not renamed
	_, err = content.WriteTo(file)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(file.Name(), modified, modified); err != nil { // leaves a zero time as it is
		return err
	}
	return os.Rename(file.Name(), path)
}

// lockName returns what is locked for the file at path, and how to open it.
func lockName(path string) (name string, flag int) { return path + ".lock", os.O_CREATE | os.O_RDWR }
