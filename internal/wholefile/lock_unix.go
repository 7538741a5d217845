//go:build !windows

package wholefile

import (
	"os"
	"path/filepath"
)

// lockName returns what is locked for the file at path, and how to open it: its
// folder, so that no other file is left behind.
func lockName(path string) (name string, flag int) { return filepath.Dir(path), os.O_RDONLY }
