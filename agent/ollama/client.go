// Package ollama answers requests with a model of an Ollama server. It knows
// where that server's own client is too trusting: a stream that ends early, a
// prompt that is too long, a context window that changes, a model that thinks
// where it should answer.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"replan/planning/prompt"
	"replan/planning/reply"

	"github.com/ollama/ollama/api"
)

const (
	dialTimeout  = 5 * time.Second
	defaultDelay = 500 * time.Millisecond
	busyTries    = 5 // with the default delay: half a second to four seconds apart
)

// Config says which server and which model to ask. Its zero value means the
// server of this machine and its first model that can use tools.
type Config struct {
	Host          string        // URL, host:port or host; "" means 127.0.0.1:11434
	Model         string        // as `ollama list` names it; "" means the first that can use tools
	ContextWindow int           // tokens wanted (num_ctx); 0 means the Modelfile's, else at most 16384; never more than the model's own
	KeepAlive     time.Duration // how long the model stays loaded; 0 means the server's default, negative for ever
	RetryDelay    time.Duration // before a busy server is asked again, doubled each time; 0 means 500 ms
	Logger        *slog.Logger  // nil logs nothing
}

// Client asks the models of one server. What it finds out about a model it
// keeps, so that no request is made in vain twice. It may be used from several
// goroutines.
type Client struct {
	base   *url.URL
	api    *api.Client
	http   *http.Transport
	model  string
	window int
	alive  time.Duration
	delay  time.Duration
	log    *slog.Logger

	mu     sync.Mutex
	known  map[string]*known // by tagged name
	chosen string            // the model that answers where none is named; "" until the server has said
}

// New makes a client. It does not connect; it fails where Host is no
// address.
func New(cfg Config) (*Client, error) {
	base, err := parseHost(cfg.Host)
	if err != nil {
		return nil, err
	}
	if cfg.ContextWindow < 0 {
		return nil, fmt.Errorf("a context window of %d tokens is not possible; give a positive number, or 0 for the default", cfg.ContextWindow)
	}
	// No limit on the whole request or on its headers: a model may take
	// minutes to load. Request.Timeout and ctx bound it.
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		// A connection kept from before a restart of the server would fail the
		// next request; a new one costs nothing beside a model's work.
		DisableKeepAlives: true,
	}
	c := &Client{
		base:   base,
		api:    api.NewClient(base, &http.Client{Transport: transport}),
		http:   transport,
		model:  strings.TrimSpace(cfg.Model),
		window: cfg.ContextWindow,
		alive:  cfg.KeepAlive,
		delay:  cfg.RetryDelay,
		log:    cfg.Logger,
		known:  make(map[string]*known),
	}
	if c.delay <= 0 {
		c.delay = defaultDelay
	}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// Host is the URL of the server.
func (c *Client) Host() string { return c.base.String() }

// Close gives up connections that serve no request. Requests that are under
// way end with their context, not with Close.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Ask sends req to req.Model, or to the model that [Client.Describe] names for
// "", and returns the whole reply. Each piece of text or of thought goes to
// delta as it comes in, from the calling goroutine; delta may be nil. All pieces
// of text joined are Reply.Text, all pieces of thought joined are
// Reply.Thinking, also where a request had to be made twice; the tokens are
// those of both then. Where the server turns away tools, a think setting or a
// schema, it is asked again without; what it said is logged and remembered.
//
// Beside an error comes as much of the reply as had come in by then, but for its
// calls, on which nobody may act; what it cost is not known then. The error is a
// *CutStreamError where the reply broke off, a *StalledError where the model
// passed req.MaxThinking, a *PromptTooLongError where the request does not fit, a
// *TimeoutError where req.Timeout ran out; it wraps the error of ctx where that
// ended, and prompt.ErrNoModel where the server or the model is not there.
//
// Where the reply is read while it comes in (an answer in chat, a synthesis, a
// step in the model's own words), req.Timeout bounds the time in which nothing
// comes; else it bounds the whole.
func (c *Client) Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	if len(req.Messages) == 0 {
		return reply.Reply{}, errors.New("asking the model: the request has no message")
	}
	ctx, heard, end := limit(ctx, req)
	defer end()
	began := time.Now()
	info, about, err := c.describe(ctx, req.Model)
	if err != nil {
		return reply.Reply{}, c.explain(ctx, info, err)
	}
	x := &exchange{client: c, info: info, known: about, req: req, delta: delta, heard: heard}
	err = x.run(ctx)
	reply := x.reply()
	reply.MS = time.Since(began).Milliseconds()
	if err != nil {
		reply.Calls, reply.CutOff = nil, false
		return reply, c.explain(ctx, info, err)
	}
	c.log.Debug("the model has replied", "model", info.Name, "purpose", string(req.Purpose), "ms", reply.MS, "prompt_ms", reply.PromptMS,
		"prompt_tokens", reply.PromptTokens, "completion_tokens", reply.CompletionTokens, "calls", len(reply.Calls), "cut_off", reply.CutOff)
	return reply, nil
}
