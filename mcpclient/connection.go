package mcpclient

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient/builtin"
	"replan/mcpclient/child"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

const (
	// discoverTimeout limits the check whether a server speaks the newer protocol.
	// A server that does not may never answer.
	discoverTimeout = time.Second
	maxHTTPReply    = 64 << 20 // bytes
	maxPages        = 100      // per tool list
	maxInstructions = 600      // characters of what a server says about itself
)

// connection is one live connection to a server.
type connection struct {
	client  *client.Client
	tap     *tap
	process *process // nil if the server is not a child process
	relist  chan struct{}
	release func() // called after the client is closed; may be nil

	instructions string // how the server wants to be used, in its own words

	tokens atomic.Int64
	mu     sync.Mutex
	relays map[string]*relay // keyed by progress token
}

func newConnection(t transport.Interface, record *tap) *connection {
	c := &connection{
		client: client.NewClient(t, client.WithDiscoverTimeout(discoverTimeout)),
		tap:    record,
		relist: make(chan struct{}, 1),
		relays: map[string]*relay{},
	}
	c.client.OnNotification(c.notified)
	return c
}

func dialLocal(s *server.MCPServer) *connection {
	record := &tap{}
	return newConnection(localTap{newLocal(s), record}, record)
}

func dialProcess(s config.Server, dir string, environ []string, watcher child.Watcher, w *wire, log *slog.Logger) (*connection, error) {
	p, err := startProcess(s, dir, environ, watcher, log)
	if err != nil {
		return nil, err
	}
	output, input := w.process(p)
	stdio := transport.NewIO(output, input, nil)
	transport.WithCommandLogger(log)(stdio)
	record := &tap{}
	c := newConnection(stdioTap{stdio, record}, record)
	c.process = p
	return c, nil
}

func dialHTTP(s config.Server, w *wire, log *slog.Logger) (*connection, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		base = &http.Transport{Proxy: http.ProxyFromEnvironment}
	}
	base = base.Clone()
	h, err := transport.NewStreamableHTTP(s.URL,
		transport.WithHTTPHeaders(s.Headers),
		transport.WithHTTPLogger(log),
		transport.WithHTTPBasicClient(&http.Client{
			Transport:     w.transport(boundedReplies{base}),
			CheckRedirect: sameHost,
		}))
	if err != nil {
		return nil, errors.New("its url cannot be read")
	}
	record := &tap{}
	c := newConnection(httpTap{h, record}, record)
	c.release = base.CloseIdleConnections
	return c, nil
}

// shakeHands negotiates the protocol with the server.
func (c *connection) shakeHands(ctx context.Context) error {
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "replan", Version: "1"}
	result, err := c.client.Initialize(ctx, request)
	if err == nil {
		c.instructions = plan.OneLine(result.Instructions, maxInstructions)
	}
	return err
}

// lost returns a channel that is closed when the server can no longer answer.
// The channel is nil, and so never ready, if only a request could tell.
func (c *connection) lost() <-chan struct{} {
	if c.process == nil {
		return nil
	}
	return c.process.loss.done
}

func (c *connection) isLost() bool {
	select {
	case <-c.lost():
		return true
	default:
		return false
	}
}

// close closes the connection and stops the server if it is a child process.
func (c *connection) close() {
	_ = c.client.Close()
	if c.process != nil {
		c.process.Close()
	}
	if c.release != nil {
		c.release()
	}
}

// tools lists the server's tools and returns a note about those left out. It
// performs the handshake first if necessary.
func (c *connection) tools(ctx context.Context, name string, isBuiltin bool) ([]plan.Tool, string, error) {
	if !c.client.IsInitialized() {
		if err := c.shakeHands(ctx); err != nil {
			return nil, "", err
		}
	}
	list, err := c.pages(ctx)
	if errors.Is(err, mcp.ErrMethodNotFound) {
		return nil, "", nil // servers without tools are valid
	}
	if err != nil {
		return nil, "", err
	}
	var tools []plan.Tool
	var out []string
	seen := map[string]bool{}
	for _, t := range list {
		if !config.ValidName(t.Name) || seen[t.Name] {
			out = append(out, strconv.Quote(t.Name))
			continue
		}
		seen[t.Name] = true
		tools = append(tools, t.planned(name, isBuiltin))
	}
	if len(out) == 0 {
		return tools, "", nil
	}
	return tools, fmt.Sprintf("left out tools whose names cannot be used or come twice: %s", shortened(out)), nil
}

func shortened(all []string) string {
	const shown = 3
	if len(all) <= shown {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:shown], ", "), len(all)-shown)
}

func (c *connection) pages(ctx context.Context) ([]listedTool, error) {
	var all []listedTool
	var request mcp.ListToolsRequest
	seen := map[mcp.Cursor]bool{"": true}
	for range maxPages {
		c.tap.forget()
		_, err := c.client.ListToolsByPage(ctx, request)
		// The library's types lose everything in a schema but its properties, and
		// reject a whole list because of one odd schema. So read the wire format.
		page, ok := c.tap.page()
		if !ok {
			if err == nil {
				err = errors.New("the answer is not a list of tools")
			}
			return nil, err
		}
		all = append(all, page.Tools...)
		next := mcp.Cursor(page.NextCursor)
		if seen[next] {
			return all, nil
		}
		seen[next] = true
		request.Params.Cursor = next
	}
	return nil, fmt.Errorf("the list has more than %d pages", maxPages)
}

