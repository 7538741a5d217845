package connection

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
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
	wait time.Duration // for server/discover alone; 0 waits forever

	asked    bool               // server/discover was sent
	answered bool               // anything was answered
	late     chan probeAnswer   // receives the answer to server/discover if that takes longer than wait
	newer    bool               // the late answer showed the newer protocol
	lateDone bool               // the late answer came
	both     bool               // beside, the server has accepted initialize
	only     bool               // the configuration names the newer protocol, so initialize is not sent
	refused  error              // of server/discover, because a login or rights are missing; nil if it was not refused so
	stop     context.CancelFunc // of server/discover
	running  sync.WaitGroup     // requests
}

// probeAnswer is an answer during the handshake.
type probeAnswer struct {
	response *transport.JSONRPCResponse
	err      error
}

func (a probeAnswer) ok() bool { return a.err == nil && a.response != nil && a.response.Error == nil }

// fault returns the error that the server answered with.
func (a probeAnswer) fault() error {
	if a.response == nil || a.response.Error == nil {
		return errNoAnswer
	}
	return a.response.Error.AsError()
}

// errNoAnswer is the result of a probe that takes too long; the library then sends
// initialize.
var errNoAnswer = errors.New("the server has not answered server/discover yet")

// sender is a transport's method that sends a request.
type sender func(context.Context, transport.JSONRPCRequest) (*transport.JSONRPCResponse, error)

// send sends a request. It treats those of the handshake in its own way.
func (p *probe) send(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	switch r.Method {
	case string(mcp.MethodServerDiscover):
		return p.discover(ctx, r, send)
	case string(mcp.MethodInitialize):
		if p.wants() || p.only {
			return nil, cmp.Or(p.refused, errNoAnswer)
		}
		response, err := p.initialize(ctx, r, send)
		if a := (probeAnswer{response, err}); p.refused != nil && !a.ok() && ctx.Err() == nil {
			err = p.refused // what a server says of rights says more than how it refuses initialize
		}
		return response, err
	}
	return inVersion(send)(ctx, r)
}

// wants reports whether the server has said which login or rights it wants. Then it does
// know server/discover, and initialize would only tell that it does not know that.
func (p *probe) wants() bool {
	answered, ok := errors.AsType[*AnsweredError](p.refused)
	return errors.Is(p.refused, transport.ErrAuthorizationRequired) || ok && len(answered.scopes) > 0
}

// refusal returns the error with which a server refused a request because it lacks a login or
// of rights, else nil.
func refusal(err error) error {
	answered, ok := errors.AsType[*AnsweredError](err)
	if errors.Is(err, transport.ErrAuthorizationRequired) || ok && answered.status == http.StatusForbidden {
		return err
	}
	return nil
}

// inVersion sends a request once more if the server refuses its version of the protocol,
// but lists that very version as supported. While servers are replaced, a request may
// reach an old one. After such a refusal nothing was done.
func inVersion(send sender) sender {
	return func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		response, err := send(ctx, r)
		if !mcp.IsModernProtocol(mcp.NegotiateMutuallySupportedVersion(supported(response, err))) || ctx.Err() != nil {
			return response, err
		}
		if id, ok := r.ID.Value().(int64); ok {
			r.ID = mcp.NewRequestId(id + secondTry) // the library forgets an id only after it has passed on its answer
		}
		return send(ctx, r)
	}
}

// secondTry is far above the ids of the other requests of a connection.
const secondTry = 1 << 40

// supported returns the versions that a server names when it refuses that of a request.
func supported(response *transport.JSONRPCResponse, err error) []string {
	code, data := 0, any(nil)
	if answered, ok := errors.AsType[*AnsweredError](err); ok {
		code, data = answered.code, answered.data
	} else if err == nil && response != nil && response.Error != nil {
		code, data = response.Error.Code, response.Error.Data
	}
	var versions mcp.UnsupportedProtocolVersionData
	if text, err := json.Marshal(data); code != mcp.UNSUPPORTED_PROTOCOL_VERSION || err != nil || json.Unmarshal(text, &versions) != nil {
		return nil
	}
	return versions.Supported
}

// named takes an answer to server/discover without a version of the newer protocol for a
// refusal. Some older servers answer every method with an empty result.
func (p *probe) named(send sender) sender {
	return func(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
		response, err := send(ctx, r)
		if err != nil || response == nil || response.Error != nil || p.only {
			return response, err
		}
		var result mcp.DiscoverResult
		if json.Unmarshal(response.Result, &result) == nil && slices.ContainsFunc(result.SupportedVersions, mcp.IsModernProtocol) {
			return response, nil
		}
		return transport.NewJSONRPCErrorResponse(response.ID, mcp.METHOD_NOT_FOUND, "the answer names no version", nil), nil
	}
}

// start sends a request and returns the channel of its answer.
func (p *probe) start(ctx context.Context, r transport.JSONRPCRequest, send sender) chan probeAnswer {
	answer := make(chan probeAnswer, 1)
	p.running.Go(func() {
		response, err := send(ctx, r)
		answer <- probeAnswer{response, err}
	})
	return answer
}

func (p *probe) discover(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	ctx, p.stop = context.WithCancel(ctx)
	p.asked, p.refused = true, nil
	answer := p.start(ctx, r, p.named(inVersion(send)))
	var over <-chan time.Time
	if p.wait > 0 {
		timer := time.NewTimer(p.wait)
		defer timer.Stop()
		over = timer.C
	}
	select {
	case a := <-answer:
		p.answered, p.refused = a.err == nil, refusal(a.err)
		if p.only && !a.ok() && p.refused == nil {
			p.refused = cmp.Or(a.err, a.fault())
		}
		return a.response, a.err
	case <-over:
		p.late = answer
		return nil, errNoAnswer
	}
}

// initialize sends initialize, also while server/discover waits for its answer.
func (p *probe) initialize(ctx context.Context, r transport.JSONRPCRequest, send sender) (*transport.JSONRPCResponse, error) {
	if p.late == nil {
		return send(ctx, r)
	}
	answer, late := p.start(ctx, r, send), p.late
	var first *probeAnswer // the answer to initialize
	var grace <-chan time.Time
	for {
		select {
		case a := <-late:
			p.newer, p.lateDone, p.refused, late = a.ok(), a.err == nil, refusal(a.err), nil
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

// insist takes the version of the protocol that the configuration names.
func (p *probe) insist(version string) {
	p.wait = 0
	p.only = mcp.IsModernProtocol(version)
}

// showsNewer reports whether a late answer has shown the newer protocol.
func (p *probe) showsNewer() bool { return p.newer }

// newerAlone reports whether the server and this program have agreed upon nothing but the
// newer protocol, by an answer that came late. A server that is no process has forgotten
// what else it accepted.
func (p *probe) newerAlone(isProcess bool) bool { return p.newer && (!p.both || !isProcess) }

// again prepares for another handshake, in the newer protocol.
func (p *probe) again() { p.newer, p.wait = false, 0 }

// ignored reports whether the server answered initialize but not the probe.
func (p *probe) ignored() bool { return p.late != nil && p.answered && !p.lateDone }

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
