package child

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"replan/mcpclient/box"
)

const (
	grace     = 2 * time.Second        // between asking a child to end and killing it
	drain     = time.Second            // for output that is still in the pipe
	chunkEach = 100 * time.Millisecond // between two chunks of output sent to the client
	maxChunk  = 32 << 10               // maximum bytes of a chunk; older output is dropped
)

// Command describes a child process to run.
type Command struct {
	Name    string
	Args    []string
	Script  string   // for the system's shell, instead of name and args
	Dir     string   // on disk
	Environ []string // nil means the runner's Environ
	Input   []byte   // standard input; nil means empty
	Timeout time.Duration
	Line    func(string) // receives each line of output
	// Data creates the writer for standard output that a program reads. Text
	// written to shown becomes the visible output. If Data is nil, standard output
	// is shown directly.
	Data  func(shown io.Writer) io.WriteCloser
	Send  func(chunk string, bytes int64) error // receives output as it arrives; may be nil
	Quiet bool                                  // the output is internal: neither sent nor spilled
	// Unwatched marks a short command that only reads: the watcher, a process of
	// its own, is not started for it.
	Unwatched bool
	Writes    []string // folders outside the workspace that it may change in a box
	Need      string   // advice if the command is not installed
}

func (c Command) String() string {
	if c.Script != "" {
		return c.Script
	}
	return strings.Join(append([]string{c.Name}, c.Args...), " ")
}

// Outcome is the result of a child process.
type Outcome struct {
	Output   string
	Spill    string // file with the full output; "" if Output is complete
	Exit     int    // -1 if a signal ended it
	State    string // for display
	TimedOut bool
	Duration time.Duration
}

// Runner runs commands. It is safe for concurrent use.
type Runner struct {
	// Environ is the environment that children inherit, as NAME=VALUE.
	Environ []string
	// MaxOutput is the maximum output kept in memory, in bytes.
	MaxOutput int
	// SpillDir receives the full output of a child that wrote more than MaxOutput.
	// If it is empty, only the beginning and the end are kept.
	SpillDir string
	Logger   *slog.Logger
	// Watcher ends the children if this program no longer can; may be nil.
	Watcher Watcher
	Box     *box.Box // contains the children; nil contains nothing
}

// Run runs a command and returns when its whole process group has ended. It
// forwards output as it arrives. It fails if the command cannot be started or
// if ctx ends, and starts nothing once ctx has ended.
func (r *Runner) Run(ctx context.Context, what Command) (Outcome, error) {
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	spills, send := r.SpillDir, r.sender(what.Send)
	if what.Quiet {
		spills, send = "", func(string, int64) {}
	}
	out := &capture{max: r.MaxOutput, dir: spills, line: what.Line}
	f := &follow{boxed: r.Box != nil, out: out, stream: &stream{send: send}, log: r.Logger}
	var data io.WriteCloser
	if what.Data != nil {
		data = what.Data(f)
	}
	watcher := r.Watcher
	if what.Unwatched {
		watcher = nil
	}
	begin := time.Now()
	if err := r.start(f, what, data, watcher); err != nil {
		return Outcome{}, err
	}
	defer Ended(f.group, watcher)
	Report(ctx, f.group)
	timedOut := f.untilGone(ctx, what.Timeout)
	if data != nil {
		if err := data.Close(); err != nil {
			r.Logger.Warn("output could not be read", "command", what.String(), "error", err)
		}
	}
	f.stream.flush(true)
	text, spilled, err := out.close()
	if err != nil {
		r.Logger.Warn("output could not be kept", "command", what.String(), "error", err)
	}
	state := f.cmd.ProcessState
	r.Logger.Info("child ended", "command", what.String(), "pid", state.Pid(), "state", state.String())
	if ctx.Err() != nil {
		return Outcome{}, context.Cause(ctx)
	}
	return Outcome{
		Output: text, Spill: spilled, Exit: state.ExitCode(), State: state.String(),
		TimedOut: timedOut, Duration: time.Since(begin),
	}, nil
}

// start starts a command whose output goes to f. If data is not nil, standard
// output goes there.
func (r *Runner) start(f *follow, what Command, data io.Writer, watcher Watcher) (err error) {
	name, args := what.Name, what.Args
	if what.Script != "" {
		name, args = Shell, shellArgs(what.Script)
	}
	f.cmd = exec.Command(name, args...) // #nosec G204 -- running the given command is the purpose
	f.cmd.Dir, f.cmd.Env = what.Dir, what.Environ
	if f.cmd.Env == nil {
		f.cmd.Env = r.Environ
	}
	if Variable(f.cmd.Env, "PATH") != "" && filepath.Base(name) == name {
		f.cmd.Path, f.cmd.Err = Find(name, f.cmd.Env)
	}
	Isolate(f.cmd)
	if what.Script != "" {
		wholeLine(f.cmd, what.Script)
	}
	if what.Input != nil {
		// A file, because a pipe would need a writer for as long as a grandchild holds
		// it open.
		in, err := inputFile(what.Input)
		if err != nil {
			return fmt.Errorf("giving %s its input: %w", what.Name, err)
		}
		defer func() {
			if cleanup := errors.Join(in.Close(), os.Remove(in.Name())); cleanup != nil {
				r.Logger.Warn("an input file stays", "file", in.Name(), "error", cleanup)
			}
		}()
		f.cmd.Stdin = in
	}
	shown, err := f.pipe(f)
	if err != nil {
		return fmt.Errorf("making a pipe for the output of %s: %w", what.Name, err)
	}
	f.cmd.Stdout, f.cmd.Stderr = shown, shown
	ours := []*os.File{shown} // until the child has its own copies
	if data != nil {
		w, err := f.pipe(data)
		if err != nil {
			return errors.Join(fmt.Errorf("making a pipe for the output of %s: %w", what.Name, err), shown.Close(), f.close())
		}
		f.cmd.Stdout, ours = w, append(ours, w)
	}
	f.group, f.exited, err = Start(f.cmd, r.Box.Also(what.Writes...), watcher)
	for _, w := range ours {
		_ = w.Close() // nothing of ours is in it
	}
	if err == nil {
		r.Logger.Info("child started", "command", what.String(), "pid", f.cmd.Process.Pid)
		return nil
	}
	err = errors.Join(f.close(), err)
	if path := inVirtual(f.cmd.Env, what.Name); path != "" && errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is in a virtual environment of this folder, of which no program is taken by its name; name it by its path, %s: %w", what.Name, path, err)
	}
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("%s is not installed or not in PATH; %s: %w", what.Name, cmp.Or(what.Need, "install it or name another program"), err)
	}
	return fmt.Errorf("starting %s: %w", what, err)
}

