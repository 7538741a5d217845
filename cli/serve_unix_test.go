//go:build unix

package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func TestStoppedServerEndsItsChildren(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skipf("cannot create a pipe: %v", err)
	}
	s := serve(ctx, t, dir, t.TempDir())
	if _, err := fmt.Fprintln(s.in, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"proc.run","arguments":{"argv":["cat","pipe"]}}}`); err != nil {
		t.Fatal(err)
	}
	// Opening waits until the child has opened the other end.
	child, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = child.Close() }()
	var reading sync.WaitGroup
	reading.Go(func() {
		for s.replies.Scan() { //nolint:revive // late replies are ignored
		}
	})
	stop()
	if code := <-s.exit; code != 0 {
		t.Errorf("got exit code %d and %q on standard error", code, &s.stderr)
	}
	reading.Wait()
	if _, err := child.WriteString("anybody there?"); !errors.Is(err, syscall.EPIPE) {
		t.Errorf("the child is still reading: %v", err)
	}
}
