package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"replan/mcpclient/builtin"
	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/mcp"
)

// maxWaiting is the maximum output queued for a slow listener, in bytes. Older
// output is dropped first.
const maxWaiting = 1 << 20

// relay delivers the progress of a running call to its caller. The transport's
// goroutine must not wait for a listener, so the relay calls it from its own
// goroutine.
type relay struct {
	call    plan.ToolCall
	builtin bool // messages are output, unless they are a status

	mu       sync.Mutex
	output   strings.Builder
	progress *progress
	closed   bool
	wake     chan struct{} // capacity 1
	done     chan struct{} // closed after the last call of the listener
}

type progress struct {
	done, total float64
	message     string
	status      bool // set by a built-in server: the message is no output
}

func newRelay(call plan.ToolCall, builtin bool) *relay {
	r := &relay{call: call, builtin: builtin, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go r.run()
	return r
}

// take adds one progress notification. It never blocks.
func (r *relay) take(p progress) {
	r.mu.Lock()
	switch {
	case r.closed:
	case r.builtin && p.message != "" && !p.status:
		if r.output.Len()+len(p.message) > maxWaiting {
			r.output.Reset()
			r.output.WriteString("… output left out …\n")
		}
		r.output.WriteString(p.message)
	default:
		r.progress = &p
	}
	r.mu.Unlock()
	r.rouse()
}

func (r *relay) rouse() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// finish delivers the remaining output and returns after the last call of the
// listener.
func (r *relay) finish() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.rouse()
	<-r.done
}

func (r *relay) run() {
	defer close(r.done)
	for range r.wake {
		r.mu.Lock()
		output, news, last := r.output.String(), r.progress, r.closed
		r.output.Reset()
		r.progress = nil
		r.mu.Unlock()
		if output != "" && r.call.Output != nil {
			r.call.Output(output)
		}
		if news != nil && r.call.Progress != nil {
			r.call.Progress(news.done, news.total, news.message)
		}
		if last {
			return
		}
	}
}

// listen returns a progress token for a call and a function that ends its
// relay. The token is nil if nobody listens.
func (c *connection) listen(call plan.ToolCall, builtin bool) (mcp.ProgressToken, func()) {
	if call.Output == nil && call.Progress == nil {
		return nil, func() {}
	}
	token := "call-" + strconv.FormatInt(c.tokens.Add(1), 10)
	r := newRelay(call, builtin)
	c.mu.Lock()
	c.relays[token] = r
	c.mu.Unlock()
	return token, func() {
		c.mu.Lock()
		delete(c.relays, token)
		c.mu.Unlock()
		r.finish()
	}
}

// methodMessage is the method of log messages.
const methodMessage = "notifications/message"

// notified handles a notification from the server.
func (c *connection) notified(n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationProgress):
		fields := n.Params.AdditionalFields
		token, _ := fields["progressToken"].(string)
		c.mu.Lock()
		r := c.relays[token]
		c.mu.Unlock()
		if r == nil {
			return
		}
		message, _ := fields["message"].(string)
		status, _ := fields[builtin.StatusField].(bool)
		r.take(progress{done: number(fields["progress"]), total: number(fields["total"]), message: message, status: status})
	case methodMessage:
		if c.messages != nil {
			c.messages.Take(n)
		}
	case mcp.MethodNotificationToolsListChanged, mcp.MethodNotificationSubscriptionsAcknowledged,
		string(mcp.MethodNotificationPromptsListChanged): // listed together
		c.askAgain() // the list may have changed before the server took the subscription
	case mcp.MethodNotificationResourceUpdated:
		changed, _ := n.Params.AdditionalFields["uri"].(string)
		for _, uri := range c.mentioned.changed(changed) {
			if c.updated != nil {
				c.updated(uri)
			}
		}
	}
}

// askAgain requests a new list of tools.
func (c *connection) askAgain() {
	select {
	case c.relist <- struct{}{}:
	default:
	}
}

// mentions are the resources of a server whose next change is to be reported. They
// outlive its connections.
type mentions struct {
	mu   sync.Mutex
	uris map[string]bool
}

func newMentions() *mentions { return &mentions{uris: map[string]bool{}} }

func (m *mentions) add(uri string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uris[uri] = true
}

func (m *mentions) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.uris))
}