// listedTool is a tool in the wire format.
type listedTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		ReadOnly    *bool `json:"readOnlyHint"`
		Destructive *bool `json:"destructiveHint"`
		Idempotent  *bool `json:"idempotentHint"`
		OpenWorld   *bool `json:"openWorldHint"`
	} `json:"annotations"`
	Meta map[string]any `json:"_meta"`
}

func (t listedTool) planned(serverName string, isBuiltin bool) plan.Tool {
	hints := t.Annotations
	is := func(hint *bool) bool { return hint != nil && *hint }
	tool := plan.Tool{
		Name: t.Name, Server: serverName, Description: t.Description,
		ReadOnly:    is(hints.ReadOnly),
		Destructive: is(hints.Destructive) && !is(hints.ReadOnly),
		Annotated: hints.ReadOnly != nil || hints.Destructive != nil ||
			hints.Idempotent != nil || hints.OpenWorld != nil,
		OpenWorld: hints.OpenWorld,
		Trusted:   isBuiltin,
	}
	switch size := len(t.InputSchema); {
	case size > plan.MaxInputSchema:
		tool.Description = strings.TrimSpace(fmt.Sprintf("%s (The schema of its arguments is left out, since it has %d KB.)", t.Description, size>>10))
	case size > 0 && !bytes.Equal(t.InputSchema, []byte("null")):
		tool.InputSchema = t.InputSchema
	}
	if len(t.OutputSchema) <= plan.MaxOutputSchema && !bytes.Equal(t.OutputSchema, []byte("null")) {
		tool.OutputSchema = t.OutputSchema
	}
	// Only the built-in servers are trusted to change nothing.
	tool.Previews = isBuiltin && t.Meta[builtin.MetaPreviews] == true
	tool.Commands = isBuiltin && t.Meta[builtin.MetaCommands] == true
	return tool
}

type toolPage struct {
	Tools      []listedTool `json:"tools"`
	NextCursor string       `json:"nextCursor"`
}

// answeredError is an error that the server returned in answer to a call.
type answeredError struct {
	code    int
	message string
}

func (e *answeredError) Error() string {
	if e.message == "" {
		return fmt.Sprintf("the server answered the call with the error code %d", e.code)
	}
	return e.message
}

// refuses reports whether the server rejected the call as invalid before it
// did anything. After any other error, such as an internal one, the effect is
// unknown.
func (e *answeredError) refuses() bool {
	switch e.code {
	case mcp.INVALID_REQUEST, mcp.METHOD_NOT_FOUND, mcp.INVALID_PARAMS:
		return true
	default:
		return false
	}
}

// tap observes the answers on a transport. It keeps the newest tool list as
// sent, makes the content of results readable, and distinguishes errors that a
// server returned from all others.
type tap struct {
	mu   sync.Mutex
	list json.RawMessage
}

func (t *tap) seen(method string, response *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	if err != nil || response == nil {
		return response, err
	}
	switch {
	case method == string(mcp.MethodToolsList) && response.Error == nil:
		t.mu.Lock()
		t.list = bytes.Clone(response.Result)
		t.mu.Unlock()
	case method == string(mcp.MethodToolsCall) && response.Error != nil:
		return nil, &answeredError{code: response.Error.Code, message: response.Error.Message}
	case method == string(mcp.MethodToolsCall):
		rewritten := *response
		rewritten.Result = readableResult(response.Result)
		return &rewritten, nil
	}
	return response, nil
}

func (t *tap) forget() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.list = nil
}

func (t *tap) page() (toolPage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var page toolPage
	err := json.Unmarshal(t.list, &page)
	return page, err == nil && t.list != nil
}

type localTap struct {
	*local
	tap *tap
}

// SendRequest sends a request and passes the answer to the tap.
func (l localTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := l.local.SendRequest(ctx, r)
	return l.tap.seen(r.Method, response, err)
}

type stdioTap struct {
	*transport.Stdio
	tap *tap
}

// SendRequest sends a request and passes the answer to the tap.
func (s stdioTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := s.Stdio.SendRequest(ctx, r)
	return s.tap.seen(r.Method, response, err)
}

type httpTap struct {
	*transport.StreamableHTTP
	tap *tap
}

// SendRequest sends a request and passes the answer to the tap.
func (h httpTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := h.StreamableHTTP.SendRequest(ctx, r)
	return h.tap.seen(r.Method, response, err)
}

// boundedReplies cuts off replies that are too large to be useful.
type boundedReplies struct{ *http.Transport }

// RoundTrip sends the request and limits the size of the reply.
func (b boundedReplies) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := b.Transport.RoundTrip(r)
	if err == nil {
		response.Body = http.MaxBytesReader(nil, response.Body, maxHTTPReply)
	}
	return response, err
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
