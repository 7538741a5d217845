package connection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/jsonsize"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/mcpclient/incoming"
	"replan/mcpclient/oauth"
	"replan/planning/plan"
)

const (
	maxHTTPReply    = 64 << 20 // bytes
	cancelTimeout   = 2 * time.Second
	httpProbeWait   = 5 * time.Second // see probe
	headerSession   = transport.HeaderKeySessionID
	headerUserAgent = "User-Agent"
)

// way is how requests reach an HTTP server.
type way struct {
	client  *http.Client
	headers map[string]string
	login   *oauth.Transport // nil if the server has no logins
	base    *http.Transport
}

// newWay returns how requests reach a server. From the outside in, they get the headers
// of a helper, the token of a login, and a place in the record of the wire.
func newWay(settings Settings, to Target) way {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	s := to.Server
	w := way{base: base.Clone(), headers: map[string]string{headerUserAgent: "replan/" + settings.Version}}
	for name, value := range s.Headers {
		if http.CanonicalHeaderKey(name) == headerUserAgent {
			delete(w.headers, headerUserAgent)
		}
		w.headers[name] = value
	}
	next := newWire(settings.Wire, s.Name).transport(answers{w.base})
	if settings.Logins != nil {
		w.login = &oauth.Transport{Base: next, Direct: w.base, Server: s, Store: settings.Logins, Logger: to.Log}
		next = w.login
	}
	if s.HeadersHelper != "" {
		next = &oauth.HelperTransport{Base: next, Print: helper(settings, s).Print}
	}
	w.client = &http.Client{Transport: next, CheckRedirect: sameHost}
	return w
}

// helper returns the program that prints headers for a server.
func helper(settings Settings, s config.Server) oauth.Helper {
	own := maps.Clone(s.Env)
	if own == nil {
		own = map[string]string{}
	}
	own["REPLAN_MCP_SERVER"], own["REPLAN_MCP_URL"] = s.Name, s.URL
	return oauth.Helper{
		Script: s.HeadersHelper, Dir: settings.WorkDir, Watcher: settings.Watcher, Box: settings.Box,
		Environ: child.ServerEnviron(settings.Environ, own, s.Inherit),
	}
}

// close ends what belongs to the way. No request may follow.
func (w way) close() {
	if w.login != nil {
		w.login.Close()
	}
	w.base.CloseIdleConnections()
}

// link returns a transport that goes this way, with what belongs to it.
func (w way) link(t transport.Interface, record *tap, p *probe, options ...client.ClientOption) link {
	return link{transport: t, tap: record, probe: p, options: options, login: w.login, release: w.close}
}

// openHTTP opens the transport to an HTTP server. It sends no request yet.
func openHTTP(settings Settings, to Target) (link, error) {
	w := newWay(settings, to)
	h, err := transport.NewStreamableHTTP(to.Server.URL,
		transport.WithHTTPHeaders(w.headers),
		transport.WithHTTPLogger(slog.New(&once{Handler: to.Log.Handler()})),
		transport.WithContinuousListening(), //nolint:staticcheck // for older protocols alone, see RequiresLegacyProtocol
		transport.WithHTTPBasicClient(w.client))
	if err != nil {
		return link{}, errors.New("its url cannot be read")
	}
	record := &tap{}
	t := &httpTap{StreamableHTTP: h, tap: record, probe: &probe{wait: httpProbeWait}, way: w, url: to.Server.URL, requests: incoming.NewRequests()}
	return w.link(t, record, t.probe), nil
}

// httpTap is the HTTP transport. Beside passing answers to the tap, it cancels requests on
// the server, which the library does not. It distinguishes refusals and ended sessions
// from failed connections.
type httpTap struct {
	*transport.StreamableHTTP
	tap   *tap
	probe *probe

	version atomic.Value // of the protocol, a string, once negotiated
	older   atomic.Bool  // a protocol before 2026-07-28 was negotiated
	cancels cancels

	way      way
	url      string
	requests *incoming.Requests
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
	if h.older.Load() && r.Method != string(mcp.MethodServerDiscover) {
		h.cancels.send(ctx, r, h.SendNotification)
	}
}

// cancels are the notifications about canceled requests that are being sent.
type cancels struct{ sync.WaitGroup }

// send tells a server to stop working on a request. It does not wait.
func (c *cancels) send(ctx context.Context, r transport.JSONRPCRequest, notify func(context.Context, mcp.JSONRPCNotification) error) {
	if r.Method == string(mcp.MethodInitialize) {
		return // it must not be canceled
	}
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = string(mcp.MethodNotificationCancelled)
	n.Params.AdditionalFields = map[string]any{"requestId": r.ID, "reason": context.Cause(ctx).Error()}
	c.Go(func() {
		within, stop := context.WithTimeout(context.WithoutCancel(ctx), cancelTimeout)
		defer stop()
		_ = notify(within, n) // a server that is gone has stopped
	})
}

// SetRequestHandler sets the handler of the server's requests. The library ends a handler
// after 30 seconds, in which no user answers a question. So these handlers run here, and
// their answers are sent from here.
func (h *httpTap) SetRequestHandler(handle transport.RequestHandler) {
	h.requests.SetHandler(handle)
	h.StreamableHTTP.SetRequestHandler(func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		return nil, h.requests.Take(ctx, r, func(ctx context.Context, body []byte) {
			headers := http.Header{"Accept": {"application/json, text/event-stream"}}
			if version, ok := h.version.Load().(string); ok {
				headers.Set(transport.HeaderKeyProtocolVersion, version)
			}
			if session := h.GetSessionId(); session != "" {
				headers.Set(headerSession, session)
			}
			h.way.post(ctx, h.url, headers, body)
		})
	})
}

