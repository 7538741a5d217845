package server_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
	"replan/planning/plan"
)

// guarded is a pool with a server that wants a login, and all that the pool tells.
type guarded struct {
	*mcpclient.Pool
	authority *oauthtest.Authority
	resource  *oauthtest.Resource
	store     *oauth.Store
	opened    atomic.Int32 // addresses in a browser

	mu      sync.Mutex
	written strings.Builder // log and wire
}

// Write takes a part of the log.
func (g *guarded) Write(p []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.written.Write(p)
}

func guard(t *testing.T, settings oauthtest.Settings, protection oauthtest.Protection, sse bool) *guarded {
	t.Helper()
	far := server.NewMCPServer("far", "1")
	for _, name := range []string{"read", "write"} {
		far.AddTool(mcp.NewTool(name), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(name + " done"), nil
		})
	}
	g := &guarded{authority: oauthtest.NewAuthority(t, settings), store: oauth.NewStore(t.TempDir(), nil)}
	s := config.Server{Name: "far", Source: config.SourceUser, SSE: sse}
	if sse {
		g.resource = oauthtest.NewResource(t, g.authority, protection, server.NewSSEServer(far, server.WithStaticBasePath(oauthtest.Path)))
		s.URL = g.resource.Address() + "/sse"
	} else {
		g.resource = oauthtest.NewResource(t, g.authority, protection, server.NewStreamableHTTPServer(far))
		s.URL = g.resource.Address()
	}
	g.Pool = newPool(t, mcpclient.Config{
		Servers: []config.Server{s}, Logins: g.store, Logger: slog.New(slog.NewTextHandler(g, nil)),
		Browse: func(string) error { g.opened.Add(1); return nil },
		Wire:   func(m mcpclient.Message) { _, _ = g.Write(m.Text) },
	})
	return g
}

// login logs in as a user with a browser does.
func (g *guarded) login(t *testing.T) {
	t.Helper()
	var browser sync.WaitGroup
	defer browser.Wait()
	if err := g.Login(t.Context(), "far", func(address string) {
		browser.Go(func() { _, _, _ = oauthtest.Browse(context.Background(), address) })
	}, nil); err != nil {
		t.Fatal(err)
	}
}

// wantNoSecrets fails if the log, the wire, the status or an error holds a secret.
func (g *guarded) wantNoSecrets(t *testing.T, errs ...error) {
	t.Helper()
	g.mu.Lock()
	text := g.written.String()
	g.mu.Unlock()
	text += fmt.Sprintf("%+v %v", g.Status(), errs)
	if !strings.Contains(text, "tools/list") {
		t.Error("the wire is not recorded")
	}
	for _, secret := range g.authority.Secrets() {
		if strings.Contains(text, secret) {
			t.Errorf("a secret was written: %s", text)
		}
	}
}

func TestServerThatWantsALoginWorksAfterIt(t *testing.T) {
	for name, sse := range map[string]bool{"streamable HTTP": false, "SSE": true} {
		t.Run(name, func(t *testing.T) {
			g := guard(t, oauthtest.Settings{}, oauthtest.Protection{}, sse)
			got := status(t, g.Pool, "far")
			if got.State != plan.ServerFailed || !got.NeedsLogin || !strings.Contains(string(got.Error), "replan mcp login far") {
				t.Fatalf("got %+v", got)
			}
			if n := g.opened.Load(); n > 0 || len(g.authority.Requests()) > 0 {
				t.Errorf("%d browsers and requests %v before the user logs in", n, g.authority.Requests())
			}
			g.login(t)
			if n := g.opened.Load(); n != 1 {
				t.Errorf("opened %d browsers", n)
			}
			if got, err := call(t, g.Pool, "far:read", nil); err != nil || got != "read done" {
				t.Errorf("got %v, %v", got, err)
			}
			if got := g.Status()[0]; got.NeedsLogin || got.Error != "" {
				t.Errorf("got %+v", got)
			}
			g.wantNoSecrets(t)
		})
	}
}

