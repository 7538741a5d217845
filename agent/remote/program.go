package remote

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"replan/agent/store/values"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Options say how to start a worker program.
type Options struct {
	Command []string        // the program with its arguments
	Env     []string        // of the program
	Prepare func(*exec.Cmd) // called before it starts; nil does nothing
	By      string          // who sends commands, for the others to see
	Logger  *slog.Logger    // gets what the program writes to standard error; nil is none
	// SaveSetting saves a setting that the user chose on the screen; nil saves nothing.
	SaveSetting func(key string, value *string) (file string, err error)
	Patience    time.Duration // how long the program may take to end when it has to; 0 is 5 s
	// Tell publishes why a session broke off as a note too, for a screen.
	Tell bool
}

const (
	maxLine  = 64 << 20 // bytes that a program may write as one line
	buffered = 64 << 10
	patience = 5 * time.Second
	// answerTime is how long a program may take to answer a query of the screen.
	answerTime = 30 * time.Second
)

// program is a worker program under way. It gets the end of its input, and after a while is killed,
// when its context ends.
type program struct {
	name string
	stop context.CancelFunc
	out  *io.PipeReader
	read *bufio.Reader
	exit chan error // gets why the program ended

	known values.Known

	mu sync.Mutex // of in
	in io.WriteCloser
}

// start starts a program with a request. The caller must close it.
func start(ctx context.Context, o Options, r Request) (*program, error) {
	if len(o.Command) == 0 {
		return nil, errors.New("start a worker program: none is named")
	}
	ctx, cancel := context.WithCancel(ctx)
	name := filepath.Base(o.Command[0])
	cmd := exec.CommandContext(ctx, o.Command[0], o.Command[1:]...) //nolint:gosec // the program of the caller
	cmd.Env = o.Env
	out, written := io.Pipe()
	cmd.Stdout, cmd.Stderr = written, &logWriter{log: o.Logger, name: name}
	in, err := cmd.StdinPipe()
	if err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, cmp.Or(o.Patience, patience)
	if o.Prepare != nil {
		o.Prepare(cmd)
	}
	if err := cmd.Start(); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", name, errors.Join(err, in.Close()))
	}
	p := &program{name: name, stop: cancel, out: out, read: bufio.NewReaderSize(out, buffered), exit: make(chan error, 1), in: in}
	go func() {
		p.exit <- cmd.Wait()
		_ = written.Close() // never fails
	}()
	if err := p.write(r); err != nil {
		p.close()
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return p, nil
}

// write writes a value as a line. An error of the pipe is none: whoever reads the
// program's output learns that it has ended.
func (p *program) write(value any) error {
	line, err := json.Marshal(value)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	_, _ = p.in.Write(append(line, '\n'))
	return nil
}

// line returns the next whole line.
func (p *program) line() (line []byte, err error) {
	for {
		part, err := p.read.ReadSlice('\n')
		if len(line)+len(part) > maxLine {
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// errTooLong reports a line that is too long.
var errTooLong = errors.New("the line is too long")

// next returns what the program writes next. A problem is an error.
func (p *program) next() (Output, error) {
	o, err := p.output()
	if err != nil {
		return o, err
	}
	if o.Problem != nil {
		return o, o.Problem
	}
	if a := o.Accepted; a != nil && (plan.CheckID(a.Run) != nil || plan.CheckID(a.Session) != nil) {
		return o, fmt.Errorf("%s accepted a run without a proper id: %s", p.name, untrusted.Line(a.Run+" "+a.Session))
	}
	if e := o.Event; e != nil && (plan.CheckID(e.Run) != nil || e.Data == nil) {
		return o, fmt.Errorf("%s wrote an event without a proper run: %s", p.name, untrusted.Line(e.Run))
	}
	return o, nil
}

// broken describes the end of the output before its last line.
func (p *program) broken(err error) error {
	switch {
	case errors.Is(err, errTooLong):
		return fmt.Errorf("%s wrote a line of more than %d MB", p.name, maxLine>>20)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("read what %s writes: %w", p.name, err)
	}
	why := <-p.exit
	p.exit <- why // for close
	if why == nil {
		return fmt.Errorf("%s ended too early; the log says more", p.name)
	}
	return fmt.Errorf("%s ended too early (%w); the log says more", p.name, why)
}

// close ends the program and waits for that.
func (p *program) close() {
	p.stop()
	_ = p.out.Close() // never fails; ends a write that waits
	<-p.exit          //nolint:errcheck // it had to end
}

// logWriter passes lines to a log.
type logWriter struct {
	log  *slog.Logger
	name string
	rest []byte
}

// longestLog bounds the lines of the log.
const longestLog = 64 << 10

// Write takes the next piece of the text.
func (w *logWriter) Write(text []byte) (int, error) {
	if w.log == nil {
		return len(text), nil
	}
	w.rest = append(w.rest, text...)
	for {
		at := bytes.IndexByte(w.rest, '\n')
		if at < 0 && len(w.rest) < longestLog {
			return len(text), nil
		}
		if at < 0 {
			at = len(w.rest) - 1
		}
		if line := bytes.TrimSpace(w.rest[:at+1]); len(line) > 0 {
			w.log.Info(w.name, "stderr", untrusted.Line(string(line)))
		}
		w.rest = w.rest[at+1:]
	}
}

// ended returns the error for an end of the program that came too early.
func (p *program) ended(how string) error { return fmt.Errorf("%s ended %s", p.name, how) }

// output returns what the program writes next. The events share their large values.
func (p *program) output() (Output, error) {
	for {
		line, err := p.line()
		if err != nil {
			return Output{}, p.broken(err)
		}
		var wire wireOutput
		if err := p.decode(line, &wire); err != nil {
			return Output{}, fmt.Errorf("%s wrote a line that cannot be read; are it and replan of the same version? %w", p.name, err)
		}
		if wire.Value == nil {
			return wire.Output, nil
		}
	}
}

// decode reads a line, and keeps its value.
func (p *program) decode(line []byte, wire *wireOutput) error {
	in := json.NewDecoder(bytes.NewReader(line))
	in.UseNumber() // results keep all digits
	if err := in.Decode(wire); err != nil {
		return err
	}
	if wire.Value != nil {
		return p.known.Add(wire.Value)
	}
	if wire.Event == nil {
		return nil
	}
	whole, err := p.known.PutBack(wire.Event, func(string, int) ([]byte, string, error) {
		return nil, "", errors.New("it refers to a value that was not written before")
	})
	if err != nil {
		return err
	}
	e, err := whole.Event()
	if err != nil {
		return err
	}
	wire.Output.Event = &e
	return nil
}
