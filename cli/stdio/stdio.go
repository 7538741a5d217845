package stdio

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"sync"
)

// Pipe is a server's standard input. The server aborts its running calls when its
// input ends. Pipe therefore delays that end until all calls read are answered,
// or the program is to stop.
type Pipe struct {
	ctx  context.Context
	in   *bufio.Reader
	to   io.Writer
	left func()
	rest []byte // of the current line
	err  error  // to return after rest

	mu      sync.Mutex
	open    map[string]int // ids of unanswered calls
	changed chan struct{}  // closed and replaced at each answer
}

// New returns a pipe between a client that writes to in and a server that writes
// to out. It calls left when the input ends, and delays that end until ctx ends at
// the latest.
func New(ctx context.Context, in io.Reader, out io.Writer, left func()) *Pipe {
	return &Pipe{ctx: ctx, in: bufio.NewReader(in), to: out, left: left, open: map[string]int{}, changed: make(chan struct{})}
}

// message holds the fields that identify calls and their answers.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
}

// read parses a message and returns its id, a string or a whole number. Other ids
// are not in the protocol and get no answer.
func (m *message) read(line []byte) (id string, ok bool) {
	if json.Unmarshal(line, m) != nil || m.Version != "2.0" {
		return "", false
	}
	switch id := m.ID.(type) {
	case string:
		return strconv.Quote(id), true
	case float64:
		const exact = 1 << 53
		return strconv.FormatFloat(id, 'f', 0, 64), id == math.Trunc(id) && math.Abs(id) < exact
	}
	return "", false
}

// isCall reports whether the message is a tool call that the server will answer.
func (m *message) isCall() bool { return m.Method == "tools/call" && m.Result == nil }

// Read returns the input line by line. It adds a missing line break at the end.
func (w *Pipe) Read(p []byte) (int, error) {
	if len(w.rest) == 0 && w.err == nil {
		w.rest, w.err = w.in.ReadBytes('\n')
		if w.err == io.EOF && len(bytes.TrimSpace(w.rest)) > 0 {
			w.rest = append(w.rest, '\n')
		}
		var m message
		if id, ok := m.read(w.rest); ok && m.isCall() {
			w.mu.Lock()
			w.open[id]++
			w.mu.Unlock()
		}
	}
	if len(w.rest) == 0 {
		w.left()
		w.answered()
		return 0, w.err
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// answered waits until every call is answered.
func (w *Pipe) answered() {
	for {
		w.mu.Lock()
		left, changed := len(w.open), w.changed
		w.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return
		}
	}
}

// Out returns the writer for the server's messages, which it passes on at once.
func (w *Pipe) Out() io.Writer { return writer(w.write) }

type writer func(p []byte) (int, error)

func (w writer) Write(p []byte) (int, error) { return w(p) }

func (w *Pipe) write(p []byte) (int, error) {
	n, err := w.to.Write(p)
	var m message
	if id, ok := m.read(p); ok && m.Method == "" {
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.open[id]--; w.open[id] <= 0 {
			delete(w.open, id)
		}
		close(w.changed)
		w.changed = make(chan struct{})
	}
	return n, err
}
