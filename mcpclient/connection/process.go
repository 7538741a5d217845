package connection

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/jsonsize"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/mcpclient/handshake"
)

// EndTimeout limits the end of a connection. It is longer than all grace periods of one
// child together; children end in parallel.
const EndTimeout = 20 * time.Second

// Limits of a child process.
const (
	maxLine      = 16 << 20        // bytes per message
	writeTimeout = 5 * time.Second // until a child that does not read is abandoned
	exitGrace    = time.Second     // from closing its input to SIGTERM, and from the end of its output to its own
	termGrace    = 2 * time.Second // from SIGTERM to SIGKILL
	drainGrace   = time.Second     // to read the remaining output of an ended child
)

// grace is the time that a child has for its end.
type grace struct {
	exit, term time.Duration // like exitGrace and termGrace
}

// graceOf returns the time that a program has for its end. The clients of containers
// end after their container, for which they wait up to ten seconds; a container whose
// client is killed would run on.
func graceOf(program string) grace {
	switch program {
	case "docker", "podman", "nerdctl":
		return grace{exit: 3 * time.Second, term: 12 * time.Second}
	}
	return grace{exit: exitGrace, term: termGrace}
}

// process is a child that speaks MCP on its standard streams. It leads its own
// process group, which ends with it.
type process struct {
	cmd    *exec.Cmd
	group  child.Group
	input  *pipeWriter
	output *lineReader
	stderr *os.File
	words  *lastWords // of standard error
	strays *strays    // what it writes to standard output that is no message
	grace  grace
	loss   *loss
	quiet  chan struct{} // closed at the end of standard error
	exited chan struct{} // closed when the child has ended
	err    error         // exit error, valid once exited is closed
	stop   sync.Once
}

// openProcess starts the process of a server, with the handshake that known names.
func openProcess(settings Settings, to Target, known handshake.Kind) (link, error) {
	started, err := startProcess(settings, to)
	if err != nil {
		return link{}, err
	}
	output, input := newWire(settings.Wire, to.Server.Name).process(started.output, started.input)
	started.strays = &strays{output: output, log: func(line string) {
		started.words.message("on standard output, no message: " + line)
		to.LineWritten()
	}}
	stdio := transport.NewIO(started.strays, input, nil)
	transport.WithCommandLogger(to.Log)(stdio)
	known, wait := cmp.Or(named(to.Server), known), settings.ProbeWait
	if known == handshake.Newer {
		wait = 0
	}
	l := link{tap: &tap{}, probe: &probe{wait: wait}, process: started}
	l.transport = stdioTap{stdio, l.tap, l.probe}
	if known == handshake.Older {
		l.options = append(l.options, client.WithLegacyProtocolOnly()) //nolint:staticcheck // for servers that know no other
	}
	return l, nil
}

// named returns the handshake of the protocol that the configuration of a server names.
func named(s config.Server) handshake.Kind {
	switch {
	case s.Protocol == "":
		return handshake.Usual
	case mcp.IsModernProtocol(s.Protocol):
		return handshake.Newer
	}
	return handshake.Older
}

// stdioTap passes answers on to the tap, and requests of the handshake to the probe.
type stdioTap struct {
	*transport.Stdio
	tap   *tap
	probe *probe
}

// SendRequest sends a request and passes the answer to the tap.
func (s stdioTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := s.probe.send(ctx, r, s.Stdio.SendRequest)
	return s.tap.seen(r.Method, response, err)
}

// startProcess starts a server's child process.
func startProcess(settings Settings, to Target) (*process, error) {
	cmd, err := command(settings, to.Server)
	if err != nil {
		return nil, fmt.Errorf("cannot be started: %w", err)
	}
	var files []*os.File
	abandon := func(err error) (*process, error) {
		for _, f := range files {
			_ = f.Close()
		}
		return nil, fmt.Errorf("cannot be started: %w", err)
	}
	for range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			return abandon(err)
		}
		files = append(files, r, w)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	group, exited, err := child.Start(cmd, settings.Box, settings.Watcher)
	if err != nil {
		return abandon(err)
	}
	for _, theirs := range []*os.File{files[0], files[3], files[5]} {
		_ = theirs.Close()
	}
	end := &loss{done: make(chan struct{})}
	proc := &process{
		cmd:    cmd,
		group:  group,
		input:  &pipeWriter{file: files[1], loss: end, most: writeTimeout},
		output: &lineReader{file: files[2], loss: end},
		grace:  graceOf(programName(to.Server)),
		loss:   end,
		stderr: files[4],
		words:  newLastWords(to.Log, logFileOf(settings, to), to.LineWritten),
		quiet:  make(chan struct{}),
		exited: make(chan struct{}),
	}
	go func() {
		defer close(proc.quiet)
		_, _ = io.Copy(proc.words, proc.stderr)
		proc.words.close()
	}()
	go func() {
		defer close(proc.exited)
		proc.err = <-exited
		// Kill the rest even if the child ended by itself.
		if err := group.Kill(); err != nil {
			to.Log.Warn("ending what the server has started", "error", err)
		}
		child.Ended(group, settings.Watcher)
	}()
	return proc, nil
}

