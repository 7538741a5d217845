//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Servers can make libraries write words of theirs: mcp-go of tools that it leaves out,
// net/http of bytes that were not requested.
func TestNoServerMakesALibraryWriteToTheScreen(t *testing.T) {
	for library, c := range map[string]struct {
		serve func(t *testing.T) (servers string, made func(s *terminal))
		noise string
	}{
		"mcp-go":   {serveForbiddenHeader, "excluding a tool with invalid x-mcp-header"},
		"net/http": {serveMoreThanAsked, "Unsolicited response"},
	} {
		t.Run(library, func(t *testing.T) {
			home, file := t.TempDir(), filepath.Join(t.TempDir(), "servers.json")
			servers, made := c.serve(t)
			write(t, file, servers)
			s := open(t, program{home: home, args: []string{"--mcp-config", file}, width: 120, height: 40})
			s.until(0, "ollama serve")
			made(s)
			s.signal(syscall.SIGTERM)
			if out := s.end(0); strings.Contains(out, c.noise) {
				t.Errorf("the terminal got %q", c.noise)
			}
			logged, err := os.ReadFile(filepath.Join(home, "logs", "replan.log")) //nolint:gosec // a file of this test
			if err != nil || !strings.Contains(string(logged), c.noise) {
				t.Errorf("%q is not in the log: %v\n%s", c.noise, err, logged)
			}
		})
	}
}

// serveForbiddenHeader starts an MCP server of the newest protocol with a tool that wants
// an argument in a header whose name none may have.
func serveForbiddenHeader(t *testing.T) (servers string, made func(s *terminal)) {
	t.Helper()
	results := map[string]string{
		"server/discover": `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"bad","version":"1"},"ttlMs":0,"cacheScope":"private"}`,
		"tools/list":      `{"resultType":"complete","tools":[{"name":"bad","inputSchema":{"type":"object","properties":{"value":{"type":"string","x-mcp-header":"My Region"}}}}],"ttlMs":0,"cacheScope":"private"}`,
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var asked struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
		}
		if json.NewDecoder(r.Body).Decode(&asked) != nil || results[asked.Method] == "" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":`+string(asked.ID)+`,"result":`+results[asked.Method]+`}`)
	}))
	t.Cleanup(server.Close)
	return `{"mcpServers": {"bad": {"url": "` + server.URL + `"}}}`, func(s *terminal) { s.until(0, "left out tools") }
}

// serveMoreThanAsked starts an MCP server that answers each request with bytes after the
// response that belong to none.
func serveMoreThanAsked(t *testing.T) (servers string, made func(s *terminal)) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	read := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close() //nolint:errcheck // all is read
				asked := bufio.NewReader(conn)
				if r, err := http.ReadRequest(asked); err == nil {
					_, _ = io.Copy(io.Discard, r.Body)
					_, _ = io.WriteString(conn, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\nand more")
					_, _ = io.Copy(io.Discard, asked) // until the client has read it all, and gives the connection up
					read <- struct{}{}
				}
			}()
		}
	}()
	return `{"mcpServers": {"bad": {"url": "http://` + listener.Addr().String() + `"}}}`, func(*terminal) { <-read }
}
