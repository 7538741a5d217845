//go:build !windows

package config_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"replan/mcpclient/config"
)

func TestReadRefusesIrregularFiles(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), ".mcp.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, t.TempDir()} {
		_, err := config.Read(path, config.SourceProject, "/work")
		if err == nil || !strings.Contains(err.Error(), path+" is not a regular file") {
			t.Errorf("got %v", err)
		}
	}
}
