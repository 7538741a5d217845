package pooltest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// Session is an HTTP server of an older protocol with sessions.
type Session struct {
	*httptest.Server
	mu       sync.Mutex
	id       int
	refuse   int           // status for what the server does not like
	Called   chan struct{} // receives when a call of fail hangs
	Received chan string   // methods
	Events   chan string   // for the stream of notifications
}

// NewSession returns such a server, which answers refuse to requests of unknown sessions.
func NewSession(t *testing.T, refuse int) *Session {
	t.Helper()
	s := &Session{id: 1, refuse: refuse, Called: make(chan struct{}, 1), Received: make(chan string, 100), Events: make(chan string)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

// ServeHTTP answers a request.
func (s *Session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	id := fmt.Sprint("s", s.id)
	s.mu.Unlock()
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case event := <-s.Events:
				_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
	var m Message
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	s.Received <- m.Method
	w.Header().Set("Content-Type", "application/json")
	known := r.Header.Get("Mcp-Session-Id") == id
	switch {
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", id)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, strings.Replace(OlderGreeting, `"tools":{}`, `"tools":{"listChanged":true}`, 1))
	case !known:
		w.WriteHeader(s.refuse)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)
	case m.Method == "tools/list":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, ToolList)
	case m.Method == "tools/call" && m.Params.Name == "fail":
		s.Called <- struct{}{}
		<-r.Context().Done()
	case m.Method == "tools/call":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, EchoResult)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// Restart forgets the session.
func (s *Session) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id++
}

// Await waits until the server has received a method.
func (s *Session) Await(t *testing.T, method string) {
	t.Helper()
	for {
		select {
		case got := <-s.Received:
			if got == method {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("the server never received %s", method)
		}
	}
}
