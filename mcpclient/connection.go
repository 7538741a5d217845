package mcpclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/internal/untrusted"
	"replan/mcpclient/builtin"
	"replan/mcpclient/config"
	"replan/mcpclient/handshake"
	"replan/mcpclient/incoming"
	"replan/mcpclient/oauth"
	"replan/mcpclient/pin"
	"replan/mcpclient/result"
	"replan/planning/plan"
)

const (
	maxPages        = 100   // per tool list
	maxInstructions = 600   // characters of what a server says about itself
	maxTools        = 5_000 // per server
)

// connection is one live connection to a server.
type connection struct {
	client  *client.Client
	tap     *tap
	probe   *probe
	version string   // of this program
	speaks  string   // the version of the protocol that the configuration names; "" finds out
	process *process // nil if the server is not a child process
	relist  chan struct{}
	release func()           // called after the client is closed; may be nil
	login   *oauth.Transport // authorises requests; nil if the server has no logins

	life       context.Context // ends when the connection is closed
	stop       context.CancelFunc
	background sync.WaitGroup // listens for changes
	fresh      time.Time      // the list of tools holds until then; zero has no end

	requests *incoming.Handler // answers requests of the server; nil for a built-in one
	messages *incoming.Log     // logs what the server reports; nil for a built-in one

	prompts prompts

	instructions string         // how the server wants to be used, in its own words
	learned      handshake.Kind // what the handshake showed; handshake.Usual if it worked as usual

	mentioned *mentions
	updated   func(uri string) // called when a resource has changed that the user mentioned; nil for a built-in server

	tokens   atomic.Int64
	mu       sync.Mutex
	relays   map[string]*relay // keyed by progress token
	followed map[string]bool   // URIs of resources whose changes the server reports
	relisten func()            // listens for changes with another filter; nil if nobody listens
	closing  bool              // no call may begin
	calls    sync.WaitGroup    // in progress
}

func newConnection(t transport.Interface, record *tap, p *probe, version string, options ...client.ClientOption) *connection {
	c := &connection{
		client: client.NewClient(t, append(options, client.WithDiscoverTimeout(-1))...), // the probe sets the limit
		tap:    record, probe: p, version: version,
		relist: make(chan struct{}, 1),
		relays: map[string]*relay{}, followed: map[string]bool{}, mentioned: newMentions(),
	}
	c.life, c.stop = context.WithCancel(context.Background())
	c.client.OnNotification(c.notified)
	return c
}

func dialLocal(s *server.MCPServer, version string) *connection {
	record := &tap{}
	return newConnection(localTap{newLocal(s), record}, record, &probe{}, version)
}

// dialProcess starts a server's process, with the handshake that known names.
func (p *Pool) dialProcess(e *entry, known handshake.Kind, log *slog.Logger) (*connection, error) {
	started, err := p.startProcess(e, log)
	if err != nil {
		return nil, err
	}
	output, input := p.wire(e.server.Name).process(started)
	started.strays = &strays{output: output, log: func(line string) {
		started.words.message("on standard output, no message: " + line)
		p.reportLine(e)
	}}
	stdio := transport.NewIO(started.strays, input, nil)
	transport.WithCommandLogger(log)(stdio)
	record := &tap{}
	t := stdioTap{stdio, record, &probe{wait: p.cfg.ProbeWait}}
	var options []client.ClientOption
	switch known = cmp.Or(named(e.server), known); known {
	case handshake.Newer:
		t.probe.wait = 0
	case handshake.Older:
		options = append(options, client.WithLegacyProtocolOnly()) //nolint:staticcheck // for servers that know no other
	}
	c := newConnection(t, record, t.probe, p.cfg.Version, options...)
	c.process = started
	return c, nil
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

// shakeHands negotiates the protocol with the server.
func (c *connection) shakeHands(ctx context.Context) error {
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "replan", Version: c.version}
	if c.speaks != "" {
		request.Params.ProtocolVersion, c.probe.wait = c.speaks, 0
		c.probe.only = mcp.IsModernProtocol(c.speaks)
	}
	result, err := c.client.Initialize(ctx, request)
	ignored := c.probe.ignored()
	c.probe.end()
	if c.probe.newer && (!c.probe.both || c.process == nil) {
		// Nothing but the newer protocol was agreed upon.
		c.probe.newer, c.probe.wait, c.learned = false, 0, handshake.Newer
		result, err = c.client.Initialize(ctx, request)
		c.probe.end()
	}
	if err != nil {
		return err
	}
	c.instructions = plan.OneLine(untrusted.Visible(result.Instructions), maxInstructions)
	if ignored {
		c.learned = handshake.Older
	}
	return nil
}

