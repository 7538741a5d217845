package child

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"replan/mcpclient/box"
)

// Group identifies a process group by its leader. Systems reuse process IDs,
// so two groups are the same only if their start matches too.
type Group struct {
	PID   int
	Start string // start time of the leader in the system's own form; "" if unknown
	// Mark is the value of [MarkName] in the environment of the leader and of what it
	// started. Processes that left the group are found by it; "" if none.
	Mark string `json:",omitempty"`
}

// MarkName is the environment variable with the mark of a group.
const MarkName = "REPLAN_MCP_SERVER"

// Watcher ends groups when this program no longer can. It is notified when a
// group starts and when it ends.
type Watcher interface {
	Started(Group)
	Ended(Group)
}

// Start isolates a command, puts it into the box, which may be nil, and starts it. It
// notifies the watcher, which may be nil, and waits for the command in the background. The channel receives the result of
// cmd.Wait; no one else may call that. Call Ended once its group is gone. Where the
// system can do so, the command is killed if this program ends before it.
func Start(cmd *exec.Cmd, in *box.Box, w Watcher) (Group, <-chan error, error) {
	Isolate(cmd)
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	if mark := markOf(cmd.Env); mark == "" || mark == os.Getenv(MarkName) { // that of this program is on all its children
		cmd.Env = append(slices.Clone(cmd.Env), MarkName+"="+rand.Text())
	}
	program := cmd.Path
	if err := in.Enclose(cmd); err != nil {
		return Group{}, nil, err
	}
	begun, exited := make(chan error, 1), make(chan error, 1)
	go func() {
		// The thread that starts a child must live as long as the child.
		defer tie(cmd)()
		err := cmd.Start()
		begun <- err
		if err == nil {
			exited <- cmd.Wait()
		}
	}()
	err := <-begun
	cmd.Path = program // for the log
	if err != nil {
		return Group{}, nil, err
	}
	g := Group{PID: cmd.Process.Pid, Start: started(cmd.Process.Pid), Mark: markOf(cmd.Env)}
	if w != nil {
		w.Started(g)
	}
	return g, exited, nil
}

// markOf returns the mark in an environment.
func markOf(environ []string) string {
	mark := ""
	for _, entry := range environ {
		if value, ok := strings.CutPrefix(entry, MarkName+"="); ok {
			mark = value // the last one counts
		}
	}
	return mark
}

// Ended notifies the watcher, which may be nil, that a group is gone.
func Ended(g Group, w Watcher) {
	if w != nil {
		w.Ended(g)
	}
}

// KillMarked kills the processes with the mark of the group, which may have left it.
func (g Group) KillMarked() error { return killMarked(g.Mark) }

// Runs reports whether the group's leader is certainly still running.
func (g Group) Runs() bool { return g.Start != "" && started(g.PID) == g.Start }

// End ends a group started by another program and waits until its leader is
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

// How long to wait for a killed process, and how often to check.
const (
	endTime     = 5 * time.Second
	endInterval = 10 * time.Millisecond
)

// reportKey is the context key of the function that receives started groups.
type reportKey struct{}

// Reporting returns ctx for a call of a tool in this process. report receives
// each group that the call starts.
func Reporting(ctx context.Context, report func(Group)) context.Context {
	return context.WithValue(ctx, reportKey{}, report)
}

// Report passes a started group to the function set with Reporting, if any.
func Report(ctx context.Context, g Group) {
	if report, ok := ctx.Value(reportKey{}).(func(Group)); ok {
		report(g)
	}
}
