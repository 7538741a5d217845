package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
	"github.com/zalando/go-keyring"

	"replan/cli"
	"replan/mcpclient/config"
	"replan/mcpclient/oauth"
	"replan/mcpclient/oauth/oauthtest"
)

// safeBuffer is a buffer that another goroutine may read. It calls each after a write.
type safeBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
	each func(text string)
}

func (b *safeBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.text.Write(p)
	if b.each != nil {
		b.each(b.text.String())
	}
	return n, err
}

func (b *safeBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// A user finds out that a server wants a login, logs in without a browser of this
// machine, uses its tools, and logs out. No token is written anywhere.
func TestLoginAndLogoutOnTheCommandLine(t *testing.T) {
	authority := oauthtest.NewAuthority(t, oauthtest.Settings{})
	far := server.NewMCPServer("far", "1")
	far.AddTool(mcp.NewTool("hello"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("from afar"), nil
	})
	resource := oauthtest.NewResource(t, authority, oauthtest.Protection{}, server.NewStreamableHTTPServer(far))
	home, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, "mcp.json"), fmt.Sprintf(`{"mcpServers": {"far": {"type": "http", "url": %q}}}`, resource.Address()))
	var all strings.Builder
	var browser sync.WaitGroup
	addresses := regexp.MustCompile(`(?m)^replan: (http://\S+/authorize\S*)$`)
	run := func(args ...string) (int, string) {
		t.Helper()
		var once sync.Once
		out := &safeBuffer{each: func(text string) {
			if m := addresses.FindStringSubmatch(text); m != nil {
				once.Do(func() { browser.Go(func() { _, _, _ = oauthtest.Browse(context.Background(), m[1]) }) })
			}
		}}
		code := cli.Main(t.Context(), args, cli.IO{
			In: strings.NewReader(""), Out: out, Err: out,
			Getenv: func(name string) string {
				return map[string]string{"REPLAN_HOME": home, "OLLAMA_HOST": "127.0.0.1:1"}[name]
			},
			Getwd: func() (string, error) { return folder, nil },
		})
		browser.Wait()
		all.WriteString(out.String())
		return code, out.String()
	}
	wants := func(wantCode int, want string, args ...string) {
		t.Helper()
		if code, out := run(args...); code != wantCode || !strings.Contains(out, want) {
			t.Fatalf("replan %s: exit code %d, want %d and %q in\n%s", strings.Join(args, " "), code, wantCode, want, out)
		}
	}
	wants(1, "needs a login: run replan mcp login far", "mcp", "test", "far")
	wants(1, "replan mcp login far", "doctor")
	wants(2, `no MCP server "fat"; did you mean far?`, "mcp", "login", "fat")
	wants(0, "logged in to far: 1 tool", "mcp", "login", "far", "--no-browser")
	wants(0, "1 tool", "mcp", "test", "far")
	wants(0, `"ok":true`, "mcp", "test", "far", "--output", "json")
	wants(0, "from afar", "tools", "call", "far:hello", "--approve", "all")
	wants(1, "1 tool, ready in", "doctor") // there is no model server
	wants(0, "logged out of far", "mcp", "logout", "far")
	wants(0, "there is no login to far", "mcp", "logout", "far")
	wants(0, "there are no logins", "mcp", "logout", "--all")
	if n := authority.Live(); n != 0 {
		t.Errorf("%d tokens are not revoked", n)
	}
	wants(0, `"state":"ready"`, "mcp", "login", "far", "--no-browser", "--output", "json")
	written := all.String()
	err := filepath.WalkDir(home, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Base(filepath.Dir(path)) == "logins" {
			return err
		}
		text, err := os.ReadFile(path)
		written += string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range authority.Secrets() {
		if strings.Contains(written, secret) {
			t.Errorf("a secret was written: %s", written)
		}
	}
	if !strings.Contains(written, "from afar") {
		t.Error("nothing was recorded")
	}
}

