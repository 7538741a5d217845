package child

import (
	"context"
	"fmt"
	"os/exec"
	"time"
)

// Group is a process group by the process that leads it. Numbers of processes are
// used again, so a group is only the same where its start is too.
type Group struct {
	PID   int
	Start string // when its leader was started, as the system tells it; "" where it does not
}

// Watcher ends groups where this program cannot do so any more. It is told of
// each that is started, and of its end.
type Watcher interface {
	Started(Group)
	Ended(Group)
}

// Start isolates a command, starts it and tells the watcher, which may be nil.
// Once its group is gone, call Ended.
func Start(cmd *exec.Cmd, w Watcher) (Group, error) {
	Isolate(cmd)
	if err := cmd.Start(); err != nil {
		return Group{}, err
	}
	g := Group{PID: cmd.Process.Pid, Start: started(cmd.Process.Pid)}
	if w != nil {
		w.Started(g)
	}
	return g, nil
}

// Ended tells the watcher, which may be nil, that a group is gone.
func Ended(g Group, w Watcher) {
	if w != nil {
		w.Ended(g)
	}
}

// Runs reports whether the leader of the group is still there for certain.
func (g Group) Runs() bool { return g.Start != "" && started(g.PID) == g.Start }

// End ends a group that another program has started and waits until its leader is
// gone. It reports whether there was anything to end.
func (g Group) End(ctx context.Context) (ended bool, err error) {
	if !g.Runs() {
		return false, nil
	}
	if err := g.Kill(); err != nil {
		return false, err
	}
	for limit := time.Now().Add(endTime); g.Runs(); {
		if time.Now().After(limit) {
			return false, fmt.Errorf("the process %d does not end", g.PID)
		}
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case <-time.After(endInterval):
		}
	}
	return true, nil
}

// How long a killed process may take to go, and how often that is looked at.
const (
	endTime     = 5 * time.Second
	endInterval = 10 * time.Millisecond
)

// reportKey is where a context carries what is to be told of a started group.
type reportKey struct{}

// Reporting is ctx for a call of a tool in this process: report is told of each
// group that the call starts.
func Reporting(ctx context.Context, report func(Group)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// Report tells whoever made the call of ctx of a group that it has started.
func Report(ctx context.Context, g Group) {
	if report, ok := ctx.Value(reportKey{}).(func(Group)); ok {
		report(g)
	}
}
