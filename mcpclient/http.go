package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/config"
)

const (
	maxHTTPReply    = 64 << 20 // bytes
	maxHTTPError    = 64 << 10 // bytes of the body of an error
	cancelTimeout   = 2 * time.Second
	httpProbeWait   = 5 * time.Second // see probe
	headerSession   = transport.HeaderKeySessionID
	headerUserAgent = "User-Agent"
)

// dialHTTP opens the connection to an HTTP server. It sends no request yet.
func dialHTTP(s config.Server, version string, w *wire, log *slog.Logger) (*connection, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	base = base.Clone()
	headers := map[string]string{headerUserAgent: "replan/" + version}
	for name, value := range s.Headers {
		if http.CanonicalHeaderKey(name) == headerUserAgent {
			delete(headers, headerUserAgent)
		}
		headers[name] = value
	}
	to := &http.Client{Transport: w.transport(answers{base}), CheckRedirect: sameHost}
	h, err := transport.NewStreamableHTTP(s.URL,
		transport.WithHTTPHeaders(headers),
		transport.WithHTTPLogger(slog.New(&once{Handler: log.Handler()})),
		transport.WithContinuousListening(), //nolint:staticcheck // for older protocols alone, see RequiresLegacyProtocol
		transport.WithHTTPBasicClient(to))
	if err != nil {
		return nil, errors.New("its url cannot be read")
	}
	record := &tap{}
	t := &httpTap{StreamableHTTP: h, tap: record, probe: &probe{wait: httpProbeWait}, http: to, headers: headers, url: s.URL}
	t.life, t.end = context.WithCancel(context.Background())
	c := newConnection(t, record, t.probe, version)
	c.release = base.CloseIdleConnections
	return c, nil
}

// httpTap is the HTTP transport. Beside passing answers to the tap, it cancels
// requests on the server, which the library does not, and distinguishes refusals
// and ended sessions from failed connections.
type httpTap struct {
	*transport.StreamableHTTP
	tap   *tap
	probe *probe

	version atomic.Value   // of the protocol, a string, once negotiated
	older   atomic.Bool    // a protocol before 2026-07-28 was negotiated
	cancels sync.WaitGroup // notifications being sent

	http    *http.Client
	headers map[string]string
	url     string
	life    context.Context // ends with Close
	end     context.CancelFunc
	mu      sync.Mutex
	closed  bool
	answers sync.WaitGroup // requests of the server being answered; none is added once closed
}

// RequiresLegacyProtocol returns false: the stream of notifications, which only
// older protocols have, must not keep the client from the newer one.
func (h *httpTap) RequiresLegacyProtocol() bool { return false }

// SetProtocolVersion sets the negotiated protocol version.
func (h *httpTap) SetProtocolVersion(version string) {
	h.version.Store(version)
	h.older.Store(version != "" && !mcp.IsModernProtocol(version))
	h.StreamableHTTP.SetProtocolVersion(version)
}

// SendRequest sends a request and passes the answer to the tap.
func (h *httpTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := h.probe.send(ctx, r, h.send)
	return h.tap.seen(r.Method, response, err)
}

func (h *httpTap) send(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	var got answer
	response, err := h.StreamableHTTP.SendRequest(context.WithValue(ctx, answerKey{}, &got), r)
	if err != nil && ctx.Err() != nil {
		h.cancel(ctx, r)
		return nil, err
	}
	return got.read(r.Method, response, err)
}

// cancel tells a server of an older protocol to stop working on a request. In the
// newer protocol the end of the request's stream says so.
func (h *httpTap) cancel(ctx context.Context, r transport.JSONRPCRequest) {
	if !h.older.Load() || r.Method == string(mcp.MethodInitialize) || r.Method == string(mcp.MethodServerDiscover) {
		return
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": r.ID, "reason": context.Cause(ctx).Error()}
	h.cancels.Go(func() {
		within, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer stop()
		_ = h.SendNotification(within, n) // a server that is gone has stopped
	})
}

// SetRequestHandler sets the handler of the server's requests. The library ends a
// handler after 30 seconds, in which no user answers a question, so these handlers run
// here, and their answers are sent from here.
func (h *httpTap) SetRequestHandler(handle transport.RequestHandler) {
	h.StreamableHTTP.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.closed {
			return nil, errClosing
		}
		h.answers.Go(func() {
			within, stop := context.WithCancel(context.WithoutCancel(ctx))
			defer stop()
			defer context.AfterFunc(h.life, stop)()
			response, err := handle(within, r)
			if err != nil {
				response = transport.NewJSONRPCErrorResponse(r.ID, mcp.INVALID_PARAMS, err.Error(), nil)
			}
			h.respond(within, response)
		})
		return nil, nil
	})
}

