package mcpclient

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// probe watches over the handshake. The library first sends server/discover, the
// probe for the protocol of 2026-07-28, and then initialize unless a server
// answered. Some servers never answer the probe; others only start slowly. So
// after a while the probe sends initialize too, and takes whichever answer comes:
// a late answer to server/discover still shows the newer protocol.
type probe struct {
	wait time.Duration // for server/discover alone; 0 waits for ever

	asked    bool               // server/discover was sent
	answered bool               // anything was answered
	late     chan probed        // receives the answer to server/discover if that takes longer than wait
	newer    bool               // the late answer showed the newer protocol
	came     bool               // there was a late answer
	both     bool               // beside, the server has accepted initialize
	stop     context.CancelFunc // of server/discover
	running  sync.WaitGroup     // requests
}

// probed is an answer during the handshake.
type probed struct {
	response *transport.JSONRPCResponse
	err      error
}

func (a probed) ok() bool { return a.err == nil && a.response != nil && a.response.Error == nil }

// errNoAnswer is the result of a probe that takes too long; the library then sends
// initialize.
var errNoAnswer = errors.New("the server has not answered server/discover yet")

// sender is a transport's method that sends a request.
type sender func(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error)

// send sends a request. It treats those of the handshake in its own way.
func (p *probe) send(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	switch {
	case r.Method == string(mcp.MethodServerDiscover):
		return p.discover(ctx, r, send)
	case r.Method == string(mcp.MethodInitialize) && p.late != nil:
		return p.initialize(ctx, r, send)
	}
	return send(ctx, r)
}

// start sends a request and returns the channel of its answer.
func (p *probe) start(ctx context.Context, r transport.JSONRPCRequest, send sender) chan probed {
	answer := make(chan probed, 1)
	p.running.Go(func() {
		response, err := send(ctx, r)
		answer <- probed{response, err}
	})
	return answer
}

func (p *probe) discover(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	ctx, p.stop = context.WithCancel(ctx)
	p.asked = true
	answer := p.start(ctx, r, send)
	var over <-chan time.Time
	if p.wait > 0 {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case a := <-answer:
		p.answered = a.err == nil
		return a.response, a.err
	case <-over:
		p.late = answer
		return nil, errNoAnswer
	}
}

// initialize sends initialize while server/discover waits for its answer.
func (p *probe) initialize(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	answer, late := p.start(ctx, r, send), p.late
	var first *probed // the answer to initialize
	var grace <-chan time.Time
	for {
		select {
		case a := <-late:
			p.newer, p.came, late = a.ok(), a.err == nil, nil
		case a := <-answer:
			first, answer = &a, nil
			if a.ok() {
				grace = time.After(orderGrace)
			} // else the server may have given up initialize
		case <-grace:
			late = nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch {
		case first == nil || late != nil && !p.newer:
		case p.newer:
			p.answered, p.both = true, first.ok()
			return nil, errNewer
		default:
			p.answered = first.err == nil
			return first.response, first.err
		}
	}
}

// orderGrace is how long the answer to server/discover may take after that to
// initialize: servers may answer in any order.
const orderGrace = 100 * time.Millisecond

// errNewer ends a handshake by initialize with a server that speaks the newer
// protocol.
var errNewer = errors.New("the server speaks the protocol of " + mcp.ProtocolVersion20260728)

// ignored reports whether the server answered initialize but not the probe.
func (p *probe) ignored() bool { return p.late != nil && p.answered && !p.came }

// killed reports, of a server that has ended, whether it answered nothing after the
// probe. Some servers take any first message but initialize for an error.
func (p *probe) killed() bool { return p.asked && !p.answered }

// end forgets a probe that was not answered.
func (p *probe) end() {
	if p.stop != nil {
		p.stop()
	}
	p.running.Wait()
	p.late, p.stop = nil, nil
}
