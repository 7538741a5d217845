package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/child"
)

const (
	grace     = 2 * time.Second        // between asking a child to end and ending it
	drain     = time.Second            // for output that is still in the pipe
	chunkEach = 100 * time.Millisecond // between two chunks of output on the way to the client
	maxChunk  = 32 << 10               // bytes of a chunk; older output is left out of it
)

// command is a child to run.
type command struct {
	name    string
	args    []string
	dir     string // on disk
	timeout time.Duration
	line    func(string) // takes each line of output
}

func (c command) String() string {
	return strings.Join(append([]string{c.name}, c.args...), " ")
}

// outcome is how a child ended.
type outcome struct {
	output   string
	spill    string // file with all of the output, "" where output is all
	exit     int    // -1 where a signal ended it
	state    string // in words
	timedOut bool
}

// execute runs a child to its end, and returns when it and the children in its
// group are gone. Its output is sent to the client as it comes. It fails where
// the child cannot be started or ctx ends.
func (o *Operators) execute(ctx context.Context, c call, what command) (outcome, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return outcome{}, fmt.Errorf("making a pipe for the output of %s: %w", what.name, err)
	}
	cmd := exec.Command(what.name, what.args...) // #nosec G204 -- running the project's own tests is what it is for
	cmd.Dir, cmd.Env = what.dir, o.environ
	cmd.Stdout, cmd.Stderr = w, w
	child.Isolate(cmd)
	err = cmd.Start()
	closed := w.Close() // the child has its own
	if err != nil {
		err = errors.Join(closed, r.Close(), err)
		if errors.Is(err, exec.ErrNotFound) {
			return outcome{}, fmt.Errorf("%s is not installed or not in PATH; install it to run these tests: %w", what.name, err)
		}
		return outcome{}, fmt.Errorf("starting %s: %w", what, err)
	}
	o.log.Info("child started", "command", what.String(), "pid", cmd.Process.Pid)
	out := &capture{max: o.maxOutput, dir: o.spillDir, line: what.line}
	f := &follow{
		cmd: cmd, pipe: r, out: out,
		stream: &stream{send: o.sender(ctx, c.progress)}, log: o.log,
	}
	timedOut := f.untilGone(ctx, what.timeout)
	text, spilled, err := out.close()
	if err != nil {
		o.log.Warn("output could not be kept", "command", what.String(), "error", err)
	}
	state := cmd.ProcessState
	o.log.Info("child ended", "command", what.String(), "pid", state.Pid(), "state", state.String())
	if ctx.Err() != nil {
		return outcome{}, context.Cause(ctx)
	}
	return outcome{output: text, spill: spilled, exit: state.ExitCode(), state: state.String(), timedOut: timedOut}, nil
}

// follow looks after one running child.
type follow struct {
	cmd    *exec.Cmd
	pipe   *os.File
	out    io.Writer
	stream *stream
	log    *slog.Logger
}

// kill ends the group at once.
func (f *follow) kill() {
	if err := child.Kill(f.cmd); err != nil {
		f.log.Warn("a child may still run", "command", f.cmd.String(), "error", err)
	}
}

// untilGone moves output until the child and its group are gone, ends them
// when ctx or the time is over, and reports whether the time was. A child that
// left the group and holds the pipe is not waited for.
func (f *follow) untilGone(ctx context.Context, timeout time.Duration) bool {
	chunks := make(chan []byte)
	exited := make(chan struct{})
	go f.readPipe(chunks)
	go func() {
		defer close(exited)
		_ = f.cmd.Wait() // how it ended is in ProcessState
	}()
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	tick := time.NewTicker(chunkEach)
	defer tick.Stop()
	stop := ctx.Done()
	var kill, giveUp <-chan time.Time
	timedOut := false
	for chunks != nil || exited != nil {
		select {
		case b, ok := <-chunks:
			if !ok {
				chunks = nil
				break
			}
			_, _ = f.out.Write(b) // never fails
			f.stream.add(b)
		case <-tick.C:
			f.stream.flush(false)
		case <-stop:
			stop, kill = nil, time.After(grace)
			interrupt(f.cmd)
		case <-limit.C:
			if exited == nil {
				break
			}
			timedOut, kill = true, time.After(grace)
			interrupt(f.cmd)
		case <-kill:
			f.kill()
		case <-exited:
			exited = nil
			f.kill() // what it left behind
			giveUp = time.After(drain)
		case <-giveUp:
			_ = f.pipe.Close() // ends readPipe
		}
	}
	_ = f.pipe.Close() // closed twice does no harm
	f.stream.flush(true)
	return timedOut
}

func (f *follow) readPipe(chunks chan<- []byte) {
	defer close(chunks)
	for {
		b := make([]byte, 32<<10)
		n, err := f.pipe.Read(b)
		if n > 0 {
			chunks <- b[:n]
		}
		if err != nil {
			return
		}
	}
}

// stream gathers output into chunks of whole lines for the client.
type stream struct {
	send    func(chunk string, bytes int64)
	pending []byte
	total   int64
}

func (s *stream) add(b []byte) {
	s.total += int64(len(b))
	s.pending = append(s.pending, b...)
	if over := len(s.pending) - maxChunk; over > 0 {
		s.pending = append(s.pending[:0], s.pending[over:]...)
	}
}

// flush sends what has gathered: whole lines, or everything at the end.
func (s *stream) flush(end bool) {
	n := len(s.pending)
	if !end {
		n = 1 + bytes.LastIndexByte(s.pending, '\n')
	}
	if n == 0 {
		return
	}
	s.send(strings.ToValidUTF8(string(s.pending[:n]), "\uFFFD"), s.total)
	s.pending = append(s.pending[:0], s.pending[n:]...)
}

// sender sends chunks of output as progress of a call: the message is the
// chunk, the progress how many bytes there were so far.
func (o *Operators) sender(ctx context.Context, token mcp.ProgressToken) func(string, int64) {
	if token == nil {
		return func(string, int64) {}
	}
	return func(chunk string, bytes int64) {
		err := o.mcp.SendNotificationToClient(ctx, "notifications/progress", map[string]any{
			"progressToken": token, "progress": bytes, "message": chunk,
		})
		if err != nil {
			o.log.Debug("output was not passed on", "error", err)
		}
	}
}
