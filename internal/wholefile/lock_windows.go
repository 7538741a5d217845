//go:build windows

package wholefile

import "os"

// lockName returns what is locked for the file at path, and how to open it.
func lockName(path string) (name string, flag int) { return path + ".lock", os.O_CREATE | os.O_RDWR }
