package connection_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/planning/plan"
)

// strict is an HTTP server that speaks the protocol of 2026-07-28 alone. before answers
// requests in its place; it reports false to leave them to the server.
func strict(t *testing.T, list string, before func(w http.ResponseWriter, r *http.Request, m message) bool) (url string, received func() string) {
	t.Helper()
	var mu sync.Mutex
	var methods []string
	s := newServer(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var m message
		if json.Unmarshal(body, &m) != nil {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		mu.Lock()
		methods = append(methods, m.Method)
		mu.Unlock()
		switch results := map[string]string{"server/discover": newer, "tools/list": list, "tools/call": echo}; {
		case before != nil && before(w, r, m):
		case r.Header.Get("MCP-Protocol-Version") != mcp.ProtocolVersion20260728:
			answer(w, m, http.StatusBadRequest, `"error":{"code":-32020,"message":"Missing MCP-Protocol-Version header"}`)
		case results[m.Method] == "":
			answer(w, m, http.StatusNotFound, `"error":{"code":-32601,"message":"unknown method"}`)
		default:
			answer(w, m, http.StatusOK, `"result":`+results[m.Method])
		}
	}))
	return s.URL + "/mcp", func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(methods, " ")
	}
}

func answer(w http.ResponseWriter, m message, status int, rest string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,%s}`, m.ID, rest)
}

// unversioned answers every method, as some older servers do.
func unversioned(w http.ResponseWriter, _ *http.Request, m message) bool {
	if m.Method == "server/discover" {
		answer(w, m, http.StatusOK, `"result":{}`)
	}
	return m.Method == "server/discover"
}

func TestRefusalOfTheFirstRequestSaysWhatTheServerWants(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		status          int
		challenge, body string
		want            string
		login           bool
		asks            bool // initialize too
	}{
		"a login":               {http.StatusUnauthorized, `Bearer scope="mcp:basic"`, "", "needs a login: run replan mcp login far", true, false},
		"a login, in JSON too":  {http.StatusUnauthorized, `Bearer`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"who are you"}}`, "needs a login: run replan mcp login far", true, false},
		"rights":                {http.StatusForbidden, `Bearer error="insufficient_scope", scope="mcp:basic"`, "", "asks for more rights (mcp:basic)", true, false},
		"rights, in JSON too":   {http.StatusForbidden, `Bearer error="insufficient_scope", scope="mcp:basic"`, `{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"insufficient_scope"}}`, "asks for more rights (mcp:basic)", true, false},
		"nothing that it names": {http.StatusForbidden, "", "", "refuses access (403 Forbidden)", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			g := guardedBy(t, func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != "server/discover" {
					return false
				}
				if c.challenge != "" {
					w.Header().Set("WWW-Authenticate", c.challenge)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
				return true
			})
			got := status(t, g.pool, "far")
			if got.State != plan.ServerFailed || !strings.Contains(string(got.Error), c.want) || got.NeedsLogin != c.login {
				t.Errorf("got %+v, want %q", got, c.want)
			}
			if asked := strings.Contains(g.received(), "initialize"); asked != c.asks {
				t.Errorf("the server got %q", g.received())
			}
		})
	}
}

func TestEmptyAnswerToDiscoverMeansAnOlderServer(t *testing.T) {
	t.Parallel()
	remote := newRemote(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		var m message
		_ = json.Unmarshal(body, &m)
		return !unversioned(w, r, m)
	})
	p := over(t, remote.URL, nil)
	if got, err := call(t, p, "hello", nil); err != nil || got != "from afar" {
		t.Errorf("got %v, %v", got, err)
	}
	if got := status(t, p, "far"); got.Protocol != mcp.ProtocolVersion20251125 {
		t.Errorf("got protocol %q", got.Protocol)
	}
}

