//go:build unix

package tests_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

// Nothing is taken from the workspace by its name, so what an active virtual environment
// has there is started by its path, or an error names that.
func TestVirtualEnvironmentInTheWorkspaceIsStartedByPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	venv := filepath.Join(dir, ".venv")
	b := workspacetest.New(t, workspace.Config{Dir: dir, Environ: []string{
		"VIRTUAL_ENV=" + venv, "PATH=" + filepath.Join(venv, "bin") + string(filepath.ListSeparator) + "/usr/bin:/bin",
	}})
	b.Write(t, map[string]string{"pyproject.toml": "", "a.py": "", "test_a.py": "import unittest\n"})
	if err := os.MkdirAll(filepath.Join(venv, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ruff", "python3", "own"} {
		if err := os.WriteFile(filepath.Join(venv, "bin", name), []byte("#!/bin/sh\nexit 0\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for tool, program := range map[string]string{"test.lint": "ruff", "test.run": "python3"} {
		res := workspacetest.Into[struct{ Command string }](t, b.Ask(t, tool, nil, nil).Data)
		if !strings.HasPrefix(res.Command, filepath.Join(venv, "bin", program)+" ") {
			t.Errorf("%s ran %q", tool, res.Command)
		}
	}
	b.Refused(t, "proc.run", args{"argv": []string{"own"}}, "name it by its path, "+filepath.Join(venv, "bin", "own"))
	b.Must(t, "proc.run", args{"argv": []string{filepath.Join(venv, "bin", "own")}})
}
