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

	"replan/planning/fit"
	"replan/planning/prompt"
	"replan/planning/reply"

	"github.com/ollama/ollama/api"
)

const (
	dialTimeout  = 5 * time.Second
	defaultDelay = 500 * time.Millisecond
	busyTries    = 5 // with the default delay, half a second to four seconds apart
)

// Config selects the server and the model. The zero value means the local server
// and its first model that supports tools.
type Config struct {
	Host          string        // URL, host:port or host; "" means 127.0.0.1:11434
	Model         string        // as listed by `ollama list`; "" means the first that supports tools
	ContextWindow int           // requested tokens (num_ctx); 0 means the Modelfile's, else at most 16384; never more than the model's own
	KeepAlive     time.Duration // how long the model stays loaded; 0 means the server's default, negative forever
	RetryDelay    time.Duration // before retrying a busy server, doubled each time; 0 means 500 ms
	Learned       string        // file with what clients learned about servers; "" forgets it with the client
	Findings      string        // file with what replan fit found, see [fit.Table]; "" means that nothing was measured here
	Settings      *fit.Settings // that drive all models, whatever was found; nil follows the findings
	Memory        int64         // of this machine in bytes, by which a model is suggested; 0 is an ordinary one
	Install       string        // the command that installs Ollama here; "" if it is there
	Logger        *slog.Logger  // nil logs nothing

	// Serve starts a server of Ollama that listens at a host and port of this machine; nil if
	// Ollama is not installed.
	Serve func(host string) (Process, error)
}

// Client sends requests to the models of one server. It remembers what each model
// rejects, so that no request fails twice for the same reason. It is safe for
// concurrent use.
type Client struct {
	base     *url.URL
	api      *api.Client
	http     *http.Transport
	model    string
	window   int
	alive    time.Duration
	delay    time.Duration
	log      *slog.Logger
	file     string // see Config.Learned
	memory   int64  // see Config.Memory
	install  string // see Config.Install
	serve    func(host string) (Process, error)
	findings findings

	recollected sync.Once // file was read

	mu     sync.Mutex
	known  map[string]*known // by tagged name
	chosen string            // the model that answers if none is named; "" until the server has said
	grown  map[string]bool   // models whose context window has grown, by tagged name; it does so once
	server serverFacts
}

// New creates a client without connecting. It returns an error if Host is no
// valid address.
func New(cfg Config) (*Client, error) {
	base, err := parseHost(cfg.Host)
	if err != nil {
		return nil, err
	}
	if cfg.ContextWindow < 0 {
		return nil, fmt.Errorf("a context window of %d tokens is not possible; give a positive number, or 0 for the default", cfg.ContextWindow)
	}
	// No timeout on the whole request or on its headers: loading a model may take
	// minutes. Request.Timeout and ctx bound it.
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout: dialTimeout,
		// A connection kept from before a server restart would fail the next
		// request. Compared to a model's work a new one costs nothing.
		DisableKeepAlives: true,
	}
	log := cfg.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	c := &Client{
		base:     base,
		api:      api.NewClient(base, &http.Client{Transport: transport}),
		http:     transport,
		model:    strings.TrimSpace(cfg.Model),
		window:   cfg.ContextWindow,
		alive:    cfg.KeepAlive,
		delay:    cfg.RetryDelay,
		log:      log,
		file:     cfg.Learned,
		memory:   cfg.Memory,
		install:  cfg.Install,
		serve:    cfg.Serve,
		findings: findings{file: cfg.Findings, forced: cfg.Settings, log: log},
		known:    make(map[string]*known),
		grown:    make(map[string]bool),
	}
	if c.delay <= 0 {
		c.delay = defaultDelay
	}
	return c, nil
}

// Host returns the URL of the server.
func (c *Client) Host() string { return c.base.String() }

// logger returns the logger of the client.
func (c *Client) logger() *slog.Logger { return c.log }

