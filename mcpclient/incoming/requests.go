package incoming

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// Requests answers the requests of an HTTP server, each on its own goroutine. It is
// safe for concurrent use once SetHandler was called.
type Requests struct {
	handle transport.RequestHandler
	life   context.Context // ends with Close
	end    context.CancelFunc

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // none is added once closed
}

// NewRequests returns requests without a handler.
func NewRequests() *Requests {
	s := &Requests{}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// SetHandler sets what answers the requests, before the first one is taken.
func (s *Requests) SetHandler(handle transport.RequestHandler) { s.handle = handle }

// errClosing is the error of requests that come too late.
var errClosing = errors.New("the connection is being closed")

// Take answers a request later, and sends the answer with send.
func (s *Requests) Take(ctx context.Context, r transport.JSONRPCRequest, send func(ctx context.Context, body []byte)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errClosing
	}
	s.running.Go(func() {
		within, stop := context.WithCancel(context.WithoutCancel(ctx))
		defer stop()
		defer context.AfterFunc(s.life, stop)()
		response, err := s.handle(within, r)
		if err != nil {
			response = transport.NewJSONRPCErrorResponse(r.ID, mcp.INVALID_PARAMS, err.Error(), nil)
		}
		if body, err := json.Marshal(response); err == nil {
			send(within, body)
		}
	})
	return nil
}

// Close ends the answers under way and waits for them.
func (s *Requests) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.end()
	s.running.Wait()
}

// Numbered returns an answer whose id is the text of a number with that number, which is what
// was asked with. It returns any other message as it is.
func Numbered(message []byte) []byte {
	var of struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
	}
	var text string
	if json.Unmarshal(message, &of) != nil || of.Method != "" || json.Unmarshal(of.ID, &text) != nil {
		return message
	}
	number, err := strconv.ParseInt(text, 10, 64)
	var fields map[string]json.RawMessage
	if err != nil || strconv.FormatInt(number, 10) != text || json.Unmarshal(message, &fields) != nil {
		return message
	}
	fields["id"] = json.RawMessage(text)
	if numbered, err := json.Marshal(fields); err == nil {
		return numbered
	}
	return message
}

// StreamRequests takes the requests of a server out of its streams, and makes its answers
// [Numbered]. The SSE transport of the library would take a request for the answer to a call.
type StreamRequests struct {
	http.RoundTripper
	Take func(transport.JSONRPCRequest)
}

// RoundTrip sends a request.
func (s StreamRequests) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := s.RoundTripper.RoundTrip(r)
	if err != nil {
		return response, err
	}
	if kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type")); kind == "text/event-stream" {
		response.Body = &streamWithoutRequests{ReadCloser: response.Body, lines: bufio.NewReader(response.Body), take: s.Take}
	}
	return response, nil
}

type streamWithoutRequests struct {
	io.ReadCloser
	lines *bufio.Reader
	take  func(transport.JSONRPCRequest)
	rest  []byte // of the line being read
	err   error  // after it
}

// Read reads from the stream.
func (s *streamWithoutRequests) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.rest, s.err = s.lines.ReadBytes('\n')
		data, ok := bytes.CutPrefix(s.rest, []byte("data:"))
		var r transport.JSONRPCRequest
		if ok && json.Unmarshal(data, &r) == nil && r.Method != "" && !r.ID.IsNil() {
			s.rest = nil
			s.take(r)
		} else if numbered := Numbered(data); ok && !bytes.Equal(numbered, data) {
			s.rest = slices.Concat([]byte("data:"), numbered, []byte("\n"))
		}
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}