// newerProtocol reports whether the protocol of 2026-07-28 was negotiated.
func (c *connection) newerProtocol() bool { return mcp.IsModernProtocol(c.client.ProtocolVersion()) }

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

// enter registers a call. It reports false if the connection is being closed.
func (c *connection) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.calls.Add(1)
	}
	return !c.closing
}

// retire closes a connection once its calls have ended, which it does not cancel.
func (c *connection) retire() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.calls.Wait()
	c.close()
}

// leaveCalls is how long close waits for calls to notice that they are cancelled,
// so that servers hear of it.
const leaveCalls = time.Second

// close cancels the calls in progress, closes the connection and stops the server
// if it is a child process.
func (c *connection) close() {
	c.mu.Lock()
	c.closing = true
	c.mu.Unlock()
	c.stop()
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.calls.Wait()
		c.background.Wait()
	}()
	ended(left, leaveCalls)
	_ = c.client.Close()
	<-left
	if c.process != nil {
		c.process.close(c.client.IsInitialized())
	}
	if c.messages != nil {
		c.messages.Close()
	}
	if c.release != nil {
		c.release()
	}
}

// omitted names the tools of a list that are left out, "" for none.
type omitted struct {
	note  string // about those whose names or schemas cannot be used
	tasks string // those that run only as tasks
}

// misplaced returns what is wrong with how a tool asks for arguments in HTTP headers, else
// nil. A client must leave such a tool out; other transports have no headers.
func (c *connection) misplaced(t listedTool) error {
	if _, overHTTP := c.client.GetTransport().(transport.HTTPConnection); !overHTTP || !c.newerProtocol() {
		return nil
	}
	return mcp.ValidateParamHeaderAnnotations(&mcp.Tool{RawInputSchema: t.InputSchema})
}

// tools lists the server's tools. It returns all that the server says of each, by
// name. It performs the handshake first if necessary.
func (c *connection) tools(ctx context.Context, name string, isBuiltin bool) (tools []plan.Tool, said map[string]string, left omitted, err error) {
	if !c.client.IsInitialized() {
		if err := c.shakeHands(ctx); err != nil {
			return nil, nil, left, err
		}
		if !isBuiltin {
			c.listenForChanges()
			defer ended(c.askForMessages(), messagesWait)
		}
	}
	list, err := c.pages(ctx)
	if errors.Is(err, mcp.ErrMethodNotFound) {
		return nil, nil, left, nil // servers without tools are valid
	}
	if err != nil {
		return nil, nil, left, err
	}
	var notes []string
	if len(list) > maxTools {
		notes = append(notes, fmt.Sprintf("left out all tools after the first %d of %d", maxTools, len(list)))
		list = list[:maxTools]
	}
	var out, wrong, tasks []string
	said = map[string]string{}
	for _, t := range list {
		if t.Execution.TaskSupport == mcp.TaskSupportRequired {
			tasks = append(tasks, strconv.Quote(t.Name))
			continue
		}
		if _, seen := said[t.Name]; seen || !config.ValidName(t.Name) {
			out = append(out, strconv.Quote(t.Name))
			continue
		}
		if err := c.misplaced(t); err != nil {
			wrong = append(wrong, fmt.Sprintf("%s (%s)", t.Name, plan.OneLine(untrusted.Visible(err.Error()), maxRefusal)))
			continue
		}
		said[t.Name] = ""
		if !isBuiltin {
			said[t.Name] = t.text()
		}
		tools = append(tools, t.planned(name, isBuiltin))
	}
	if len(out) > 0 {
		notes = append(notes, "left out tools whose names cannot be used or come twice: "+shortened(out))
	}
	if len(wrong) > 0 {
		notes = append(notes, "left out tools that ask for arguments in headers as the protocol forbids: "+shortened(wrong))
	}
	left.note = strings.Join(notes, "; ")
	left.tasks = shortened(tasks)
	return tools, said, left, nil
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
		c.expires(page.TTL)
		next := mcp.Cursor(page.NextCursor)
		if seen[next] {
			return all, nil
		}
		seen[next] = true
		request.Params.Cursor = next
	}
	return nil, fmt.Errorf("the list has more than %d pages", maxPages)
}

