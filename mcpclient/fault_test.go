package mcpclient_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// message is a message in the wire format.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name string `json:"name"`
	} `json:"params"`
}

// Answers of a server in the wire format.
const (
	older = `{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"f","version":"1"}}`
	newer = `{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"f","version":"1"}}}`
	tools = `{"tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"fail","inputSchema":{"type":"object"}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	echo  = `{"content":[{"type":"text","text":"echo"}],"resultType":"complete"}`
)

// faulty serves MCP on standard input and output, word by word, with a fault. It
// appends each method that it receives to the file TRACE.
func faulty(fault string) {
	reply := func(m message, result string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", m.ID, result)
	}
	refuse := func(m message, code int, text string) {
		fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%q}}`+"\n", m.ID, code, text)
	}
	if strings.HasPrefix(fault, "slow") {
		time.Sleep(1200 * time.Millisecond) // longer than the probe waits alone
	}
	if fault == "sleeps" {
		time.Sleep(time.Second)
	}
	listed, refused := false, false
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var m message
		_ = json.Unmarshal(lines.Bytes(), &m)
		trace(m.Method)
		switch {
		case fault == "says nothing":
			fmt.Fprintln(os.Stderr, "got", m.Method)
		case m.Method == "server/discover" && fault == "ends at the probe":
			fmt.Fprintln(os.Stderr, "Error: expect initialized request")
			os.Exit(1)
		case m.Method == "server/discover" && fault == "ignores the probe":
		case m.Method == "server/discover" && fault == "empty answers":
			reply(m, "{}")
		case m.Method == "server/discover" && fault == "refuses the version once" && !refused:
			refused = true
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2026-07-28"}}}`+"\n", m.ID)
		case m.Method == "server/discover" && fault == "refuses the version once":
			reply(m, newer)
		case fault == "ids are texts" && len(m.ID) > 0:
			m.ID = json.RawMessage(strconv.Quote(string(m.ID)))
			reply(m, map[string]string{"initialize": older, "tools/list": tools, "tools/call": echo}[m.Method])
		case m.Method == "tools/call" && fault == "answers over several lines":
			fmt.Printf("{\n  \"jsonrpc\": \"2.0\",\n  \"id\": %s,\n  \"result\": %s\n}\n", m.ID, echo)
		case m.Method == "tools/call" && fault == "writes noise":
			fmt.Print("Starting up…\n\n{\"level\":\"info\"}\n[1,2]\n\"x\"\n")
			reply(m, echo)
		case m.Method == "server/discover" && (fault == "slow and newer" || fault == "slow and both" || fault == "wants a capability" || fault == "asks for ever" || fault == "wants sampling"):
			reply(m, newer)
		case m.Method == "server/discover":
			refuse(m, -32601, "unknown method")
		case m.Method == "initialize" && fault == "slow and newer":
			refuse(m, -32022, "unsupported protocol version")
		case m.Method == "initialize":
			reply(m, older)
		case m.Method == "tools/list" && fault == "lists once" && listed:
			refuse(m, -32603, "no list")
		case m.Method == "tools/list":
			reply(m, tools)
			listed = true
			if fault == "changes at each list" {
				fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
			}
		case m.Method == "tools/call" && fault == "ends in mid-line":
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"resu`, m.ID)
			os.Exit(9)
		case m.Method == "tools/call" && fault == "wants a capability":
			refuse(m, -32021, "missing required client capability: elicitation")
		case m.Method == "tools/call" && fault == "wants sampling":
			reply(m, `{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}},"requestState":"x"}`)
		case m.Method == "tools/call" && fault == "asks for ever":
			reply(m, `{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"message":"name?","requestedSchema":{"type":"object"}}}},"requestState":"x"}`)
		case m.Method == "tools/call" && fault == "answers twice":
			reply(m, echo)
			reply(m, echo)
		case m.Method == "tools/call" && fault == "lists once":
			reply(m, echo)
			fmt.Println(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		case m.Method == "tools/call" && fault == "pings": // with the number of the call itself
			fmt.Printf(`{"jsonrpc":"2.0","id":%s,"method":"ping"}`+"\n", m.ID)
		case m.Method == "" && fault == "pings":
			reply(m, echo)
		case m.Method == "tools/call" && fault == "ignores cancel":
		case m.Method == "tools/call" && m.Params.Name == "fail":
			os.Exit(9)
		case m.Method == "tools/call":
			reply(m, echo)
		}
	}
}

