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
	return system().replace(path, content, 0o600, time.Time{})
}

// WriteDated is Write with a time of the last change that is not now.
func WriteDated(path string, data []byte, modified time.Time) error {
	return system().replace(path, bytes.NewReader(data), 0o600, modified)
}

func write(path string, data []byte, mode fs.FileMode) error {
	return system().replace(path, bytes.NewReader(data), mode, time.Time{})
}

// disk is what can fail while a file is replaced.
type disk struct {
	write      func(*os.File, io.WriterTo) (int64, error)
	sync       func(*os.File) error
	rename     func(from, to string) error
	syncFolder func(path string) error
}

func system() disk {
	write := func(file *os.File, content io.WriterTo) (int64, error) { return content.WriteTo(file) }
	return disk{write, (*os.File).Sync, os.Rename, syncFolder}
}

// replace is write with a time of the last change; the zero time is now. If it fails,
// the old file is there and no other.
func (d disk) replace(path string, content io.WriterTo, mode fs.FileMode, modified time.Time) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".whole-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // removes the file if it was not renamed
	_, err = d.write(file, content)
	if err = errors.Join(err, file.Chmod(mode), d.sync(file), file.Close()); err != nil {
		return err
	}
	if err := os.Chtimes(file.Name(), modified, modified); err != nil { // leaves a zero time as it is
		return err
	}
	if err := d.rename(file.Name(), path); err != nil {
		return err
	}
	_ = d.syncFolder(filepath.Dir(path)) // some systems cannot sync a folder; the rename is done anyway
	return nil
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	folder, err := os.Open(path) // #nosec G304 -- of a file that the caller names
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