// REPLAN_KEYRING=off keeps later logins out of the keyring; a logout ends the one in it.
func TestLogoutDeletesTheLoginInAKeyringThatIsOff(t *testing.T) {
	keyring.MockInit()
	authority := oauthtest.NewAuthority(t, oauthtest.Settings{})
	resource := oauthtest.NewResource(t, authority, oauthtest.Protection{}, server.NewStreamableHTTPServer(server.NewMCPServer("far", "1")))
	home, folder := t.TempDir(), t.TempDir()
	getenv := func(name string) string {
		return map[string]string{"REPLAN_HOME": home, "REPLAN_KEYRING": "off", "DBUS_SESSION_BUS_ADDRESS": "unix:path=/nowhere", "OLLAMA_HOST": "127.0.0.1:1"}[name]
	}
	run := func(args ...string) string {
		t.Helper()
		out := &safeBuffer{}
		if code := cli.Main(t.Context(), args, cli.IO{In: strings.NewReader(""), Out: out, Err: out, Getenv: getenv, Getwd: func() (string, error) { return folder, nil }}); code != 0 {
			t.Fatalf("exit code %d: %s", code, out)
		}
		return out.String()
	}
	login := oauth.Login{
		Server: config.Server{Name: "far", URL: resource.Address()}, Store: oauth.NewStore(filepath.Join(home, "logins"), oauth.SystemKeyring(getenv)),
	}
	var browser sync.WaitGroup
	login.Show = func(address string) {
		browser.Go(func() { _, _, _ = oauthtest.Browse(context.Background(), address) })
	}
	_, err := login.Run(t.Context())
	browser.Wait()
	records, _ := filepath.Glob(filepath.Join(home, "logins", "*.json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("got %v, %v", records, err)
	}
	key := strings.TrimSuffix(filepath.Base(records[0]), ".json")
	if _, err := keyring.Get("replan", key); err != nil {
		t.Fatalf("the login is not in the keyring: %v", err)
	}
	if out := run("mcp", "logout", "far"); out != "logged out of far\n" {
		t.Errorf("got %q", out)
	}
	if _, err := keyring.Get("replan", key); !errors.Is(err, keyring.ErrNotFound) || authority.Live() != 0 {
		t.Errorf("the keyring answers %v; %d tokens are live", err, authority.Live())
	}
}

// The browser may run on another machine, from which the user copies the last address.
func TestPastedAddressLogsInOnTheCommandLine(t *testing.T) {
	authority := oauthtest.NewAuthority(t, oauthtest.Settings{})
	resource := oauthtest.NewResource(t, authority, oauthtest.Protection{}, server.NewStreamableHTTPServer(server.NewMCPServer("far", "1")))
	home, folder := t.TempDir(), t.TempDir()
	write(t, filepath.Join(home, "mcp.json"), fmt.Sprintf(`{"mcpServers": {"far": {"type": "http", "url": %q}}}`, resource.Address()))
	in, typed := io.Pipe()
	defer typed.Close() //nolint:errcheck // a pipe in memory
	var user sync.WaitGroup
	defer user.Wait()
	var once sync.Once
	addresses := regexp.MustCompile(`(?m)^replan: (http://\S+/authorize\S*)$`)
	elsewhere := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	out := &safeBuffer{each: func(text string) {
		if m := addresses.FindStringSubmatch(text); m != nil {
			once.Do(func() {
				user.Go(func() {
					response, err := elsewhere.Get(m[1])
					if err != nil {
						t.Error(err)
						return
					}
					_ = response.Body.Close()
					_, _ = io.WriteString(typed, "\n"+response.Header.Get("Location")+"\n")
				})
			})
		}
	}}
	code := cli.Main(t.Context(), []string{"mcp", "login", "far", "--no-browser"}, cli.IO{
		In: in, Out: out, Err: out, Terminal: true,
		Getenv: func(name string) string { return map[string]string{"REPLAN_HOME": home}[name] },
		Getwd:  func() (string, error) { return folder, nil },
	})
	if code != 0 || !strings.Contains(out.String(), "logged in to far") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}
