//go:build windows

package wholefile

import (
	"errors"
	"os"
	"path/filepath"
)

// Write replaces the file at path, or makes it, readable by the user alone. It
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".whole-*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }() // where it was not renamed
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
