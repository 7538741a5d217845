package connection_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"replan/mcpclient"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// pids passes on the groups of children.
type pids chan child.Group

func (p pids) Started(g child.Group) { p <- g }
func (p pids) Ended(child.Group)     {}

func TestStartStopCyclesWithKillsLeaveNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const cycles = 40 // a leak shows in the first
	s, _ := fault(t, "")
	started := make(pids, 10*cycles)
	cfg := mcpclient.Config{Dir: t.TempDir(), Servers: []config.Server{s}, Watcher: started, RestartWaits: []time.Duration{time.Millisecond}}
	cycle := func(kill bool) {
		p, err := mcpclient.NewPool(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		tool(t, p, "echo")
		if kill {
			g := <-started
			_ = syscall.Kill(g.PID, syscall.SIGKILL)
			if _, err := p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "echo", Server: "k"}}); err != nil && isToolError(err) {
				t.Errorf("the call was not sent again: %v", err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		for len(started) > 0 {
			if g := <-started; g.Runs() {
				t.Errorf("process %d still runs", g.PID)
			}
		}
	}
	cycle(false)
	before := descriptors(t)
	for i := range cycles {
		cycle(i%2 == 1)
	}
	if after := descriptors(t); len(after) > len(before) {
		t.Errorf("got %d descriptors, had %d:\n%s", len(after), len(before), strings.Join(after, "\n"))
	}
}

// descriptors returns what this process has open. goleak looks for goroutines.
func descriptors(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	var open []string
	for _, e := range entries {
		if to, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name())); err == nil && !strings.HasPrefix(to, "/proc") {
			open = append(open, to)
		}
	}
	return open
}
