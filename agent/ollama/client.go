// Package ollama answers requests with a model of an Ollama server. It knows
// where that server's own client is too trusting: a stream that ends early, a
// prompt that is too long, a context window that changes, a model that thinks
// where it should answer.
package ollama

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/ollama/ollama/api"

	"replan/planning"
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

// Client asks one model. It may be used from several goroutines.
type Client struct {
	base   *url.URL
	api    *api.Client
	http   *http.Transport
	model  string
	window int
	alive  time.Duration
	delay  time.Duration
	log    *slog.Logger

	described     atomic.Pointer[planning.ModelInfo]
	unsetThink    atomic.Bool // the server has rejected the think setting
	thinkToFormat atomic.Bool // formatted replies have come out empty without thinking
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

// Ask sends req and returns the whole reply. Each piece of text or of thought
// goes to delta as it comes in, from the calling goroutine; delta may be nil.
// All pieces of text joined are Reply.Text, all pieces of thought joined are
// Reply.Thinking, also where a request had to be made twice; the tokens are
// those of both then.
//
// The error is a *CutStreamError where the reply broke off, a
// *PromptTooLongError where the request does not fit, a *TimeoutError where
// req.Timeout ran out; it wraps the error of ctx where that ended, and
// planning.ErrNoModel where the server or the model is not there.
func (c *Client) Ask(ctx context.Context, req planning.Request, delta func(text, thinking string)) (planning.Reply, error) {
	if len(req.Messages) == 0 {
		return planning.Reply{}, errors.New("asking the model: the request has no message")
	}
	if req.Timeout > 0 {
		cause := &TimeoutError{After: req.Timeout, Err: context.DeadlineExceeded}
		limited, cancel := context.WithTimeoutCause(ctx, req.Timeout, cause)
		defer cancel()
		ctx = limited
	}
	began := time.Now()
	info, err := c.Describe(ctx)
	if err != nil {
		return planning.Reply{}, c.explain(ctx, c.model, 0, err)
	}
	x := &exchange{client: c, info: info, req: req, delta: delta}
	if err := x.run(ctx); err != nil {
		return planning.Reply{}, c.explain(ctx, info.Name, info.ContextWindow, err)
	}
	reply := planning.Reply{
		Text:             x.text.String(),
		Thinking:         x.thinking.String(),
		CutOff:           x.cutOff,
		PromptTokens:     x.promptTokens,
		CompletionTokens: x.completionTokens,
		ContextWindow:    info.ContextWindow,
		MS:               time.Since(began).Milliseconds(),
	}
	c.log.Debug("the model has replied", "model", info.Name, "purpose", string(req.Purpose), "ms", reply.MS,
		"prompt_tokens", reply.PromptTokens, "completion_tokens", reply.CompletionTokens, "cut_off", reply.CutOff)
	return reply, nil
}

// explain turns an error into one that says what to do. What ended ctx goes
// before all else: whatever the connection says then only follows from it.
func (c *Client) explain(ctx context.Context, name string, window int, err error) error {
	if ctx.Err() != nil {
		cause := context.Cause(ctx)
		if errors.Is(cause, ctx.Err()) {
			return fmt.Errorf("asking the model at %s: %w", c.base, cause)
		}
		return fmt.Errorf("asking the model at %s: %w (%w)", c.base, ctx.Err(), cause)
	}
	var cut *CutStreamError
	if errors.As(err, &cut) || errors.Is(err, planning.ErrNoModel) {
		return err
	}
	if silent(err) {
		return c.unanswered(name, err)
	}
	code, _ := status(err)
	switch {
	case tooLong(err):
		return &PromptTooLongError{Model: name, ContextWindow: window, Err: err}
	case code == http.StatusNotFound:
		return c.missing(ctx, name, err)
	case code == http.StatusServiceUnavailable:
		return fmt.Errorf("the Ollama at %s has too many other requests and stayed so through %d tries; try again when it has less to do: %w", c.base, busyTries, err)
	case code == http.StatusUnauthorized:
		return fmt.Errorf("the Ollama at %s wants to know who asks, `ollama signin` tells it: %w", c.base, err)
	}
	return fmt.Errorf("asking %s at %s, whose log may say more: %w", name, c.base, err)
}

// unanswered is the error for a request that got no answer at all.
func (c *Client) unanswered(name string, err error) error {
	if refusedToDial(err) {
		return c.unreachable(err)
	}
	return &CutStreamError{Model: name, Err: reason(err)}
}

// exchange is one request with all the tries that it takes.
type exchange struct {
	client *Client
	info   planning.ModelInfo
	req    planning.Request
	delta  func(text, thinking string)

	text, thinking   strings.Builder
	cutOff           bool
	promptTokens     int
	completionTokens int
}

// run asks until there is a reply: again without a think setting where the
// server rejects it, and once more with the other setting where a formatted
// reply has no words in it.
func (x *exchange) run(ctx context.Context) error {
	think := x.think()
	err := x.whenFree(ctx, think)
	if think != nil && rejectsThinking(err) {
		x.client.log.Warn("the server rejects the think setting", "model", x.info.Name, "error", err)
		x.client.unsetThink.Store(true)
		think = nil
		err = x.whenFree(ctx, think)
	}
	if think == nil || len(x.req.Format) == 0 || !x.wordless(err) {
		return err
	}
	other := !think.Bool()
	x.client.log.Warn("a formatted reply has no words in it", "model", x.info.Name, "think", think.Bool(), "error", err)
	again := x.whenFree(ctx, &api.ThinkValue{Value: other})
	if again != nil && err == nil && ctx.Err() == nil {
		// The first reply was empty but sound; the parser says what it lacks.
		x.client.log.Warn("asking again did not help", "model", x.info.Name, "error", again)
		return nil
	}
	if again == nil && !x.wordless(nil) {
		x.client.thinkToFormat.Store(other)
	}
	return again
}

// wordless says whether a reply came, whole or broken off, that is blank.
func (x *exchange) wordless(err error) bool {
	var cut *CutStreamError
	return (err == nil || errors.As(err, &cut)) && strings.TrimSpace(x.text.String()) == ""
}

// think is the think setting: none for a model that does not think, and off
// with a format, which otherwise binds only after the thinking.
func (x *exchange) think() *api.ThinkValue {
	switch {
	case !x.info.Thinks || x.client.unsetThink.Load():
		return nil
	case len(x.req.Format) > 0:
		return &api.ThinkValue{Value: x.client.thinkToFormat.Load()}
	}
	return &api.ThinkValue{Value: x.req.Think}
}

// whenFree asks, and asks a busy server again with growing pauses.
func (x *exchange) whenFree(ctx context.Context, think *api.ThinkValue) error {
	delay := x.client.delay
	for try := 1; ; try++ {
		err := x.once(ctx, think)
		if code, _ := status(err); code != http.StatusServiceUnavailable || try == busyTries {
			return err
		}
		x.client.log.Info("Ollama is busy", "try", try, "again_in", delay)
		if err := pause(ctx, delay); err != nil {
			return err
		}
		delay *= 2
	}
}

func pause(ctx context.Context, delay time.Duration) error {
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// once makes one HTTP request and takes in its stream.
func (x *exchange) once(ctx context.Context, think *api.ThinkValue) error {
	answered, done := false, false
	err := x.client.api.Chat(ctx, x.chatRequest(think), func(line api.ChatResponse) error {
		answered = true
		x.take(line.Message.Content, line.Message.Thinking)
		if line.Done {
			done = true
			x.cutOff = line.DoneReason == "length"
			x.promptTokens += line.PromptEvalCount
			x.completionTokens += line.EvalCount
		}
		return nil
	})
	switch code, _ := status(err); {
	case done:
		return nil // what the connection does afterwards is of no matter
	case code != 0 || silent(err):
		return err
	case err == nil && answered:
		err = fmt.Errorf("the server ended the stream: %w", io.ErrUnexpectedEOF)
	case err == nil:
		err = fmt.Errorf("the server sent nothing: %w", io.ErrUnexpectedEOF)
	}
	return &CutStreamError{Model: x.info.Name, Bytes: x.text.Len(), Err: err}
}

func (x *exchange) take(text, thinking string) {
	if text == "" && thinking == "" {
		return
	}
	x.text.WriteString(text)
	x.thinking.WriteString(thinking)
	if x.delta != nil {
		x.delta(text, thinking)
	}
}

// chatRequest is the request as Ollama wants it. The context window is the
// same in every request of a client, as the server loads the model anew where
// it changes; and the server may neither cut the prompt nor shift it out of
// the window in silence.
func (x *exchange) chatRequest(think *api.ThinkValue) *api.ChatRequest {
	stream, no := true, false
	chat := &api.ChatRequest{
		Model:    x.info.Name,
		Stream:   &stream,
		Format:   x.req.Format,
		Options:  map[string]any{"num_ctx": x.info.ContextWindow},
		Think:    think,
		Truncate: &no,
		Shift:    &no,
	}
	if x.req.MaxTokens > 0 {
		chat.Options["num_predict"] = x.req.MaxTokens
	}
	if x.client.alive != 0 {
		chat.KeepAlive = &api.Duration{Duration: x.client.alive}
	}
	for _, m := range x.req.Messages {
		chat.Messages = append(chat.Messages, api.Message{Role: string(m.Role), Content: m.Content})
	}
	return chat
}
