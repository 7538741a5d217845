package mcpclient

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"replan/internal/redact"

	"github.com/mark3labs/mcp-go/mcp"
)

const (
	maxWords   = 500     // bytes of a line of standard error; the rest is dropped
	maxLogFile = 1 << 20 // bytes, until a log file becomes the old one
)

// lastWords writes a child's standard error into its log, line by line, and keeps
// the last line that is not blank.
type lastWords struct {
	log    *slog.Logger // used if file is nil
	file   *logFile     // may be nil
	onLine func()       // called after each line, with no lock held; may be nil
	lines  lines

	mu   sync.Mutex
	kept string
}

func newLastWords(log *slog.Logger, onLine func()) *lastWords {
	w := &lastWords{log: log, onLine: onLine}
	w.lines = lines{most: maxWords, each: func(line []byte) {
		if w.keep(line) && w.onLine != nil {
			w.onLine()
		}
	}}
	return w
}

func (w *lastWords) Write(b []byte) (int, error) { return w.lines.Write(b) }

// keep logs and keeps a line. It reports whether the line is not blank.
func (w *lastWords) keep(line []byte) bool {
	text := shownLine(line)
	if text == "" {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept = text
	if w.file != nil {
		w.file.write(text)
	} else {
		w.log.Info("standard error", "line", text)
	}
	return true
}

// message writes a log message of the server into its log.
func (w *lastWords) message(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if line = strings.ToValidUTF8(line[:min(len(line), maxWords)], ""); w.file != nil {
		w.file.write(line)
	} else {
		w.log.Info("message", "line", line)
	}
}

// messagesWait is how long a start waits for the answer to askForMessages.
const messagesWait = time.Second

// askForMessages asks a server that logs for messages of level info and above. It
// returns a channel that is closed with the answer, before which the server may keep
// its messages to itself.
func (c *connection) askForMessages() <-chan struct{} {
	asked := make(chan struct{})
	if c.client.GetServerCapabilities().Logging == nil {
		close(asked)
		return asked
	}
	var request mcp.SetLevelRequest
	request.Params.Level = mcp.LoggingLevelInfo
	c.background.Go(func() {
		defer close(asked)
		_ = c.client.SetLevel(c.life, request) //nolint:staticcheck // servers log all the same; without an answer they log as they like
	})
	return asked
}

// messageLog returns what writes the log messages of a server into its log. That of an
// HTTP server is open only meanwhile.
func (p *Pool) messageLog(e *entry, conn *connection, log *slog.Logger) func(line string) {
	words, done := newLastWords(log, nil), func() {}
	switch file := logOf(p.cfg.LogDir, e.server.Name); {
	case conn.process != nil:
		words = conn.process.words
	case file != "":
		words.file, done = &logFile{path: file, log: log, secrets: p.secrets}, words.close
	}
	return func(line string) {
		words.message(line)
		done()
		p.reportLine(e)
	}
}

// last returns the last line, also an unfinished one. The pool's mutex may be held.
func (w *lastWords) last() string {
	if text := shownLine(w.lines.unfinished()); text != "" {
		return text
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.kept
}

func shownLine(line []byte) string {
	return strings.TrimSpace(strings.ToValidUTF8(string(line), "�"))
}

// close closes the log file.
func (w *lastWords) close() {
	w.keep(w.lines.rest())
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.file != nil {
		w.file.close()
	}
}

// Log returns the newest lines of a server's log, oldest first, and a position in it:
// its log messages, and what a process writes to standard error. It waits until the log is not at the position after, or
// until ctx ends; a negative one does not wait. The error says why there is no log.
func (p *Pool) Log(ctx context.Context, server string, after int64) (lines []string, at int64, err error) {
	for {
		p.mu.Lock()
		e, err := findEntry(p, server)
		var path string
		var grown chan struct{}
		if err == nil {
			if e.grown == nil {
				e.grown = make(chan struct{})
			}
			path, grown = p.status(e).Log, e.grown
		}
		changed := p.changed
		p.mu.Unlock()
		switch {
		case err != nil:
			return nil, 0, err
		case path == "" && p.cfg.LogDir == "":
			return nil, 0, errors.New("what servers log is in the log of the program in this session")
		case path == "":
			return nil, 0, errors.New("this server has no log: it was not started, or is part of replan")
		}
		info, err := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			at = 0
		case err != nil:
			return nil, 0, fmt.Errorf("reading the log of the server %q: %w", server, err)
		default:
			at = info.Size()
		}
		if at != after {
			lines, err := newestLines(path)
			return lines, at, err
		}
		select {
		case <-grown:
			if err := pause(ctx, gatherLog); err != nil {
				return nil, at, err
			}
		case <-changed: // another entry may have the name now
		case <-ctx.Done():
			return nil, at, ctx.Err()
		}
	}
}

// gatherLog is how long Log gathers the lines of a server that writes many.
const gatherLog = 100 * time.Millisecond

// pause waits for a time, or until ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// maxLogShown is how much of a log is shown, in bytes from its end.
const maxLogShown = 256 << 10

// newestLines returns the end of a log, with that of the old file if it has just begun.
func newestLines(path string) ([]string, error) {
	var text []byte
	for _, name := range []string{path, path + ".old"} {
		room := int64(maxLogShown - len(text))
		if room <= 0 {
			break
		}
		part, err := readEnd(name, room)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("reading the log of a server: %w", err)
		}
		text = append(part, text...)
	}
	text = bytes.TrimRight(text, "\n")
	if len(text) == 0 {
		return nil, nil
	}
	return strings.Split(string(text), "\n"), nil
}

