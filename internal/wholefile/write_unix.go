//go:build !windows

package wholefile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/google/renameio/v2"
)

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error { return write(path, data, 0o600) }

// WriteFrom is [Write] with what content writes.
func WriteFrom(path string, content io.WriterTo) error {
	file, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }() // removes the file if it was not renamed
	if _, err := content.WriteTo(file); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

// WriteDated is Write with a time of the last change that is not now.
func WriteDated(path string, data []byte, modified time.Time) error {
	file, err := renameio.NewPendingFile(path, renameio.WithStaticPermissions(0o600))
	if err != nil {
		return err
	}
	defer func() { _ = file.Cleanup() }() // removes the file if it was not renamed
	if _, err := file.Write(data); err != nil {
		return err
	}
	if err := os.Chtimes(file.Name(), modified, modified); err != nil {
		return err
	}
	return file.CloseAtomicallyReplace()
}

func write(path string, data []byte, mode fs.FileMode) error {
	return renameio.WriteFile(path, data, mode, renameio.WithStaticPermissions(mode))
}

// lockName returns what is locked for the file at path, and how to open it: its
// folder, so that no other file is left behind.
func lockName(path string) (name string, flag int) { return filepath.Dir(path), os.O_RDONLY }
