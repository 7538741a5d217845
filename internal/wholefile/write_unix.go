//go:build !windows

package wholefile

import (
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
)

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error { return write(path, data, 0o600) }

func write(path string, data []byte, mode fs.FileMode) error {
	return renameio.WriteFile(path, data, mode, renameio.WithStaticPermissions(mode))
}

// lockName returns what is locked for the file at path, and how to open it: its
// folder, so that no other file is left behind.
func lockName(path string) (name string, flag int) { return filepath.Dir(path), os.O_RDONLY }
