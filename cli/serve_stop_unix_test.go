//go:build unix

package cli_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// pipeIn creates a named pipe. The returned function waits until a child reads it,
// and returns its other end.
func pipeIn(t *testing.T, folder string) func() *os.File {
	t.Helper()
	path := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skipf("cannot create a pipe: %v", err)
	}
	return func() *os.File {
		child, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = child.Close() })
		return child
	}
}

// waiting starts a run that waits for a pipe, and returns the other end of the
// pipe once its child reads it. The call ends with ctx.
func waiting(ctx context.Context, t *testing.T, s *planServer) (child *os.File, called <-chan error) {
	t.Helper()
	opened := pipeIn(t, s.folder)
	ended := make(chan error, 1)
	go func() {
		_, err := s.call(ctx, "plan_create_and_execute", map[string]any{"goal": "wait"})
		ended <- err
	}()
	return opened(), ended
}

// untilGone waits until nothing reads the pipe any more.
func untilGone(t *testing.T, child *os.File) {
	t.Helper()
	for range 2000 {
		if _, err := child.WriteString("x"); errors.Is(err, syscall.EPIPE) {
			return
		}
		// A full pipe would block; cat reads it as long as it lives.
	}
	t.Error("the child still reads")
}

// untilStopped waits until the only run is stopped, as another server sees it.
func untilStopped(t *testing.T, s *planServer) map[string]any {
	t.Helper()
	other := startServe(t, serveOptions{folder: s.folder, home: s.home, args: []string{"--approve", "all"}})
	for {
		listed, _ := other.must(t, "runs_list", map[string]any{})
		run := listed["runs"].([]any)[0].(map[string]any)
		if run["status"] != "running" && run["status"] != "unfinished" {
			return run
		}
	}
}

func TestServedCancelEndsChildrenAndRunStaysResumable(t *testing.T) {
	t.Parallel()
	everyTransport(t, func(t *testing.T, o serveOptions) {
		o.args = []string{"--approve", "all"}
		s := startServe(t, o)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		child, ended := waiting(ctx, t, s)
		cancel()
		if err := <-ended; err == nil {
			t.Error("the canceled call has a result")
		}
		run := untilStopped(t, s)
		untilGone(t, child)
		if run["status"] != "cancelled" || run["reason"] != "interrupted" || run["resumable"] != true {
			t.Errorf("got %v", run)
		}
		if _, failed := s.must(t, "runs_list", map[string]any{}); failed {
			t.Error("the server no longer answers")
		}
	})
}

func TestServedRunEndsWhenItsClientIsGone(t *testing.T) {
	t.Parallel()
	everyTransport(t, func(t *testing.T, o serveOptions) {
		o.args = []string{"--approve", "all"}
		s := startServe(t, o)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		child, ended := waiting(ctx, t, s)
		if o.http {
			leave() // and the connection with it
		} else if err := s.Close(); err != nil {
			t.Logf("close: %v", err)
		}
		run := untilStopped(t, s)
		untilGone(t, child)
		if run["status"] != "cancelled" || run["resumable"] != true {
			t.Errorf("got %v", run)
		}
		leave()
		if err := <-ended; err != nil && !o.http {
			t.Logf("the call ended with %v", err)
		}
	})
}

func TestTwoServersDoNotResumeSameRun(t *testing.T) {
	t.Parallel()
	s := startServe(t, serveOptions{args: []string{"--approve", "all"}})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, ended := waiting(ctx, t, s)
	other := startServe(t, serveOptions{folder: s.folder, home: s.home})
	for name, server := range map[string]*planServer{"same": s, "other": other} {
		listed, _ := server.must(t, "runs_list", map[string]any{})
		run := listed["runs"].([]any)[0].(map[string]any)
		got, failed := server.must(t, "run_resume", map[string]any{"id": run["run"]})
		if !failed || !strings.Contains(fmt.Sprint(got["sentence"]), "is active in another call or program") {
			t.Errorf("%s server: got %v", name, got)
		}
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the canceled call has a result")
	}
}

func TestInterruptedServerStopsRunsAndAnswersTheirCalls(t *testing.T) {
	t.Parallel()
	s := startServe(t, serveOptions{http: true, args: []string{"--approve", "all"}})
	opened := pipeIn(t, s.folder)
	type ended struct {
		result *mcp.CallToolResult
		err    error
	}
	answered := make(chan ended, 1)
	go func() {
		r, err := s.call(t.Context(), "plan_create_and_execute", map[string]any{"goal": "wait"})
		answered <- ended{r, err}
	}()
	child := opened()
	if err := s.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	got := <-answered
	if got.err != nil {
		t.Fatal(got.err)
	}
	run, _ := got.result.StructuredContent.(map[string]any)
	if run["status"] != "cancelled" || run["resumable"] != true || run["hint"] != "run_resume continues it" {
		t.Errorf("got %v", run)
	}
	untilGone(t, child)
}
