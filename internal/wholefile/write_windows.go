//go:build windows

package wholefile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error { return write(path, data, 0o600) }

func write(path string, data []byte, mode fs.FileMode) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".whole-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // removes the file if it was not renamed
	_, err = file.Write(data)
	if err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// lockName returns what is locked for the file at path, and how to open it.
func lockName(path string) (name string, flag int) { return path + ".lock", os.O_CREATE | os.O_RDWR }
