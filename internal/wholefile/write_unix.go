//go:build !windows

package wholefile

import "github.com/google/renameio/v2"

// Write creates or replaces the file at path, readable only by the user. The data
// is on disk when Write returns. The folder must exist.
func Write(path string, data []byte) error {
	return renameio.WriteFile(path, data, 0o600, renameio.WithStaticPermissions(0o600))
}
