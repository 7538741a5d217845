//go:build unix

package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

func TestManualIsReadOnTerminal(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.WriteFile(filepath.Join(folder, "man"), []byte("#!/bin/sh\necho \"a reader shows\" $(head -c 14 \"$1\")\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	s := open(t, program{args: []string{"man"}, env: []string{"PATH=" + folder + string(os.PathListSeparator) + os.Getenv("PATH")}})
	s.until(0, "a reader shows .TH REPLAN 1")
	s.end(0)
}
