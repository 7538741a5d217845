package runner_test

import (
	"os"
	"path/filepath"
	"testing"

	"replan/agent/runner"
)

func TestSameFolderFollowsLinks(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skipf("cannot create links: %v", err)
	}
	if !runner.SameFolder(dir, link) || !runner.SameFolder("/nowhere/at/all", "/nowhere/at/all") {
		t.Error("one folder counts as two")
	}
	if runner.SameFolder(dir, filepath.Dir(dir)) {
		t.Error("two folders count as one")
	}
}
