package connection

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"
)

// Mentions are the resources of a server whose next change is to be reported. They
// outlive its connections.
type Mentions struct {
	mu   sync.Mutex
	uris map[string]bool
}

// NewMentions returns no resources.
func NewMentions() *Mentions { return &Mentions{uris: map[string]bool{}} }

func (m *Mentions) add(uri string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.uris[uri] = true
}

func (m *Mentions) list() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.uris))
}

// changed returns the mentioned resources that a change concerns, and removes them. A
// server may report a part of a resource.
func (m *Mentions) changed(part string) (uris []string) {
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
func (m *Mentions) remove(uris ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, uri := range uris {
		delete(m.uris, uri)
	}
}

// changeListener has a server report what changes: its lists of tools and prompts, and
// resources that the user mentioned.
type changeListener struct {
	client    *client.Client
	life      context.Context // of the connection
	lost      <-chan struct{} // of the connection
	mentioned *Mentions
	askAgain  func() // for a new list of tools

	mu       sync.Mutex
	followed map[string]bool // URIs of resources whose changes the server reports
	relisten func()          // listens with another filter; nil before listen
}

func newChangeListener(life context.Context, c *client.Client, lost <-chan struct{}, mentioned *Mentions, askAgain func()) *changeListener {
	return &changeListener{client: c, life: life, lost: lost, mentioned: mentioned, askAgain: askAgain, followed: map[string]bool{}}
}

// newerProtocol reports whether the protocol of 2026-07-28 was negotiated.
func (l *changeListener) newerProtocol() bool {
	return mcp.IsModernProtocol(l.client.ProtocolVersion())
}

func (l *changeListener) isLost() bool {
	select {
	case <-l.lost:
		return true
	default:
		return false
	}
}

// changed returns the resources that the user mentioned and that a change concerns. Their
// next change is not reported again.
func (l *changeListener) changed(part string) (uris []string) { return l.mentioned.changed(part) }

// follow asks a server to report when a resource changes, if it offers that.
func (l *changeListener) follow(ctx context.Context, uri string) {
	if !l.reportsResources() {
		return
	}
	l.mentioned.add(uri)
	l.mu.Lock()
	asked, relisten := l.followed[uri], l.relisten
	l.mu.Unlock()
	switch {
	case asked:
	case !l.newerProtocol():
		l.subscribe(ctx, uri)
	case relisten != nil:
		relisten()
	}
}

func (l *changeListener) reportsResources() bool {
	resources := l.client.GetServerCapabilities().Resources
	return resources != nil && resources.Subscribe
}

// subscribe asks a server of an older protocol to report when a resource changes.
func (l *changeListener) subscribe(ctx context.Context, uri string) {
	var request mcp.SubscribeRequest
	request.Params.URI = uri
	err := l.client.Subscribe(ctx, request) //nolint:staticcheck // for older protocols
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followed[uri] = err == nil // else changes are not reported
}

// wanted returns the changes to listen for, and a context that ends when they are
// others.
func (l *changeListener) wanted() (mcp.SubscriptionFilter, context.Context) {
	var filter mcp.SubscriptionFilter
	if tools := l.client.GetServerCapabilities().Tools; tools != nil {
		filter.ToolsListChanged = tools.ListChanged
	}
	if prompts := l.client.GetServerCapabilities().Prompts; prompts != nil {
		filter.PromptsListChanged = prompts.ListChanged
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	clear(l.followed)
	if l.reportsResources() {
		filter.ResourceSubscriptions = l.mentioned.list()
	}
	for _, uri := range filter.ResourceSubscriptions {
		l.followed[uri] = true
	}
	if l.relisten != nil {
		l.relisten()
	}
	ctx, cancel := context.WithCancel(l.life)
	l.relisten = cancel
	return filter, ctx
}

// listen listens for changed lists of tools and prompts, and for changed resources, which
// servers of the newer protocol report only on request. Older ones report lists unasked.
// It returns when nothing more is to be heard.
func (l *changeListener) listen() {
	if !l.newerProtocol() {
		for _, uri := range l.mentioned.list() {
			l.follow(l.life, uri) // as an earlier connection did
		}
		return
	}
	for wait := listenAgain; ; wait = min(2*wait, maxListenAgain) {
		filter, within := l.wanted()
		var err error
		begun := time.Now()
		if filter.IsEmpty() {
			select {
			case <-within.Done():
			case <-l.lost:
			}
		} else {
			err = l.client.Listen(within, filter)
		}
		answered, ok := errors.AsType[*AnsweredError](err)
		switch {
		case l.life.Err() != nil, l.isLost(), ok && answered.Refuses(), errors.Is(err, mcp.ErrMethodNotFound):
			return
		case within.Err() != nil: // another filter
			wait = listenAgain / 2
			continue
		case len(filter.ResourceSubscriptions) > 0 && time.Since(begun) < listenAgain && !NotSent(err) && !errors.Is(err, ErrBroken):
			l.mentioned.remove(filter.ResourceSubscriptions...) // the server may refuse one of them
		case time.Since(begun) > maxListenAgain:
			wait = listenAgain
		}
		l.askAgain() // the server may be gone
		select {
		case <-time.After(wait):
			l.askAgain() // no change was reported meanwhile
		case <-l.life.Done():
			return
		case <-l.lost:
			return
		}
	}
}

// How long to wait before listening for changes again: at first, at most.
const (
	listenAgain    = time.Second
	maxListenAgain = time.Minute
)