// respond sends the answer to a request of the server. If that fails, the server
// waits until the call ends.
func (h *httpTap) respond(ctx context.Context, response *transport.JSONRPCResponse) {
	body, err := json.Marshal(response)
	if err != nil {
		return
	}
	ctx = context.WithValue(ctx, answerKey{}, nil) // that one is of the call
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, h.url, bytes.NewReader(body))
	if err != nil {
		return
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json, text/event-stream")
	if version, ok := h.version.Load().(string); ok {
		q.Header.Set(transport.HeaderKeyProtocolVersion, version)
	}
	if session := h.GetSessionId(); session != "" {
		q.Header.Set(headerSession, session)
	}
	for name, value := range h.headers {
		q.Header.Set(name, value)
	}
	answer, err := h.http.Do(q)
	if err != nil {
		return
	}
	_ = answer.Body.Close()
}

// Close ends the session, after all cancellations were sent.
func (h *httpTap) Close() error {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.end()
	h.answers.Wait()
	h.cancels.Wait()
	return h.StreamableHTTP.Close()
}

// answer is what a server answered to one HTTP request, before the library reads
// it.
type answer struct {
	status  int
	session bool   // the request named a session
	body    []byte // of an error
}

// answerKey is the context key of the *answer of a request.
type answerKey struct{}

// read corrects what the library made of a refusal: it takes every 404 for an
// ended session, does not recognise one that is refused with 400, and drops the
// status.
func (a *answer) read(method string, response *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	if err != nil && strings.HasSuffix(err.Error(), "unexpected nil response") {
		return nil, errBroken
	}
	if !isRefusal(a.status) || a.status == http.StatusUnauthorized {
		return response, err
	}
	var reply transport.JSONRPCResponse
	parsed := json.Unmarshal(a.body, &reply) == nil && reply.Error != nil
	sessionWords := a.status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(a.body), []byte("session"))
	switch {
	case a.session && (a.status == http.StatusNotFound || sessionWords):
		return nil, transport.ErrSessionTerminated
	case parsed && method != string(mcp.MethodToolsCall):
		return &reply, nil
	case parsed:
		return nil, &answeredError{code: reply.Error.Code, message: reply.Error.Message, status: a.status}
	}
	return nil, &answeredError{status: a.status}
}

// errBroken reports a stream that ended before the answer.
var errBroken = errors.New("the connection was lost before the answer came")

// answers limits the size of replies and records answers for httpTap.
type answers struct{ *http.Transport }

// RoundTrip sends the request and limits the size of the reply.
func (b answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.Transport.RoundTrip(r)
	if err != nil {
		return response, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, maxHTTPReply)
	// A request for a stream that resumes an answer runs on another goroutine.
	got, ok := r.Context().Value(answerKey{}).(*answer)
	if !ok || r.Method != http.MethodPost {
		return response, nil
	}
	got.status, got.session = response.StatusCode, r.Header.Get(headerSession) != ""
	if isRefusal(got.status) {
		got.body, _ = io.ReadAll(io.LimitReader(response.Body, maxHTTPError))
		_ = response.Body.Close()
		response.Body = io.NopCloser(bytes.NewReader(got.body))
	}
	return response, nil
}

// sameHost refuses redirects to other hosts, because headers may hold keys.
func sameHost(r *http.Request, via []*http.Request) error {
	if r.URL.Host != via[0].URL.Host || r.URL.Scheme != via[0].URL.Scheme {
		return fmt.Errorf("the server redirects to another host, %s; configure that address if it is the right one", r.URL.Host)
	}
	if len(via) >= 5 {
		return errors.New("the server redirects in a circle")
	}
	return nil
}

// once is a log that drops a message that repeats the one before. The library
// writes one for each attempt, every second, to reach a server that is gone.
type once struct {
	slog.Handler
	last atomic.Value // string
}

// Handle writes a record unless it repeats the one before.
func (o *once) Handle(ctx context.Context, r slog.Record) error {
	if o.last.Swap(r.Message) == r.Message {
		return nil
	}
	return o.Handler.Handle(ctx, r)
}