func trace(method string) {
	path := os.Getenv("TRACE")
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		os.Exit(5)
	}
	_, _ = fmt.Fprintln(f, method)
	_ = f.Close()
}

// fault returns a server with a fault, and a function that returns the methods that
// its processes have received.
func fault(t *testing.T, what string) (config.Server, func() string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	return aChild("k", "fault", map[string]string{"FAULT": what, "TRACE": file}), func() string {
		text, _ := os.ReadFile(file)
		return strings.Join(strings.Fields(string(text)), " ")
	}
}

func TestEveryEraIsGreetedAsItUnderstands(t *testing.T) {
	for what, c := range map[string]struct{ first, later string }{
		"":                  {"server/discover initialize notifications/initialized tools/list", "server/discover initialize notifications/initialized tools/list"},
		"ends at the probe": {"server/discover initialize notifications/initialized tools/list", "initialize notifications/initialized tools/list"},
		"ignores the probe": {"server/discover initialize notifications/initialized tools/list", "initialize notifications/initialized tools/list"},
		"slow and newer":    {"server/discover initialize server/discover tools/list", "server/discover tools/list"},
		"slow and both":     {"server/discover initialize server/discover tools/list", "server/discover tools/list"},
		"empty answers":     {"server/discover initialize notifications/initialized tools/list", "server/discover initialize notifications/initialized tools/list"},

		"refuses the version once": {"server/discover server/discover tools/list", "server/discover server/discover tools/list"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s, received := fault(t, what)
			cfg := mcpclient.Config{Servers: []config.Server{s}, HandshakeFile: filepath.Join(t.TempDir(), "handshakes.json"), ProbeWait: time.Minute}
			if strings.HasPrefix(what, "slow") || what == "ignores the probe" {
				cfg.ProbeWait = time.Second
			}
			for _, want := range []string{c.first, c.later} {
				before := received()
				p := newPool(t, cfg)
				if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
					t.Errorf("got %v, %v", got, err)
				}
				if got := strings.TrimPrefix(received()[len(before):], " "); got != want+" tools/call" {
					t.Errorf("got requests %q, want %q", got, want)
				}
				if err := p.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func TestRefusedCallsOfChildAreNotInDoubt(t *testing.T) {
	t.Parallel()
	for what, want := range map[string]string{
		"wants a capability": "missing required client capability: elicitation",
		"wants sampling":     "the server asks in the middle of the call for something that replan cannot give",
		"asks for ever":      "the server asked for input 10 times in one call, or to call again later too often",
	} {
		t.Run(what, func(t *testing.T) {
			s, _ := fault(t, what)
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
			if _, err := call(t, p, "echo", nil); !isToolError(err) || err.Error() != want {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestSecondAnswerIsIgnored(t *testing.T) {
	s, _ := fault(t, "answers twice")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
	for range 3 {
		if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

func TestLostServerIsStartedForTheNextCall(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, RestartWaits: []time.Duration{time.Hour, time.Hour}})
	echo, fail := tool(t, p, "echo"), tool(t, p, "fail")
	for range 5 { // a call that succeeds makes the next loss the first one again
		if _, err := p.Call(t.Context(), plan.ToolCall{Tool: fail}); err == nil || isToolError(err) || !strings.Contains(err.Error(), "exited with exit status 9") {
			t.Errorf("got %v, want an unknown outcome", err)
		}
		if got, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err != nil || got != "echo" {
			t.Fatalf("got %v, %v", got, err)
		}
	}
}

func TestLostServerComesBackByItself(t *testing.T) {
	t.Parallel()
	s, _ := fault(t, "ends in mid-line")
	p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, RestartWaits: []time.Duration{time.Millisecond}})
	echo := tool(t, p, "echo")
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err == nil || isToolError(err) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
	awaitState(t, p, plan.ServerReady)
	// It was lost twice without a successful call: then it stays lost.
	_, _ = p.Call(t.Context(), plan.ToolCall{Tool: echo})
	awaitState(t, p, plan.ServerFailed)
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); !isToolError(err) || !strings.Contains(err.Error(), "restarted 1 time without success") {
		t.Errorf("got %v", err)
	}
	if err := p.Restart("k"); err != nil {
		t.Fatal(err)
	}
	awaitState(t, p, plan.ServerReady)
}

func TestStartFailuresSayWhatToDo(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		server config.Server
		want   string
	}{
		"missing folder":  {config.Server{Command: os.Args[0], Dir: "gone"}, "its working directory " + filepath.Join(dir, "gone") + " does not exist"},
		"missing program": {config.Server{Command: "no-such-program"}, "there is no program no-such-program in its PATH"},
	} {
		t.Run(name, func(t *testing.T) {
			c.server.Name = "k"
			p := newPool(t, mcpclient.Config{Dir: dir, Servers: []config.Server{c.server}})
			real, _ := filepath.EvalSymlinks(dir)
			if got := status(t, p, "k"); got.State != plan.ServerFailed || !strings.Contains(strings.ReplaceAll(string(got.Error), real, dir), c.want) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestCommandIsFoundInThePathOfTheConfiguration(t *testing.T) {
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(exe, filepath.Join(dir, "srv")); err != nil {
		t.Skip(err)
	}
	for _, command := range []string{"srv", "~/srv"} {
		s := aChild("k", "fault", map[string]string{"PATH": dir, "HOME": dir})
		s.Command = command
		p := newPool(t, mcpclient.Config{Servers: []config.Server{s}})
		if got := status(t, p, "k"); got.State != plan.ServerReady {
			t.Errorf("%s: got %+v", command, got)
		}
	}
}

func TestStandardErrorGoesToTheLogOfTheServer(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "logs")
	p := newPool(t, mcpclient.Config{LogDir: dir, Servers: []config.Server{aChild("k", "broken", nil)}})
	got := status(t, p, "k")
	text, err := os.ReadFile(got.Log)
	if err != nil || !strings.Contains(string(text), "starting\ncannot find my configuration\n") {
		t.Errorf("got %q, %v in %q", text, err, got.Log)
	}
	if info, err := os.Stat(got.Log); err == nil && info.Mode().Perm()&0o077 != 0 {
		t.Errorf("got mode %v", info.Mode())
	}
}

func TestStartingServerShowsWhatItWrites(t *testing.T) {
	p := newPool(t, mcpclient.Config{Servers: []config.Server{aChild("mute", "mute", nil)}})
	changed := make(chan struct{}, 100)
	p.Watch(func() { changed <- struct{}{} })
	for p.Status()[0].Doing != "still compiling" {
		<-changed
	}
}

func TestServersAreKeptBackUntilSomebodyNeedsThem(t *testing.T) {
	t.Parallel()
	for name, need := range map[string]func(*mcpclient.Pool){
		"started": (*mcpclient.Pool).Start,
		"awaited": func(p *mcpclient.Pool) { p.ReadyFor(t.Context(), []string{"k:echo"}) },
		"called": func(p *mcpclient.Pool) {
			_, _ = p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "echo", Server: "k"}})
		},
		"restarted": func(p *mcpclient.Pool) { _ = p.Restart("k") },
	} {
		t.Run(name, func(t *testing.T) {
			s, received := fault(t, "")
			p := newPool(t, mcpclient.Config{Servers: []config.Server{s}, Later: true})
			now, cancel := context.WithCancel(t.Context())
			cancel()
			p.Ready(now)
			if got := p.Status()[0]; got.State != plan.ServerStarting || received() != "" {
				t.Errorf("got %+v and %q before", got, received())
			}
			need(p)
			awaitState(t, p, plan.ServerReady)
		})
	}
}

func TestBuiltInServersAreKeptBackToo(t *testing.T) {
	p := newPool(t, mcpclient.Config{Later: true, InProcess: map[string]func() *server.MCPServer{
		"own": func() *server.MCPServer { return server.NewMCPServer("own", "1") },
	}})
	if p.StartingFor([]string{"own"}) != 0 {
		t.Error("it was started before it was needed")
	}
	p.Start()
	awaitState(t, p, plan.ServerReady)
}

// session is an HTTP server of an older protocol with sessions.
type session struct {
	*httptest.Server
	mu       sync.Mutex
	id       int
	refuse   int           // status for what the server does not like
	called   chan struct{} // receives when a call of fail hangs
	received chan string   // methods
	events   chan string   // for the stream of notifications
}

func newSession(t *testing.T, refuse int) *session {
	t.Helper()
	s := &session{id: 1, refuse: refuse, called: make(chan struct{}, 1), received: make(chan string, 100), events: make(chan string)}
	s.Server = httptest.NewServer(s)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s
}

func (s *session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	id := fmt.Sprint("s", s.id)
	s.mu.Unlock()
	if r.Method == http.MethodGet {
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		for {
			select {
			case event := <-s.events:
				_, _ = fmt.Fprintf(w, "data: %s\n\n", event)
				_ = http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}
	var m message
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &m)
	s.received <- m.Method
	w.Header().Set("Content-Type", "application/json")
	known := r.Header.Get("Mcp-Session-Id") == id
	switch {
	case m.Method == "initialize":
		w.Header().Set("Mcp-Session-Id", id)
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, strings.Replace(older, `"tools":{}`, `"tools":{"listChanged":true}`, 1))
	case !known:
		w.WriteHeader(s.refuse)
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}`)
	case m.Method == "tools/list":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, tools)
	case m.Method == "tools/call" && m.Params.Name == "fail":
		s.called <- struct{}{}
		<-r.Context().Done()
	case m.Method == "tools/call":
		_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, echo)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

func (s *session) restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.id++
}

func (s *session) await(t *testing.T, method string) {
	t.Helper()
	for {
		select {
		case got := <-s.received:
			if got == method {
				return
			}
		case <-t.Context().Done():
			t.Fatalf("the server never received %s", method)
		}
	}
}

func TestSessionOfRestartedServerIsRenewed(t *testing.T) {
	t.Parallel()
	for _, refuse := range []int{http.StatusBadRequest, http.StatusNotFound} {
		t.Run(http.StatusText(refuse), func(t *testing.T) {
			s := newSession(t, refuse)
			p := over(t, s.URL, nil)
			echo := tool(t, p, "echo")
			for range 3 {
				s.restart()
				var calls sync.WaitGroup
				for range 4 {
					calls.Go(func() {
						if got, err := p.Call(t.Context(), plan.ToolCall{Tool: echo}); err != nil || got != "echo" {
							t.Errorf("got %v, %v; %+v", got, err, p.Status())
						}
					})
				}
				calls.Wait()
			}
		})
	}
}

func TestCancelAndTimeLimitReachOlderHTTPServers(t *testing.T) {
	s := newSession(t, http.StatusBadRequest)
	p := over(t, s.URL, nil)
	fail := tool(t, p, "fail")
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-s.called
		cancel()
	}()
	if _, err := p.Call(ctx, plan.ToolCall{Tool: fail}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	s.await(t, "notifications/cancelled")
	go func() {
		<-s.called
		_ = p.Close()
	}()
	if _, err := p.Call(t.Context(), plan.ToolCall{Tool: fail}); err == nil {
		t.Error("the call succeeded")
	}
	s.await(t, "notifications/cancelled")
}

func TestChangedToolListArrivesOverHTTP(t *testing.T) {
	s := newSession(t, http.StatusBadRequest)
	p := over(t, s.URL, nil)
	tool(t, p, "echo")
	s.await(t, "tools/list")
	s.events <- `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	s.await(t, "tools/list")
}

func TestChangedToolListArrivesOverTheNewerProtocol(t *testing.T) {
	r := newRemote(t, nil)
	listening := make(chan struct{}, 1)
	r.filter = func(_ http.ResponseWriter, _ *http.Request, body []byte) bool {
		if strings.Contains(string(body), "subscriptions/listen") {
			listening <- struct{}{}
		}
		return true
	}
	p := over(t, r.URL, nil)
	tool(t, p, "hello")
	<-listening
	changed := make(chan struct{}, 100)
	p.Watch(func() { changed <- struct{}{} })
	r.mcp.AddTool(mcp.NewTool("new"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("yes"), nil
	})
	for len(p.Ready(t.Context())) != 2 {
		<-changed
	}
}

func TestHTTPRefusalsAreNotInDoubt(t *testing.T) {
	for _, refuse := range []int{400, 403, 404, 413, 429} {
		t.Run(http.StatusText(refuse), func(t *testing.T) {
			var on atomic.Bool
			r := newRemote(t, func(w http.ResponseWriter, _ *http.Request, body []byte) bool {
				if on.Load() && strings.Contains(string(body), "tools/call") {
					w.WriteHeader(refuse)
					return false
				}
				return true
			})
			p := over(t, r.URL, nil)
			hello := tool(t, p, "hello")
			on.Store(true)
			if _, err := p.Call(t.Context(), plan.ToolCall{Tool: hello}); !isToolError(err) || !strings.Contains(err.Error(), http.StatusText(refuse)) {
				t.Errorf("got %v", err)
			}
		})
	}
}
