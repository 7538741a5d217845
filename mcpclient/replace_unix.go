//go:build !windows

package mcpclient

import "github.com/google/renameio/v2"

// replaceFile writes a private file whole or not at all.
func replaceFile(path string, text []byte) error {
	return renameio.WriteFile(path, text, 0o600)
}