func TestProtocolOfTheConfigurationGoesBeforeWhatIsFound(t *testing.T) {
	t.Parallel()
	url, received := strict(t, tools, unversioned)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "far", URL: url, Protocol: mcp.ProtocolVersion20260728}}})
	if got, err := call(t, p, "echo", nil); err != nil || got != "echo" {
		t.Errorf("newer: got %v, %v", got, err)
	}
	if got := received(); strings.Contains(got, "initialize") {
		t.Errorf("newer: the server got %q", got)
	}
	// A server of both kinds is greeted as the configuration says.
	child, methods := fault(t, "slow and both")
	for version, want := range map[string]string{mcp.ProtocolVersion20250618: "initialize notifications/initialized tools/list", mcp.ProtocolVersion20260728: "server/discover tools/list"} {
		before := methods()
		child.Protocol = version
		status(t, newPool(t, mcpclient.Config{Servers: []config.Server{child}}), "k")
		if got := strings.TrimSpace(methods()[len(before):]); got != want {
			t.Errorf("%s: got %q, want %q", version, got, want)
		}
	}
}

func TestRefusedVersionThatIsOursIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"server/discover", "tools/list", "tools/call"} {
		for times, works := range map[int]bool{1: true, 9: false} {
			refused := 0
			url, received := strict(t, tools, func(w http.ResponseWriter, _ *http.Request, m message) bool {
				if m.Method != method || refused == times {
					return false
				}
				refused++
				answer(w, m, http.StatusBadRequest, `"error":{"code":-32022,"message":"unsupported protocol version","data":{"supported":["2026-07-28"]}}`)
				return true
			})
			p := over(t, url, nil)
			p.Ready(t.Context())
			_, err := p.Call(t.Context(), plan.ToolCall{Tool: plan.Tool{Name: "echo", Server: "far"}})
			if (err == nil) != works {
				t.Errorf("%s refused %d times: got %v; the server got %q", method, times, err, received())
			}
		}
	}
}

func TestToolsThatTheProtocolForbidsAreLeftOutWithAReason(t *testing.T) {
	t.Parallel()
	const list = `{"tools":[
		{"name":"good","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}},
		{"name":"bad","inputSchema":{"type":"object","properties":{"value":{"type":"string","x-mcp-header":"My Region"}}}},
		{"name":"list","inputSchema":{"type":"object","properties":{"value":{"type":"array","x-mcp-header":"Values"}}}},
		{"name":"no name!","inputSchema":{"type":"object"}}
	],"resultType":"complete","ttlMs":0,"cacheScope":"private"}`
	url, received := strict(t, list, nil)
	p := over(t, url, nil)
	got := status(t, p, "far")
	if names := toolNames(t, p); !slices.Equal(names, []string{"good"}) {
		t.Errorf("got tools %v", names)
	}
	for _, want := range []string{`bad (property "value": `, `list (property "value": x-mcp-header can only be applied to primitive types`, `"no name!"`} {
		if !strings.Contains(string(got.Note), want) {
			t.Errorf("got the note %q, want %q", got.Note, want)
		}
	}
	if strings.Contains(received(), "tools/call") {
		t.Error("a tool was called")
	}
}

// toolNames returns the names of the tools of a pool.
func toolNames(t *testing.T, p *mcpclient.Pool) (names []string) {
	t.Helper()
	all, _ := p.ReadyFor(t.Context(), []string{"*:*"})
	for _, one := range all {
		if one.Server == "far" {
			names = append(names, one.Name)
		}
	}
	return names
}

// refusing is a pool with a server that refuses requests.
type refusing struct {
	pool     *mcpclient.Pool
	received func() string
}

// guardedBy returns a pool that keeps logins, with a strict server.
func guardedBy(t *testing.T, before func(http.ResponseWriter, *http.Request, message) bool) refusing {
	t.Helper()
	url, received := strict(t, tools, before)
	return refusing{newPool(t, mcpclient.Config{
		Servers: []config.Server{{Name: "far", URL: url}}, Logins: oauth.NewStore(t.TempDir(), nil),
	}), received}
}
