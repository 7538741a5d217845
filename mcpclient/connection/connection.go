package connection

import (
	"cmp"
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/timelimit"
	"replan/internal/untrusted"
	"replan/mcpclient/builtin"
	"replan/mcpclient/handshake"
	"replan/mcpclient/incoming"
	"replan/planning/plan"
)

// maxInstructions is how many characters of what a server says about itself are kept.
const maxInstructions = 600

// Connection is one live connection to a server. It is safe for concurrent use.
type Connection struct {
	target   Target
	settings Settings
	client   *client.Client
	link     link

	relist  listRequest
	tools   *toolList
	relays  *relays
	changes *changeListener

	resources *Resources
	prompts   *Prompts

	requests *incoming.Handler // answers requests of the server; nil for a built-in one
	messages *incoming.Log     // logs what the server reports; nil for a built-in one

	life       context.Context // ends when the connection is closed
	stop       context.CancelFunc
	background sync.WaitGroup // listens for changes

	instructions atomic.Value   // a string: how the server wants to be used, in its own words
	learned      handshake.Kind // what the handshake showed; handshake.Usual if it worked as usual

	calls calls
}

// Dial opens the connection to a server without sending a request. It ends with life at
// the latest. known is the handshake of a process.
func Dial(life context.Context, settings Settings, to Target, known handshake.Kind) (*Connection, error) {
	relist := make(listRequest, 1)
	l, err := open(settings, to, known, relist)
	if err != nil {
		return nil, err
	}
	c := newConnection(settings, to, l, relist)
	if err := c.client.Start(life); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// open opens the transport that the configuration of a server names.
func open(settings Settings, to Target, known handshake.Kind, relist listRequest) (link, error) {
	switch {
	case to.Builtin != nil:
		return openLocal(to.Builtin()), nil
	case to.Server.SSE:
		return openSSE(settings, to, relist)
	case to.Server.URL != "":
		return openHTTP(settings, to)
	}
	return openProcess(settings, to, known)
}

func newConnection(settings Settings, to Target, l link, relist listRequest) *Connection {
	c := &Connection{
		target: to, settings: settings, link: l, relist: relist, relays: newRelays(),
		client: client.NewClient(l.transport, append(l.options, client.WithDiscoverTimeout(-1))...), // the probe sets the limit
	}
	c.life, c.stop = context.WithCancel(context.Background())
	name := to.Server.Name
	c.tools = &toolList{client: c.client, tap: l.tap, server: name, builtin: to.Builtin != nil}
	c.changes = newChangeListener(c.life, c.client, c.Lost(), cmp.Or(to.Mentioned, NewMentions()), relist.request)
	c.resources = &Resources{client: c.client, server: name, changes: c.changes}
	c.prompts = &Prompts{client: c.client, server: name}
	c.client.OnNotification(c.notified)
	if to.Builtin != nil {
		return c
	}
	c.messages = &incoming.Log{Write: messageLog(settings, to, l.process)}
	root := settings.WorkDir
	if to.Server.NoRoots {
		root = ""
	}
	c.requests = incoming.New(name, root, to.Log)
	c.requests.Attach(c.client)
	return c
}

// shakeHands negotiates the protocol with the server.
func (c *Connection) shakeHands(ctx context.Context) error {
	var request mcp.InitializeRequest
	request.Params.ClientInfo = mcp.Implementation{Name: "replan", Version: c.settings.Version}
	probe := c.link.probe
	if speaks := c.target.Server.Protocol; speaks != "" && c.target.Builtin == nil {
		request.Params.ProtocolVersion = speaks
		probe.insist(speaks)
	}
	result, err := c.client.Initialize(ctx, request)
	ignored := probe.ignored()
	probe.end()
	if probe.newerAlone(c.link.process != nil) {
		// Nothing but the newer protocol was agreed upon.
		probe.again()
		c.learned = handshake.Newer
		result, err = c.client.Initialize(ctx, request)
		probe.end()
	}
	if err != nil {
		return err
	}
	c.instructions.Store(plan.OneLine(untrusted.Visible(result.Instructions), maxInstructions))
	if ignored {
		c.learned = handshake.Older
	}
	return nil
}

// Tools lists the server's tools. It performs the handshake first if necessary.
func (c *Connection) Tools(ctx context.Context) (Listing, error) {
	if !c.client.IsInitialized() {
		if err := c.shakeHands(ctx); err != nil {
			return Listing{}, err
		}
		if c.target.Builtin == nil {
			c.background.Go(c.changes.listen)
			defer ended(c.askForMessages(), messagesWait)
		}
	}
	return c.tools.list(ctx)
}

// messagesWait is how long a start waits for the answer to askForMessages.
const messagesWait = time.Second

// askForMessages asks a server that logs for messages of level info and above. It
// returns a channel that is closed with the answer, before which the server may keep
// its messages to itself.
func (c *Connection) askForMessages() <-chan struct{} {
	asked := make(chan struct{})
	if c.client.GetServerCapabilities().Logging == nil {
		close(asked)
		return asked
	}
	var request mcp.SetLevelRequest
	request.Params.Level = mcp.LoggingLevelInfo
	c.background.Go(func() {
		defer close(asked)
		_ = c.client.SetLevel(c.life, request) //nolint:staticcheck // servers log anyway; without an answer they log as they like
	})
	return asked
}

// Begin registers a call on the connection. It reports false if the connection is being
// closed. ctx ends with limit. After [Call.Send], the caller calls [Call.Leave], and
// [Call.End] at last.
func (c *Connection) Begin(ctx context.Context, limit *timelimit.Limit, call plan.ToolCall) (*Call, bool) {
	if !c.calls.enter() {
		return nil, false
	}
	begun := &Call{call: call, ctx: ctx, client: c.client, calls: &c.calls, relays: c.relays, builtin: c.target.Builtin != nil, requests: c.requests, end: func() {}}
	begun.begin(limit, c.link.process)
	return begun, true
}

// ListPrompts lists the prompts of the server in the background, since it must not delay
// the tools. Target.PromptsListed hears of the end.
func (c *Connection) ListPrompts() {
	if !c.prompts.offered() || !c.calls.enter() {
		return
	}
	go func() {
		defer c.calls.leave()
		ctx, cancel := context.WithTimeout(c.life, requestTimeout)
		defer cancel()
		if c.prompts.refresh(ctx) == nil { // else the server has no prompts for the user
			c.target.PromptsListed()
		}
	}()
}

// methodMessage is the method of log messages.
const methodMessage = "notifications/message"

// notified handles a notification from the server.
func (c *Connection) notified(n mcp.JSONRPCNotification) {
	fields := n.Params.AdditionalFields
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		token, _ := fields["progressToken"].(string)
		message, _ := fields["message"].(string)
		status, _ := fields[builtin.StatusField].(bool)
		c.relays.take(token, progress{done: number(fields["progress"]), total: number(fields["total"]), message: message, status: status})
	case methodMessage:
		if c.messages != nil {
			c.messages.Take(n)
		}
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationSubscriptionsAcknowledged,
		string(mcp.MethodNotificationPromptsListChanged): // listed together
		c.relist.request() // the list may have changed before the server took the subscription
	case mcp.MethodNotificationResourceUpdated:
		changed, _ := fields["uri"].(string)
		for _, uri := range c.changes.changed(changed) {
			if c.target.ResourceChanged != nil {
				c.target.ResourceChanged(uri)
			}
		}
	}
}

