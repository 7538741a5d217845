//go:build unix

package workspace_test

import (
	"os"
	"path/filepath"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// Without the command line too, operators take no program of the workspace by its name.
func TestOperatorsTakeNoProgramOfTheWorkspaceByName(t *testing.T) {
	dir, mark := t.TempDir(), filepath.Join(t.TempDir(), "ran")
	for _, name := range []string{"sh", "git"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\necho "+name+" >> "+mark+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	b := workspacetest.New(t, workspace.Config{Dir: dir})
	b.Must(t, "proc.run", workspacetest.Args{"shell": "git --version", "allow_failure": true})
	b.Ask(t, "vcs.status", nil, nil)
	if ran, err := os.ReadFile(mark); err == nil {
		t.Errorf("these ran: %s", ran)
	}
}