// messageLog returns what writes the log messages of a server into its log. That of a
// server that is no process is open only meanwhile.
func messageLog(settings Settings, to Target, p *process) func(line string) {
	words, done := newLastWords(to.Log, logFileOf(settings, to), nil), func() {}
	if p != nil {
		words = p.words
	} else {
		done = words.close
	}
	return func(line string) {
		words.message(line)
		done()
		to.LineWritten()
	}
}

// lost returns a channel that is closed when the child can no longer answer. That of no
// child is nil.
func (p *process) lost() <-chan struct{} {
	if p == nil {
		return nil
	}
	return p.loss.done
}

// noMessages returns the lines of the child that are no messages, nil for no child.
func (p *process) noMessages() *strays {
	if p == nil {
		return nil
	}
	return p.strays
}

// lastLine returns what the child last wrote to standard error, "" for no child.
func (p *process) lastLine() string {
	if p == nil {
		return ""
	}
	return p.words.last()
}

// report tells who carries out a call which process group does it. Without a process it does nothing.
func (p *process) report(ctx context.Context) {
	if p != nil {
		child.Report(ctx, p.group)
	}
}

// close ends the child and its whole group and waits for it. It first closes
// the input, then terminates the group, then kills it. A child that has never answered
// gets no time to end by itself: it may still start, and not read its input.
func (p *process) close(answered bool) {
	p.stop.Do(func() {
		_ = p.input.Close()
		if !answered || !ended(p.exited, p.grace.exit) {
			_ = child.Terminate(p.cmd)
			if !ended(p.exited, p.grace.term) {
				_ = child.Kill(p.cmd)
			}
		}
		<-p.exited
		p.drain()
		_ = p.output.file.Close()
	})
}

// drain reads the remaining output of an ended child. It then closes standard
// error, which a process that left the group may still hold open.
func (p *process) drain() {
	ended(p.quiet, drainGrace)
	_ = p.stderr.Close()
	<-p.quiet
}

// reason returns why the child no longer answers. It waits briefly for the
// child to exit, because its output ends before it does.
func (p *process) reason() string {
	if why := p.loss.reason(); why != "" {
		return why
	}
	if !ended(p.exited, exitGrace) {
		return p.withLastWords("closed its output")
	}
	ended(p.quiet, drainGrace)
	if p.err == nil {
		return p.withLastWords("exited")
	}
	return p.withLastWords("exited with " + p.err.Error())
}

func (p *process) withLastWords(text string) string {
	if last := p.words.last(); last != "" {
		return text + ": " + last
	}
	return text
}

// ended waits for done for up to most, and reports whether it is closed.
func ended(done <-chan struct{}, most time.Duration) bool {
	timer := time.NewTimer(most)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// loss marks the moment when communication with a child fails for good.
type loss struct {
	once sync.Once
	done chan struct{} // closed at that moment

	mu  sync.Mutex
	why string
}

// because records the loss; an empty why means the exit status explains it.
func (l *loss) because(why string) {
	l.once.Do(func() {
		l.mu.Lock()
		l.why = why
		l.mu.Unlock()
		close(l.done)
	})
}

func (l *loss) reason() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.why
}

// pipeWriter writes to a child that may not read. A write that takes too long
// closes the pipe, because a partial message has corrupted it.
type pipeWriter struct {
	file *os.File
	loss *loss
	most time.Duration // per write
}

func (w *pipeWriter) Write(b []byte) (int, error) {
	// On systems without deadlines on pipes the write may block.
	_ = w.file.SetWriteDeadline(time.Now().Add(w.most))
	n, err := w.file.Write(b)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		w.loss.because("does not read its input")
		_ = w.file.Close()
	case err != nil:
		w.loss.because("")
	}
	return n, err
}

func (w *pipeWriter) Close() error { return w.file.Close() }

// lineReader reads a child's output and stops at the first line that is longer than
// maxLine or has too many values. The library reads and decodes whole lines.
type lineReader struct {
	file   *os.File
	loss   *loss
	run    int              // bytes since the last newline
	values jsonsize.Counter // in these bytes
}

func (r *lineReader) Read(b []byte) (int, error) {
	n, err := r.file.Read(b)
	if fault := r.take(b[:n]); fault != "" {
		r.loss.because(fault)
		_ = r.file.Close() // otherwise a child in the middle of a line would block
		return 0, io.EOF
	}
	if err != nil {
		r.loss.because("")
		// The library logs every other error.
		return n, io.EOF
	}
	return n, nil
}

// take measures a part of the output. It says what is wrong with the line, or "".
func (r *lineReader) take(b []byte) string {
	for {
		part, rest, whole := bytes.Cut(b, []byte("\n"))
		r.run += len(part)
		r.values.Add(part)
		switch {
		case r.run > maxLine:
			return fmt.Sprintf("sent a line longer than %d MB", maxLine>>20)
		case r.values.Err() != nil:
			return fmt.Sprintf("sent a message of more than %d values", jsonsize.Most)
		case !whole:
			return ""
		}
		r.run, r.values, b = 0, jsonsize.Counter{}, rest
	}
}