// firstDelay returns the time to wait before the next request to a busy server.
func (c *Client) firstDelay() time.Duration { return c.delay }

// tape returns a tape for a request with this header, and a client that records on it.
func (c *Client) tape(purpose string) (*tape, *api.Client) {
	kept := &tape{base: c.http, purpose: purpose}
	return kept, api.NewClient(c.base, &http.Client{Transport: kept})
}

// Close closes idle connections. Requests in progress end with their context, not
// with Close.
func (c *Client) Close() error {
	c.http.CloseIdleConnections()
	return nil
}

// Ask sends req to req.Model, or to the model that [Client.Describe] returns for
// "", and returns the whole reply. It calls delta with each piece of text or
// thinking as it arrives, from the calling goroutine; delta may be nil. The
// pieces of text joined are Reply.Text, the pieces of thinking joined are
// Reply.Thinking.
//
// If the server rejects tools, a think setting or a schema, Ask retries without
// it; it logs and remembers the rejection. Text, thinking and tokens then cover
// both requests. If a reply breaks its format, Ask retries once with the other
// think setting. Should that one keep to the format, Reply.Text and
// Reply.Thinking are its own, and Reply.Note says so.
//
// With an error, Ask returns the part of the reply received so far, without its calls, which must not be
// acted on. Its cost is unknown. The error is a *CutStreamError if the reply broke off and a *StalledError if
// the model exceeded req.MaxThinking. It is a *PromptTooLongError if the request does not fit, not sent at
// all if it cannot, and a *TimeoutError if req.Timeout expired. It wraps the error of ctx if ctx ended, and
// prompt.ErrNoModel if the server or the model is missing.
//
// A request that lists its tools tells the client that calls of the model do not
// arrive as calls. It remembers that, and [Client.Describe] says so from then on.
//
// If the reply is read as it arrives, req.Timeout bounds the time without any output. So
// arrive a chat answer, a synthesis, and a step in the model's own words. Otherwise it
// bounds the whole request. If it is 0, both times follow the machine, see Forecast in
// package pace.
func (c *Client) Ask(ctx context.Context, req prompt.Request, delta func(text, thinking string)) (reply.Reply, error) {
	if len(req.Messages) == 0 {
		return reply.Reply{}, errors.New("asking the model: the request has no message")
	}
	unlimited := ctx
	ctx, extend, end := limit(ctx, req)
	defer func() { end() }()
	began := time.Now()
	info, about, err := c.describe(ctx, req.Model)
	if err != nil {
		return reply.Reply{}, c.explain(ctx, info, err)
	}
	if req.Never {
		return reply.Reply{ContextWindow: info.ContextWindow}, &PromptTooLongError{Model: info.Name, ContextWindow: info.ContextWindow, Part: req.TooLong}
	}
	if len(req.Listed) > 0 {
		c.keepsListing(ctx, about)
	}
	x := &exchange{client: c, info: info, known: about, req: req, delta: delta}
	if req.Timeout <= 0 {
		ctx, extend, end = limitByMachine(unlimited, req, x.forecast())
	}
	err = x.run(ctx, extend)
	reply := x.reply()
	reply.MS = time.Since(began).Milliseconds()
	if err != nil {
		if unlimited.Err() != nil && x.empty() {
			about.paced().stopped(x.rendered(), time.Since(began))
		} else {
			about.paced().fail()
		}
		reply.Calls, reply.CutOff = nil, false
		err = c.explain(ctx, info, err)
		if long, ok := errors.AsType[*PromptTooLongError](err); ok {
			long.Part = req.TooLong
		}
		return reply, err
	}
	x.learnPace(unlimited, &reply)
	c.log.Debug("the model has replied", "model", info.Name, "purpose", string(req.Purpose), "ms", reply.MS, "prompt_ms", reply.PromptMS,
		"prompt_tokens", reply.PromptTokens, "completion_tokens", reply.CompletionTokens, "calls", len(reply.Calls), "cut_off", reply.CutOff)
	return reply, nil
}
