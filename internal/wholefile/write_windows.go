//go:build windows

package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".whole-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // removes the file if it was not renamed
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
