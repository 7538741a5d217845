// Package stdio is the standard input and output of a served MCP server. It
// imports nothing of replan. Start reading at [Pipe].
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

// Pipe is a server's standard input. The server breaks off the calls that it
// works on when its input ends, so that end is held back until those that were
// read are answered, or the program is to stop.
type Pipe struct {
	ctx  context.Context
	in   *bufio.Reader
	to   io.Writer
	rest []byte // of a line that was read
	err  error  // that comes after it

	mu      sync.Mutex
	open    map[string]int // calls without an answer, by their ids
	changed chan struct{}  // closed and made anew at each answer
}

// New returns the pipe between a client that writes to in and a server. It holds the
// end of the input back until ctx ends at the latest.
func New(ctx context.Context, in io.Reader, out io.Writer) *Pipe {
	return &Pipe{ctx: ctx, in: bufio.NewReader(in), to: out, open: map[string]int{}, changed: make(chan struct{})}
}

// message is as much of one as tells calls and their answers.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      any             `json:"id"`
	Method  string          `json:"method"`
	Result  json.RawMessage `json:"result"`
}

// read reads a message and reports its id, which is a text or a whole number:
// what the protocol does not know is not answered under its id.
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

// isCall reports whether the server answers the message when a tool has.
func (m *message) isCall() bool { return m.Method == "tools/call" && m.Result == nil }

// Read passes on the input line by line; a last line without an end gets one.
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
		w.answered()
		return 0, w.err
	}
	n := copy(p, w.rest)
	w.rest = w.rest[n:]
	return n, nil
}

// answered waits until no call is without an answer.
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

// Out is what the server writes its messages to, each at once.
func (w *Pipe) Out() io.Writer { return answers{w} }

type answers struct{ *Pipe }

func (a answers) Write(p []byte) (int, error) {
	n, err := a.to.Write(p)
	var m message
	if id, ok := m.read(p); ok && m.Method == "" {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.open[id]--; a.open[id] <= 0 {
			delete(a.open, id)
		}
		close(a.changed)
		a.changed = make(chan struct{})
	}
	return n, err
}
