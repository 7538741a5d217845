package connection

import (
	"bytes"
	"cmp"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Message is one message between this program and a server, as it was sent.
type Message struct {
	Server string
	Sent   bool // by this program
	Time   time.Time
	Text   []byte // JSON on one line, or the status of a failed HTTP request
}

const (
	maxRecorded  = 1 << 20  // bytes of a recorded message; the rest is cut
	maxHTTPError = 64 << 10 // bytes of the body of an HTTP error
)

// wire reports the messages of one server; nil reports nothing. It is safe for
// concurrent use if report is.
type wire struct {
	server string
	report func(Message)
}

func newWire(report func(Message), server string) *wire {
	if report == nil {
		return nil
	}
	return &wire{server, report}
}

func (w *wire) message(sent bool, text []byte) {
	if text = bytes.TrimSpace(text); len(text) > 0 {
		w.report(Message{Server: w.server, Sent: sent, Time: time.Now(), Text: bytes.Clone(text)})
	}
}

// process records the streams of a child.
func (w *wire) process(output io.Reader, input io.WriteCloser) (io.Reader, io.WriteCloser) {
	if w == nil {
		return output, input
	}
	received := &lines{most: maxRecorded, each: func(line []byte) { w.message(false, line) }}
	sent := &lines{most: maxRecorded, each: func(line []byte) { w.message(true, line) }}
	return io.TeeReader(output, received), recordedInput{input, sent}
}

// recordedInput records what is written to a child.
type recordedInput struct {
	io.WriteCloser
	record *lines
}

// Write writes to the child. It records first: the answer may be faster.
func (r recordedInput) Write(p []byte) (int, error) {
	_, _ = r.record.Write(p) // never fails
	return r.WriteCloser.Write(p)
}

// transport records the bodies of requests and answers.
func (w *wire) transport(to http.RoundTripper) http.RoundTripper {
	if w == nil {
		return to
	}
	return recorder{w, to}
}

type recorder struct {
	wire *wire
	to   http.RoundTripper
}

// RoundTrip sends a request and records its body and that of the answer.
func (r recorder) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.GetBody != nil && request.Method == http.MethodPost {
		if body, err := request.GetBody(); err == nil {
			text, _ := io.ReadAll(io.LimitReader(body, maxRecorded)) // it is in memory
			_ = body.Close()
			r.wire.message(true, text)
		}
	}
	response, err := r.to.RoundTrip(request)
	if err != nil {
		return response, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		r.wire.message(false, []byte("HTTP "+response.Status))
		body, err := io.ReadAll(io.LimitReader(response.Body, maxHTTPError))
		r.wire.message(false, bytes.ReplaceAll(body, []byte("\n"), []byte(" ")))
		rest := response.Body
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(body), failedReader{err}, rest), rest}
		return response, nil
	}
	stream := strings.HasPrefix(response.Header.Get("Content-Type"), "text/event-stream")
	record := &lines{most: maxRecorded, each: func(line []byte) {
		data, ok := bytes.CutPrefix(line, []byte("data:"))
		if ok || !stream {
			r.wire.message(false, data)
		}
	}}
	response.Body = &recordedBody{response.Body, record}
	return response, nil
}

// failedReader is a reader that fails; nil ends it.
type failedReader struct{ error }

// Read fails.
func (f failedReader) Read([]byte) (int, error) { return 0, cmp.Or(f.error, io.EOF) }

// recordedBody records a body while it is read.
type recordedBody struct {
	io.ReadCloser
	record *lines
}

// Read reads from the body.
func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	_, _ = b.record.Write(p[:n])
	if err != nil {
		b.record.end()
	}
	return n, err
}

// Close closes the body.
func (b *recordedBody) Close() error {
	b.record.end()
	return b.ReadCloser.Close()
}

// lines calls a function for each line written to it. It holds no lock meanwhile.
type lines struct {
	most int // bytes of a line; the rest is dropped
	each func([]byte)

	mu   sync.Mutex
	line []byte // not yet finished
}

// Write takes a part of the text.
func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		part, rest, whole := bytes.Cut(p, []byte("\n"))
		l.add(part)
		if whole {
			l.each(l.rest())
		}
		p = rest
	}
	return n, nil
}

func (l *lines) add(part []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := l.most - len(l.line); room > 0 {
		l.line = append(l.line, part[:min(room, len(part))]...)
	}
}

// unfinished returns the unfinished line.
func (l *lines) unfinished() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.line)
}

// rest returns the unfinished line, and forgets it.
func (l *lines) rest() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := l.line
	l.line = nil
	return line
}

// end reports an unfinished line.
func (l *lines) end() {
	if line := l.rest(); len(line) > 0 {
		l.each(line)
	}
}