func TestCallsAtOnceRefreshALoginOnce(t *testing.T) {
	g := guard(t, oauthtest.Settings{}, oauthtest.Protection{}, false)
	g.Ready(t.Context())
	g.login(t)
	read := tool(t, g.Pool, "read")
	g.authority.Expire()
	var calls sync.WaitGroup
	for range 20 {
		calls.Go(func() {
			if got, err := g.Call(t.Context(), plan.ToolCall{Tool: read}); err != nil || got != "read done" {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
	calls.Wait()
	if n := g.authority.Refreshes(); n != 1 {
		t.Errorf("refreshed %d times, want once", n)
	}
	g.wantNoSecrets(t)
}

func TestLoginThatEndsDuringARunIsSaid(t *testing.T) {
	for name, sse := range map[string]bool{"streamable HTTP": false, "SSE": true} {
		t.Run(name, func(t *testing.T) {
			g := guard(t, oauthtest.Settings{}, oauthtest.Protection{}, sse)
			g.Ready(t.Context())
			g.login(t)
			read := tool(t, g.Pool, "read")
			g.authority.Forget()
			_, err := g.Call(t.Context(), plan.ToolCall{Tool: read})
			if !isToolError(err) || !strings.Contains(err.Error(), "needs a login") {
				t.Errorf("got %v, want an error that says nothing was done", err)
			}
			if !sse { // its stream is still open, so nothing else shows that the login has ended
				awaitState(t, g.Pool, plan.ServerFailed)
			}
			if n := g.opened.Load(); n != 1 {
				t.Errorf("opened %d browsers, want that of the user", n)
			}
			g.login(t)
			if got, err := call(t, g.Pool, "far:read", nil); err != nil || got != "read done" {
				t.Errorf("after the next login: got %v, %v", got, err)
			}
			g.wantNoSecrets(t, err)
		})
	}
}

func TestUnreachableAuthorizationServerIsNoEndOfALogin(t *testing.T) {
	g := guard(t, oauthtest.Settings{}, oauthtest.Protection{}, false)
	g.Ready(t.Context())
	g.login(t)
	read := tool(t, g.Pool, "read")
	g.authority.Expire()
	g.authority.Break(true)
	called := make(chan error, 1)
	go func() {
		_, err := g.Call(t.Context(), plan.ToolCall{Tool: read})
		called <- err
	}()
	awaitState(t, g.Pool, plan.ServerStarting)
	g.authority.Break(false)
	if err := <-called; err != nil {
		t.Errorf("got %v, want that the call waits for the server", err)
	}
	g.wantNoSecrets(t)
}

func TestToolThatNeedsMoreRightsAsksForThemOnce(t *testing.T) {
	g := guard(t, oauthtest.Settings{}, oauthtest.Protection{Asks: "read", Needs: map[string]string{`"name":"write"`: "write"}}, false)
	g.Ready(t.Context())
	g.login(t)
	write := tool(t, g.Pool, "write")
	refused := g.resource.Refused()
	_, err := g.Call(t.Context(), plan.ToolCall{Tool: write})
	if !isToolError(err) || !strings.Contains(err.Error(), "asks for more rights (write): run replan mcp login far") {
		t.Errorf("got %v", err)
	}
	if n := g.resource.Refused() - refused; n != 1 {
		t.Errorf("the call was sent %d times", n)
	}
	if got := g.Status()[0]; got.State != plan.ServerReady || !got.NeedsLogin || !strings.Contains(string(got.Note), "write") {
		t.Errorf("got %+v, want that its other tools still work", got)
	}
	if got, err := call(t, g.Pool, "far:read", nil); err != nil || got != "read done" {
		t.Errorf("got %v, %v", got, err)
	}
	g.login(t)
	if got, err := call(t, g.Pool, "far:write", nil); err != nil || got != "write done" {
		t.Errorf("got %v, %v", got, err)
	}
	if got, err := call(t, g.Pool, "far:read", nil); err != nil || got != "read done" {
		t.Errorf("the rights of the first login are lost: got %v, %v", got, err)
	}
	g.wantNoSecrets(t, err)
}

func TestLoginIsRefusedWithAReason(t *testing.T) {
	url := "http://127.0.0.1:1/mcp"
	p := newPool(t, mcpclient.Config{Trust: mcpclient.TrustAsk, Later: true, Logins: oauth.NewStore(t.TempDir(), nil), Servers: []config.Server{
		{Name: "keyed", URL: url, Headers: map[string]string{"authorization": "Bearer k"}},
		{Name: "child", Command: "x"},
		{Name: "theirs", URL: url, Source: config.SourceProject},
		{Name: "gone", URL: url},
		{Name: "off", URL: url, Disabled: true},
	}})
	for name, want := range map[string]string{
		"keyed": `brings its key in "headers"`, "child": "no HTTP server", "theirs": "waits for your approval", "gone": "cannot be reached", "off": "disabled", "other": `no MCP server "other"`,
	} {
		if err := p.Login(t.Context(), name, func(string) { t.Error("asked the user") }, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

func TestForbiddenServerIsQuoted(t *testing.T) {
	for kind, c := range map[string]struct{ body, want string }{
		"text/plain":       {"Your plan\nhas no MCP. Bearer k1234567", "refuses access (403 Forbidden): Your plan has no MCP. Bearer [left out]"},
		"text/html":        {"<html>", "refuses access (403 Forbidden); check its login"},
		"application/json": {`{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"not in your country"}}`, "not in your country"},
	} {
		t.Run(kind, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", kind)
				w.WriteHeader(http.StatusForbidden)
				_, _ = io.WriteString(w, c.body)
			}))
			t.Cleanup(s.Close)
			got := status(t, over(t, s.URL, map[string]string{"Authorization": "Bearer k1234567"}), "far")
			if got.State != plan.ServerFailed || !strings.Contains(string(got.Error), c.want) || got.NeedsLogin {
				t.Errorf("got %+v, want %q", got, c.want)
			}
		})
	}
}

func TestHelperBringsHeadersAtTheStartAndAfterARefusal(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of a Unix shell")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "key")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(key, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	var want, refused atomic.Value
	want.Store("far one")
	refused.Store(0)
	r := newRemote(t, func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		ok := r.Header.Get("X-Key") == want.Load() && r.Header.Get("X-Fixed") == "f"
		if !ok {
			w.WriteHeader(http.StatusUnauthorized)
		}
		return ok
	})
	far := config.Server{
		Name: "far", URL: r.URL, Headers: map[string]string{"X-Fixed": "f"}, Source: config.SourceProject,
		HeadersHelper: `printf '{"X-Key": "%s %s"}' "$REPLAN_MCP_SERVER" "$(cat key)"`,
	}
	p := newPool(t, mcpclient.Config{Dir: dir, Servers: []config.Server{far}, TrustFile: filepath.Join(t.TempDir(), "trust.json")})
	if p.Ready(t.Context()); p.Status()[0].State != plan.ServerWaiting {
		t.Fatalf("got %+v, want that the project's command waits for a yes", p.Status())
	}
	if err := p.Answer(t.Context(), p.Pending(), true); err != nil {
		t.Fatal(err)
	}
	if got, err := call(t, p, "far:hello", nil); err != nil || got != "from afar" {
		t.Fatalf("got %v, %v; %+v", got, err, p.Status())
	}
	write("two")
	want.Store("far two")
	if got, err := call(t, p, "far:hello", nil); err != nil || got != "from afar" {
		t.Errorf("after the key changed: got %v, %v", got, err)
	}
	want.Store("far three")
	if _, err := call(t, p, "far:hello", nil); !isToolError(err) || !strings.Contains(err.Error(), `refuses the key (401 Unauthorized)`) || strings.Contains(err.Error(), "two") {
		t.Errorf("with an old key: got %v", err)
	}
}

func TestFailedHelperIsNamed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the command is one of a Unix shell")
	}
	r := newRemote(t, nil)
	p := newPool(t, mcpclient.Config{Servers: []config.Server{{Name: "far", URL: r.URL, HeadersHelper: "echo hunter2; exit 4"}}})
	if got := status(t, p, "far"); got.State != plan.ServerFailed || string(got.Error) != `"headersHelper" failed (exit status 4); run it in a shell to see why` {
		t.Errorf("got %+v", got)
	}
}
