package lsp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"time"

	"replan/mcpclient/box"
	"replan/mcpclient/child"
)

// Time limits for a server that misbehaves.
const (
	writeTime = 10 * time.Second // to read a message
	exitTime  = time.Second      // to exit by itself, and again after SIGTERM
)

// process is a running server. It leads a process group that ends with it.
type process struct {
	cmd    *exec.Cmd
	input  *os.File
	output *os.File
	exited chan struct{} // closed when the group is gone
}

func startProcess(path string, args, environ []string, dir string, around *box.Box, watcher child.Watcher, log *slog.Logger) (*process, error) {
	cmd := exec.Command(path, args...) // #nosec G204 -- found outside the workspace, after the user's yes
	cmd.Env, cmd.Dir = environ, dir
	cmd.Stderr = &lines{log: log}
	cmd.WaitDelay = exitTime // for a process that left the group and keeps standard error open
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", path, err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", path, err), theirIn.Close(), in.Close())
	}
	cmd.Stdin, cmd.Stdout = theirIn, theirOut
	group, exited, err := child.Start(cmd, around, watcher)
	_, _ = theirIn.Close(), theirOut.Close() // the child has its own copies
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", path, err), in.Close(), out.Close())
	}
	log.Info("language server started", "command", cmd.String(), "pid", cmd.Process.Pid)
	p := &process{cmd: cmd, input: in, output: out, exited: make(chan struct{})}
	go func() {
		defer close(p.exited)
		<-exited //nolint:errcheck // ProcessState holds the result
		if err := errors.Join(child.Kill(cmd), group.KillMarked()); err != nil {
			log.Warn("what a language server started may still run", "command", cmd.String(), "error", err)
		}
		child.Ended(group, watcher)
		log.Info("language server ended", "command", cmd.String(), "state", cmd.ProcessState.String())
	}()
	return p, nil
}

// Read and Write access the stream of messages.
func (p *process) Read(b []byte) (int, error) { return p.output.Read(b) }

func (p *process) Write(b []byte) (int, error) {
	// On systems without deadlines on pipes the write may block.
	_ = p.input.SetWriteDeadline(time.Now().Add(writeTime))
	return p.input.Write(b)
}

// Close ends the process and its group, and waits for them.
func (p *process) Close() error {
	_ = p.input.Close()
	if !p.ends(exitTime) {
		_ = child.Terminate(p.cmd)
		if !p.ends(exitTime) {
			_ = child.Kill(p.cmd)
		}
	}
	<-p.exited
	return p.output.Close()
}

// ends reports whether the process ends within the given time.
func (p *process) ends(within time.Duration) bool {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	select {
	case <-p.exited:
		return true
	case <-ctx.Done():
		return false
	}
}

// ended returns a channel that is closed when the process has ended.
func (p *process) ended() <-chan struct{} { return p.exited }

// lines writes a server's standard error to the log.
type lines struct{ log *slog.Logger }

func (l *lines) Write(b []byte) (int, error) {
	const most = 500
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			l.log.Debug("language server", "stderr", string(bytes.ToValidUTF8(line[:min(most, len(line))], []byte("\uFFFD"))))
		}
	}
	return len(b), nil
}
