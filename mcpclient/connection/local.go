package connection

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// openLocal opens the transport to a server in this process.
func openLocal(s *server.MCPServer) link {
	record := &tap{}
	return link{transport: localTap{newLocal(s), record}, tap: record, probe: &probe{}}
}

// localTap passes the answers of the server on to the tap.
type localTap struct {
	*local
	tap *tap
}

// SendRequest sends a request and passes the answer to the tap.
func (l localTap) SendRequest(ctx context.Context, r transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	response, err := l.local.SendRequest(ctx, r)
	return l.tap.seen(r.Method, response, err)
}

// local is the transport to a server in this process. Unlike the library's
// own, it returns from a call only after all notifications of that call were
// handled, and its Close waits. So the last lines of a tool's output always
// arrive before its result.
type local struct {
	server  *server.MCPServer
	session *server.InProcessSession

	mu      sync.Mutex
	handler func(mcp.JSONRPCNotification)

	start     sync.Once
	startErr  error
	stop      sync.Once
	done      chan struct{}
	forwarder sync.WaitGroup
	late      func() <-chan time.Time // fires when a stopped call is abandoned
}

// leaveTime is how long a stopped call of a built-in tool may continue. Its
// children have 2 s to end before they are killed.
const leaveTime = 4 * time.Second

// barrier is the method of a notification queued after all earlier ones of the
// session. It never leaves this file.
const barrier = "replan/barrier"

func newLocal(s *server.MCPServer) *local {
	id := s.GenerateInProcessSessionID()
	return &local{
		server: s, session: server.NewInProcessSession(id, nil), done: make(chan struct{}),
		late: func() <-chan time.Time { return time.After(leaveTime) },
	}
}

// Start registers the session and starts forwarding its notifications.
func (l *local) Start(ctx context.Context) error {
	l.start.Do(func() {
		if err := l.server.RegisterSession(ctx, l.session); err != nil {
			l.startErr = fmt.Errorf("registering with the built-in server: %w", err)
			return
		}
		l.forwarder.Go(l.forward)
	})
	return l.startErr
}

func (l *local) forward() {
	for {
		select {
		case <-l.done:
			return
		case n := <-l.session.ClientNotifications():
			if n.Method == barrier {
				if passed, ok := n.Params.AdditionalFields[barrier].(chan struct{}); ok {
					close(passed)
				}
				continue
			}
			l.mu.Lock()
			handler := l.handler
			l.mu.Unlock()
			if handler != nil {
				handler(n)
			}
		}
	}
}

// SendRequest passes the request to the server. The handler sees ctx end. If
// it is too busy to react, SendRequest abandons it and discards its result.
// The handler must therefore check ctx again before it changes anything.
func (l *local) SendRequest(ctx context.Context, request transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	text, err := json.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	answered := make(chan mcp.JSONRPCMessage, 1)
	go func() { answered <- l.server.HandleMessage(l.server.WithContext(ctx, l.session), text) }()
	var answer mcp.JSONRPCMessage
	select {
	case answer = <-answered:
	case <-ctx.Done():
		select {
		case answer = <-answered:
		case <-l.late():
			return nil, fmt.Errorf("the built-in server is too busy to stop, and was left: %w", context.Cause(ctx))
		}
	}
	reply, err := json.Marshal(answer)
	if err != nil {
		return nil, fmt.Errorf("encoding the reply: %w", err)
	}
	var response transport.JSONRPCResponse
	if err := json.Unmarshal(reply, &response); err != nil {
		return nil, fmt.Errorf("reading the reply: %w", err)
	}
	if request.Method == string(mcp.MethodToolsCall) {
		l.awaitNotifications()
	}
	return &response, nil
}

func (l *local) awaitNotifications() {
	passed := make(chan struct{})
	n := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	n.Method = barrier
	n.Params.AdditionalFields = map[string]any{barrier: passed}
	select {
	case l.session.NotificationChannel() <- n:
	case <-l.done:
		return
	}
	select {
	case <-passed:
	case <-l.done:
	}
}

// SendNotification passes the notification to the server.
func (l *local) SendNotification(ctx context.Context, notification mcp.JSONRPCNotification) error {
	text, err := json.Marshal(notification)
	if err != nil {
		return fmt.Errorf("encoding the notification: %w", err)
	}
	l.server.HandleMessage(l.server.WithContext(ctx, l.session), text)
	return nil
}

// SetNotificationHandler replaces the handler of the server's notifications.
func (l *local) SetNotificationHandler(handler func(mcp.JSONRPCNotification)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.handler = handler
}

// Close ends the session. The server still belongs to its creator.
func (l *local) Close() error {
	l.stop.Do(func() {
		close(l.done)
		l.server.UnregisterSession(context.Background(), l.session.SessionID())
	})
	l.forwarder.Wait()
	return nil
}

// GetSessionId returns "", since there is no session on the wire.
func (l *local) GetSessionId() string { return "" } //nolint:revive // the library's name
