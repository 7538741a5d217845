//go:build !windows

package mcpclient_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"replan/mcpclient"
)

func TestReadConfigRefusesIrregularFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), ".mcp.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir()} {
		_, err := mcpclient.ReadConfig(path, mcpclient.SourceProject)
		if err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
			t.Errorf("got %v", err)
		}
	}
}
