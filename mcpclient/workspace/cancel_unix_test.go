//go:build unix

package workspace_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"replan/mcpclient/workspace"
)

func TestStoppedCommitLeavesAnIndexThatFollowsIt(t *testing.T) {
	t.Parallel()
	b := sample(t)
	begun := filepath.Join(t.TempDir(), "begun")
	if err := syscall.Mkfifo(begun, 0o600); err != nil {
		t.Fatal(err)
	}
	hook := filepath.Join(b.Dir, ".git", "hooks", "post-commit")
	if err := os.WriteFile(hook, fmt.Appendf(nil, "#!/bin/sh\necho begun >%q\nexec sleep 1000\n", begun), 0o700); err != nil { // #nosec G306 -- it is run
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		_, err := os.ReadFile(begun)
		cancel(errors.Join(errStopped, err))
	}()
	if err := workspace.Caller(b.Ops)(ctx, "vcs.commit", args{"message": "Greet all people"}); err != nil {
		t.Errorf("got %v", err)
	}
	if got := git(t, b.Dir, "status", "--porcelain"); got != "" {
		t.Errorf("git finds changes: %s", got)
	}
	if got := git(t, b.Dir, "log", "-1", "--format=%s"); got != "Greet all people\n" {
		t.Errorf("the last commit is %s", got)
	}
}