// expires notes for how many milliseconds the list of tools holds. It matters only
// if the server does not report changes.
func (c *connection) expires(ttl int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh = time.Time{}
	if tools := c.client.GetServerCapabilities().Tools; ttl > 0 && tools != nil && !tools.ListChanged {
		c.fresh = time.Now().Add(time.Duration(ttl) * time.Millisecond)
	}
}

// stale reports whether the list of tools no longer holds.
func (c *connection) stale() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.fresh.IsZero() && time.Now().After(c.fresh)
}

// listedTool is a tool in the wire format.
type listedTool struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
	Annotations  struct {
		ReadOnly    *bool `json:"readOnlyHint,omitempty"`
		Destructive *bool `json:"destructiveHint,omitempty"`
		Idempotent  *bool `json:"idempotentHint,omitempty"`
		OpenWorld   *bool `json:"openWorldHint,omitempty"`
	} `json:"annotations"`
	Execution struct {
		TaskSupport mcp.TaskSupport `json:"taskSupport"`
	} `json:"execution"`
	Meta map[string]any `json:"_meta"`
}

// text returns all that the server says of the tool.
func (t listedTool) text() string {
	hints, _ := json.Marshal(t.Annotations) // cannot fail
	return pin.Tool{Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: hints}.Text()
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
		// Many servers read what they keep, change it and write it back, without a lock.
		Serial: !isBuiltin && !is(hints.ReadOnly) && !is(hints.Idempotent),
	}
	if !isBuiltin {
		// A model would read what people cannot see.
		tool.Description = untrusted.Visible(cutDescription(t.Description))
		t.InputSchema, t.OutputSchema = visibleSchema(t.InputSchema), visibleSchema(t.OutputSchema)
	}
	switch size := len(t.InputSchema); {
	case size > plan.MaxInputSchema:
		tool.Description = strings.TrimSpace(fmt.Sprintf("%s (The schema of its arguments is left out, since it has %d KB.)", tool.Description, size>>10))
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
	TTL        int64        `json:"ttlMs"` // 0 if the server does not say
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
		return nil, &answeredError{code: response.Error.Code, message: response.Error.Message, data: response.Error.Data}
	case method == string(mcp.MethodToolsCall) && wantsOtherInput(response.Result):
		return nil, &answeredError{code: mcp.MISSING_REQUIRED_CLIENT_CAPABILITY, message: "the server asks in the middle of the call for something that replan cannot give"}
	case method == string(mcp.MethodToolsCall):
		rewritten := *response
		rewritten.Result = result.Readable(response.Result)
		return &rewritten, nil
	}
	return response, nil
}

// wantsOtherInput reports whether a result asks for something other than an answer of
// the user, in the newer protocol. The call then has not been carried out.
func wantsOtherInput(result json.RawMessage) bool {
	var r struct {
		Type     mcp.ResultType             `json:"resultType"`
		Requests map[string]json.RawMessage `json:"inputRequests"` // none: the server asks to come again later
	}
	return bytes.Contains(result, []byte(mcp.ResultTypeInputRequired)) && json.Unmarshal(result, &r) == nil &&
		r.Type == mcp.ResultTypeInputRequired && !incoming.Answerable(r.Requests)
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
	tap   *tap
	probe *probe
}

// SendRequest sends a request and passes the answer to the tap.
func (s stdioTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := s.probe.send(ctx, r, s.Stdio.SendRequest)
	return s.tap.seen(r.Method, response, err)
}