// post sends the answer to a request of the server. If that fails, the server waits
// until the call ends.
func (w way) post(ctx context.Context, to string, headers http.Header, body []byte) {
	ctx = context.WithValue(ctx, answerKey{}, nil) // that one is of the call
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, to, bytes.NewReader(body))
	if err != nil {
		return
	}
	q.Header = headers
	q.Header.Set("Content-Type", "application/json")
	for name, value := range w.headers {
		q.Header.Set(name, value)
	}
	answer, err := w.client.Do(q)
	if err != nil {
		return
	}
	_ = answer.Body.Close()
}

// Close ends the session, after all cancellations were sent.
func (h *httpTap) Close() error {
	h.requests.Close()
	h.cancels.Wait()
	return h.StreamableHTTP.Close()
}

// answer is what a server answered to one HTTP request, before the library reads
// it.
type answer struct {
	status  int
	session bool     // the request named a session
	body    []byte   // of an error status, without the token of the request
	words   bool     // the body is text for people
	scopes  []string // that the server wants of the token
	stream  bool     // the request opens the stream of an SSE server
}

// answerKey is the context key of the *answer of a request.
type answerKey struct{}

// read corrects what the library made of a refusal. The library takes every 404 for an
// ended session, does not recognize one that is refused with 400, and drops the status.
func (a *answer) read(method string, response *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	if closed(err) {
		return nil, ErrBroken
	}
	if a.status < http.StatusBadRequest || a.status == http.StatusUnauthorized {
		return response, err
	}
	var reply transport.JSONRPCResponse
	parsed := json.Unmarshal(a.body, &reply) == nil && reply.Error != nil
	if !isRefusal(a.status) && (!parsed || method != string(mcp.MethodToolsCall)) {
		return response, err
	}
	sessionWords := a.status == http.StatusBadRequest && bytes.Contains(bytes.ToLower(a.body), []byte("session"))
	switch {
	case a.session && (a.status == http.StatusNotFound || sessionWords):
		return nil, transport.ErrSessionTerminated
	case parsed && method != string(mcp.MethodToolsCall) && a.status != http.StatusForbidden:
		return &reply, nil
	case parsed:
		return nil, &AnsweredError{code: reply.Error.Code, message: reply.Error.Message, status: a.status, scopes: a.scopes, data: reply.Error.Data}
	}
	refused := &AnsweredError{status: a.status, scopes: a.scopes}
	if a.words {
		refused.message = plan.OneLine(string(a.body), maxRefusal)
	}
	return nil, refused
}

// closed reports whether a request failed because its connection or stream ended.
func closed(err error) bool {
	if err == nil || unprepared(err) != nil {
		return false
	}
	var address *url.Error
	var network *net.OpError
	switch {
	case errors.As(err, &network):
		return network.Op == "read" || network.Op == "write"
	case errors.Is(err, io.EOF):
		return errors.As(err, &address) // else the answer is empty
	}
	return errors.Is(err, io.ErrUnexpectedEOF) || strings.HasSuffix(err.Error(), "unexpected nil response")
}

// answers limits the size of replies and records answers for httpTap.
type answers struct{ *http.Transport }

// RoundTrip sends the request and limits the size of the reply.
func (b answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.Transport.RoundTrip(r)
	if err != nil {
		return response, err
	}
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	if kind == "text/event-stream" && r.Method == http.MethodGet {
		response.Body = &limitedEvents{ReadCloser: response.Body, stream: true} // it may last forever
	} else {
		response.Body = &limitedEvents{ReadCloser: http.MaxBytesReader(nil, response.Body, maxHTTPReply), stream: kind == "text/event-stream"}
	}
	// A request for a stream that resumes an answer runs on another goroutine.
	got, ok := r.Context().Value(answerKey{}).(*answer)
	if !ok || r.Method != http.MethodPost && !got.stream {
		return response, nil
	}
	got.status, got.session = response.StatusCode, r.Header.Get(headerSession) != ""
	got.scopes, _ = oauth.Wanted(response)
	if got.status >= http.StatusBadRequest {
		got.words = kind == "text/plain"
		got.body, _ = io.ReadAll(io.LimitReader(response.Body, maxHTTPError))
		_ = response.Body.Close()
		if _, token, _ := strings.Cut(r.Header.Get("Authorization"), " "); token != "" {
			got.body = bytes.ReplaceAll(got.body, []byte(token), []byte("[left out]"))
		}
		response.Body = io.NopCloser(bytes.NewReader(got.body))
	}
	return response, nil
}

// limitedEvents fails if an event of a stream is too long or has too many values, or if
// a reply does that is no stream. An event ends with an empty line.
type limitedEvents struct {
	io.ReadCloser
	stream bool
	event  int              // bytes of the event so far
	values jsonsize.Counter // in these bytes
	empty  bool             // nothing has come since the last line
}

// Read reads from the stream.
func (l *limitedEvents) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	for i, b := range p[:n] {
		switch {
		case b != '\n' && b != '\r':
			l.empty = false
		case b == '\n' && l.empty && l.stream:
			l.event, l.values = 0, jsonsize.Counter{}
		case b == '\n':
			l.empty = true
		}
		l.event++
		l.values.Add(p[i : i+1])
	}
	if l.values.Err() != nil {
		return 0, fmt.Errorf("a message of the server has more than %d values", jsonsize.Most)
	}
	if l.event > maxHTTPReply {
		return n, fmt.Errorf("a message of the server has more than %d MB", maxHTTPReply>>20)
	}
	return n, err
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
