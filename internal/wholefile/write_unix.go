//go:build !windows

package wholefile

import "github.com/google/renameio/v2"

// Write replaces the file at path, or makes it, readable by the user alone. It
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600, renameio.WithStaticPermissions(0o600))
}
