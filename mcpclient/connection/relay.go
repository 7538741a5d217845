package connection

import (
	"encoding/json"
	"strconv"
	"strings"
	"sync"

	"replan/planning/plan"

	"github.com/mark3labs/mcp-go/mcp"
)

// relays are the relays of the calls on a connection, by progress token.
type relays struct {
	mu      sync.Mutex
	last    int64 // number of a token
	running map[string]*relay
}

func newRelays() *relays { return &relays{running: map[string]*relay{}} }

// listen returns a progress token for a call and a function that ends its
// relay. The token is nil before listen.
func (r *relays) listen(call plan.ToolCall, builtin bool) (mcp.ProgressToken, func()) {
	if call.Output == nil && call.Progress == nil {
		return nil, func() {}
	}
	one := newRelay(call, builtin)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	token := "call-" + strconv.FormatInt(r.last, 10)
	r.running[token] = one
	return token, func() {
		r.mu.Lock()
		delete(r.running, token)
		r.mu.Unlock()
		one.finish()
	}
}

// take passes a notification on to the relay of its token, if there is one.
func (r *relays) take(token string, p progress) {
	r.mu.Lock()
	one := r.running[token]
	r.mu.Unlock()
	if one != nil {
		one.take(p)
	}
}

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