// inVirtual returns the path of a program in the virtual environment in use, "" if it has
// none of this name.
func inVirtual(environ []string, name string) string {
	for _, folder := range []string{"bin", "Scripts"} {
		if venv := Variable(environ, "VIRTUAL_ENV"); filepath.IsAbs(venv) && filepath.Base(name) == name {
			if path, err := exec.LookPath(filepath.Join(venv, folder, name)); err == nil {
				return path
			}
		}
	}
	return ""
}

// inputFile returns a temporary file that holds data, positioned at its start.
func inputFile(data []byte) (*os.File, error) {
	f, err := os.CreateTemp("", "input-*")
	if err != nil {
		return nil, err
	}
	if _, err = f.Write(data); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return f, nil
}

// follow is one running command.
type follow struct {
	cmd    *exec.Cmd
	boxed  bool
	group  Group
	exited <-chan error // ProcessState holds the result
	pipes  []pipe
	out    io.Writer
	stream *stream
	log    *slog.Logger
}

// pipe connects an output of the command to its reader.
type pipe struct {
	from *os.File
	to   io.Writer
}

// piece is a part of the output and its reader.
type piece struct {
	b  []byte
	to io.Writer
}

// Write captures and sends output.
func (f *follow) Write(b []byte) (int, error) {
	f.stream.add(b)
	return f.out.Write(b) // never fails
}

// pipe creates a pipe to a writer and returns the command's end.
func (f *follow) pipe(to io.Writer) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	f.pipes = append(f.pipes, pipe{r, to})
	return w, nil
}

// close closes our ends of the pipes. It is safe to call twice.
func (f *follow) close() error {
	var failed error
	for _, p := range f.pipes {
		if err := p.from.Close(); !errors.Is(err, os.ErrClosed) {
			failed = errors.Join(failed, err)
		}
	}
	return failed
}

// kill kills the group immediately, and with stopped the processes that left it too. A
// command that ends by itself may leave a daemon behind, but nothing leaves a box.
func (f *follow) kill(stopped bool) {
	err := Kill(f.cmd)
	if stopped || f.boxed {
		err = errors.Join(err, f.group.KillMarked())
	}
	if err != nil {
		f.log.Warn("a child may still run", "command", f.cmd.String(), "error", err)
	}
}

// untilGone forwards output until the process group has ended. It ends the
// group when ctx ends or the timeout expires, and reports a timeout. It does
// not wait for processes that left the group.
func (f *follow) untilGone(ctx context.Context, timeout time.Duration) bool {
	chunks := make(chan piece)
	exited := f.exited
	go f.readPipes(chunks)
	limit := time.NewTimer(timeout)
	defer limit.Stop()
	tick := time.NewTicker(chunkEach)
	defer tick.Stop()
	stop := ctx.Done()
	var kill, giveUp <-chan time.Time
	timedOut := false
	for chunks != nil || exited != nil {
		select {
		case p, ok := <-chunks:
			if !ok {
				chunks = nil
				break
			}
			_, _ = p.to.Write(p.b) // never fails
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
			f.kill(true)
		case <-exited: //nolint:errcheck // ProcessState holds the result
			exited = nil
			f.kill(stop == nil || timedOut) // the processes it left behind
			giveUp = time.After(drain)
		case <-giveUp:
			_ = f.close() // ends readPipes
		}
	}
	_ = f.close()
	return timedOut
}

// readPipes forwards the output of the pipes until they end.
func (f *follow) readPipes(chunks chan<- piece) {
	defer close(chunks)
	var readers sync.WaitGroup
	for _, p := range f.pipes {
		readers.Go(func() {
			for {
				b := make([]byte, 32<<10)
				n, err := p.from.Read(b)
				if n > 0 {
					chunks <- piece{b[:n], p.to}
				}
				if err != nil {
					return
				}
			}
		})
	}
	readers.Wait()
}

// stream collects output into chunks of whole lines.
type stream struct {
	send    func(chunk string, bytes int64)
	pending []byte
	total   int64
}

func (s *stream) add(b []byte) {
	s.total += int64(len(b))
	s.pending = append(s.pending, b...)
	if over := len(s.pending) - maxChunk; over > 0 {
		s.pending = append(s.pending[:0], uncut(s.pending[over:])...)
	}
}

// flush sends the collected lines, or everything at the end.
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

// sender returns a function that sends chunks of output with the total number
// of bytes so far.
func (r *Runner) sender(send func(string, int64) error) func(string, int64) {
	return func(chunk string, bytes int64) {
		if send == nil {
			return
		}
		if err := send(chunk, bytes); err != nil {
			r.Logger.Debug("output was not passed on", "error", err)
		}
	}
}
