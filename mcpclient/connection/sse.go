package connection

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"

	"replan/mcpclient/incoming"
)

// openSSE opens the transport of 2024-11-05 to a server. It sends no request yet. relist
// hears of the end of the stream.
func openSSE(settings Settings, to Target, relist listRequest) (link, error) {
	w := newWay(settings, to)
	t := &sseTap{tap: &tap{}, limit: to.StartTimeout, ended: make(chan struct{}), way: w, requests: incoming.NewRequests()}
	w.client.Transport = incoming.StreamRequests{RoundTripper: w.client.Transport, Take: t.takeRequest}
	h, err := transport.NewSSE(to.Server.URL,
		transport.WithHeaders(w.headers), transport.WithHTTPClient(w.client), transport.WithSSELogger(slog.New(&once{Handler: to.Log.Handler()})),
		transport.WithEndpointTimeout(math.MaxInt64), transport.WithResponseTimeout(math.MaxInt64)) // there are other limits
	if err != nil {
		return link{}, errors.New("its url cannot be read")
	}
	t.SSE = h
	var once sync.Once
	h.SetConnectionLostHandler(func(error) {
		once.Do(func() { close(t.ended) })
		relist.request()
	})
	return w.link(t, t.tap, &probe{}, client.WithLegacyProtocolOnly()), nil //nolint:staticcheck // the transport has no other
}

// sseTap is the SSE transport. It opens its stream with the first request, so that an
// unreachable server is retried like any other. Once the stream has
// ended, each request fails as in an ended session, which another connection replaces.
type sseTap struct {
	*transport.SSE
	tap   *tap
	limit time.Duration // to open the stream

	life  context.Context // of the connection
	ended chan struct{}   // closed when the stream has ended

	mu     sync.Mutex
	opened context.CancelCauseFunc // ends the stream; nil if it is not open

	cancels cancels

	way      way
	requests *incoming.Requests
}

// SetRequestHandler sets the handler of the server's requests.
func (s *sseTap) SetRequestHandler(handle transport.RequestHandler) { s.requests.SetHandler(handle) }

func (s *sseTap) takeRequest(r transport.JSONRPCRequest) {
	_ = s.requests.Take(s.life, r, func(ctx context.Context, body []byte) {
		s.way.post(ctx, s.GetEndpoint().String(), http.Header{}, body)
	})
}

// Start opens nothing yet.
func (s *sseTap) Start(ctx context.Context) error {
	s.life = ctx
	return nil
}

// open opens the stream, if it is not open.
func (s *sseTap) open(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		return nil
	}
	got := &answer{stream: true}
	stream, cancel := context.WithCancelCause(context.WithValue(s.life, answerKey{}, got))
	late := time.AfterFunc(s.limit, func() { cancel(fmt.Errorf("did not answer within %s", s.limit)) })
	defer late.Stop()
	defer context.AfterFunc(ctx, func() { cancel(context.Cause(ctx)) })()
	err := s.SSE.Start(stream)
	if err == nil && s.GetEndpoint().Scheme != s.GetBaseURL().Scheme {
		err = errors.New("names an address without TLS for its messages")
	}
	if err != nil {
		if stream.Err() != nil {
			err = context.Cause(stream)
		}
		cancel(err)
		_, err = got.read("", nil, err)
		return err
	}
	s.opened = cancel
	return nil
}

// SendRequest sends a request and passes the answer to the tap.
func (s *sseTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := s.send(ctx, r)
	return s.tap.seen(r.Method, response, err)
}

func (s *sseTap) send(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	if s.isEnded() {
		return nil, transport.ErrSessionTerminated
	}
	var got answer
	within, cancel := context.WithCancel(context.WithValue(ctx, answerKey{}, &got))
	defer cancel()
	sent := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-s.ended:
			cancel()
		case <-sent:
		}
	})
	response, err := s.SSE.SendRequest(within, r)
	close(sent)
	watch.Wait()
	switch {
	case err == nil:
		return response, nil
	case s.isEnded():
		return nil, ErrBroken
	case ctx.Err() != nil:
		s.cancels.send(ctx, r, s.SendNotification)
		return nil, err
	}
	return got.read(r.Method, response, err)
}

func (s *sseTap) isEnded() bool {
	select {
	case <-s.ended:
		return true
	default:
		return false
	}
}

// Close ends the stream, after all cancellations were sent.
func (s *sseTap) Close() error {
	s.requests.Close()
	s.cancels.Wait()
	err := s.SSE.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.opened != nil {
		s.opened(nil)
	}
	return err
}