// Resources returns the resources of the server.
func (c *Connection) Resources() *Resources { return c.resources }

// Prompts returns the prompts of the server.
func (c *Connection) Prompts() *Prompts { return c.prompts }

// Protocol returns the negotiated version of the protocol, "" before the handshake.
func (c *Connection) Protocol() string { return c.client.ProtocolVersion() }

// Instructions returns how the server wants to be used, in its own words; "" before the
// handshake.
func (c *Connection) Instructions() string {
	text, _ := c.instructions.Load().(string)
	return text
}

// Learned returns what the handshake showed; [handshake.Usual] if it worked as usual.
func (c *Connection) Learned() handshake.Kind { return c.learned }

// OtherHandshake returns the handshake to try after one that failed.
func (c *Connection) OtherHandshake() handshake.Kind {
	switch {
	case c.link.probe.showsNewer():
		return handshake.Newer
	case c.IsLost() && c.link.probe.killed():
		return handshake.Older
	}
	return handshake.Usual // what was learned is no longer true
}

// IsProcess reports whether the server is a child process.
func (c *Connection) IsProcess() bool { return c.link.process != nil }

// LastLine returns what a process last wrote to standard error. It takes no lock of the
// caller.
func (c *Connection) LastLine() string { return c.link.process.lastLine() }

// Relist returns a channel that receives a value when the tools are to be listed again.
func (c *Connection) Relist() <-chan struct{} { return c.relist }

// AskAgain requests a new list of tools.
func (c *Connection) AskAgain() { c.relist.request() }

// Stale reports whether the list of tools no longer holds.
func (c *Connection) Stale() bool { return c.tools.stale() }

// Lost returns a channel that is closed when the server can no longer answer.
// The channel is nil, and so never ready, if only a request could tell.
func (c *Connection) Lost() <-chan struct{} {
	return c.link.process.lost()
}

// IsLost reports whether the server can no longer answer.
func (c *Connection) IsLost() bool {
	select {
	case <-c.Lost():
		return true
	default:
		return false
	}
}

// LossReason returns why a process no longer answers. It waits briefly for its end.
func (c *Connection) LossReason() string { return c.link.process.reason() }

// Closing returns a context that ends when the connection is closed.
func (c *Connection) Closing() context.Context { return c.life }

// Retire closes a connection once its calls have ended, which it does not cancel.
func (c *Connection) Retire() {
	c.calls.refuse()
	c.calls.wait()
	c.Close()
}

// leaveCalls is how long Close waits for calls to notice that they are canceled,
// so that servers hear of it.
const leaveCalls = time.Second

// Close cancels the calls in progress, closes the connection and stops the server
// if it is a child process.
func (c *Connection) Close() {
	c.calls.refuse()
	c.stop()
	left := make(chan struct{})
	go func() {
		defer close(left)
		c.calls.wait()
		c.background.Wait()
	}()
	ended(left, leaveCalls)
	_ = c.client.Close()
	<-left
	if c.link.process != nil {
		c.link.process.close(c.client.IsInitialized())
	}
	if c.messages != nil {
		c.messages.Close()
	}
	if c.link.release != nil {
		c.link.release()
	}
}