// readEnd returns the whole lines in the last bytes of a file.
func readEnd(path string, most int64) ([]byte, error) {
	file, err := os.Open(path) //nolint:gosec // a log of this program
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := max(info.Size()-most, 0)
	text := make([]byte, info.Size()-from)
	n, err := file.ReadAt(text, from)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if text = text[:n]; from > 0 {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	return text, nil
}

// logFile is the file with the standard error of one server. When it is full it
// becomes the old one, which replaces the one before. Secrets are left out.
type logFile struct {
	path    string
	log     *slog.Logger // for errors
	secrets *redact.Secrets
	file    *os.File
	size    int64
	failed  bool
}

// write appends a line. Errors go to the log, once.
func (f *logFile) write(line string) {
	if f.failed {
		return
	}
	if err := f.append(f.secrets.Text(line) + "\n"); err != nil {
		f.failed = true
		f.log.Warn("the log of the server cannot be written", "file", f.path, "error", err)
	}
}

func (f *logFile) append(text string) error {
	if f.file != nil && f.size+int64(len(text)) > maxLogFile {
		f.close()
		if err := os.Rename(f.path, f.path+".old"); err != nil {
			return err
		}
	}
	if f.file == nil {
		if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
			return err
		}
		file, err := os.OpenFile(f.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		f.file, f.size = file, 0
		if info, err := file.Stat(); err == nil {
			f.size = info.Size()
		}
	}
	n, err := f.file.WriteString(text)
	f.size += int64(n)
	return err
}

func (f *logFile) close() {
	if f.file != nil {
		_ = f.file.Close() // everything is written
		f.file = nil
	}
}

// reportLine reports that a starting server has written to standard error.
func (p *Pool) reportLine(e *entry) {
	p.mu.Lock()
	starting := e.doing != nil && time.Since(e.reported) > reportInterval
	if starting {
		e.reported = time.Now()
	}
	if e.grown != nil {
		close(e.grown)
		e.grown = nil
	}
	p.mu.Unlock()
	if starting {
		p.notify()
	}
}

// reportInterval is the least time between two reports of what a starting server
// writes.
const reportInterval = 200 * time.Millisecond

// logOf returns the file in a folder with the standard error of a server; "" if there
// is none.
func logOf(dir, server string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "mcp-"+server+".log")
}