// changed returns the mentioned resources that a change concerns, and removes them. A
// server may report a part of a resource.
func (m *mentions) changed(part string) (uris []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for uri := range m.uris {
		if part == uri || strings.HasPrefix(part, strings.TrimSuffix(uri, "/")+"/") {
			uris = append(uris, uri)
			delete(m.uris, uri)
		}
	}
	return uris
}

// remove removes resources whose changes the server does not report.
func (m *mentions) remove(uris ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uri := range uris {
		delete(m.uris, uri)
	}
}

// follow asks a server to report when a resource changes, if it offers that.
func (c *connection) follow(ctx context.Context, uri string) {
	if !c.reportsResources() {
		return
	}
	c.mentioned.add(uri)
	c.mu.Lock()
	asked, relisten := c.followed[uri], c.relisten
	c.mu.Unlock()
	switch {
	case asked:
	case !c.newerProtocol():
		c.subscribe(ctx, uri)
	case relisten != nil:
		relisten()
	}
}

func (c *connection) reportsResources() bool {
	resources := c.client.GetServerCapabilities().Resources
	return resources != nil && resources.Subscribe
}

// subscribe asks a server of an older protocol to report when a resource changes.
func (c *connection) subscribe(ctx context.Context, uri string) {
	var request mcp.SubscribeRequest
	request.Params.URI = uri
	err := c.client.Subscribe(ctx, request) //nolint:staticcheck // for older protocols
	c.mu.Lock()
	defer c.mu.Unlock()
	c.followed[uri] = err == nil // else changes are not reported
}

// wanted returns the changes to listen for, and a context that ends when they are
// others.
func (c *connection) wanted() (mcp.SubscriptionFilter, context.Context) {
	var filter mcp.SubscriptionFilter
	if tools := c.client.GetServerCapabilities().Tools; tools != nil {
		filter.ToolsListChanged = tools.ListChanged
	}
	if prompts := c.client.GetServerCapabilities().Prompts; prompts != nil {
		filter.PromptsListChanged = prompts.ListChanged
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.followed)
	if c.reportsResources() {
		filter.ResourceSubscriptions = c.mentioned.list()
	}
	for _, uri := range filter.ResourceSubscriptions {
		c.followed[uri] = true
	}
	if c.relisten != nil {
		c.relisten()
	}
	ctx, cancel := context.WithCancel(c.life)
	c.relisten = cancel
	return filter, ctx
}

// listenForChanges listens for changed lists of tools and prompts, and for changed
// resources, which servers of the newer protocol report only on request. Older ones
// report lists unasked.
func (c *connection) listenForChanges() {
	if !c.newerProtocol() {
		c.background.Go(func() {
			for _, uri := range c.mentioned.list() {
				c.follow(c.life, uri) // as an earlier connection did
			}
		})
		return
	}
	c.background.Go(func() {
		for wait := listenAgain; ; wait = min(2*wait, maxListenAgain) {
			filter, within := c.wanted()
			var err error
			begun := time.Now()
			if filter.IsEmpty() {
				select {
				case <-within.Done():
				case <-c.lost():
				}
			} else {
				err = c.client.Listen(within, filter)
			}
			answered, ok := errors.AsType[*answeredError](err)
			switch {
			case c.life.Err() != nil, c.isLost(), ok && answered.refuses(), errors.Is(err, mcp.ErrMethodNotFound):
				return
			case within.Err() != nil: // another filter
				wait = listenAgain / 2
				continue
			case len(filter.ResourceSubscriptions) > 0 && time.Since(begun) < listenAgain && !notSent(err) && !errors.Is(err, errBroken):
				c.mentioned.remove(filter.ResourceSubscriptions...) // the server may refuse one of them
			case time.Since(begun) > maxListenAgain:
				wait = listenAgain
			}
			c.askAgain() // the server may be gone
			select {
			case <-time.After(wait):
				c.askAgain() // nobody reported changes meanwhile
			case <-c.life.Done():
				return
			case <-c.lost():
				return
			}
		}
	})
}

// How long to wait before listening for changes again: at first, at most.
const (
	listenAgain    = time.Second
	maxListenAgain = time.Minute
)

// number converts a number from the wire or from this process.
func number(v any) float64 {
	switch n := v.(type) {
	case float64:
		return n
	case int:
		return float64(n)
	case int64:
		return float64(n)
	case json.Number:
		f, _ := n.Float64()
		return f
	default:
		return 0
	}
}
