//go:build npm && unix

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"replan/mcpclient"
	"replan/mcpclient/config"
	"replan/planning/plan"
)

// foreign are MCP servers that others wrote, in the folder of their packages.
type foreign struct {
	folder string

	mu   sync.Mutex
	sent map[string][]byte // what each server was sent

	canceled chan struct{} // receives when a server was sent a cancellation
}

func installServers(t *testing.T) *foreign {
	t.Helper()
	folder := installPackages(t, "servers-2026.8.31",
		"@modelcontextprotocol/server-everything@2026.8.31", "@modelcontextprotocol/server-filesystem@2026.8.31",
		"@modelcontextprotocol/server-memory@2026.8.31", "@modelcontextprotocol/server@2.4.0",
		"@modelcontextprotocol/node@2.1.2", "@playwright/mcp@0.0.83", "chrome-devtools-mcp@1.11.0")
	script, err := os.ReadFile("testdata/sdk/server.mjs")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "server.mjs"), script, 0o600); err != nil {
		t.Fatal(err)
	}
	return &foreign{folder: folder, sent: map[string][]byte{}, canceled: make(chan struct{}, 1)}
}

// program returns a server that node runs from a file of the packages.
func (f *foreign) program(name, file string, args ...string) config.Server {
	return config.Server{Name: name, Command: "node", Args: append([]string{f.file(file)}, args...), Source: config.SourceFlag, StartTimeout: time.Minute}
}

func (f *foreign) file(name string) string {
	if strings.HasPrefix(name, "server-") {
		name = filepath.Join("node_modules/@modelcontextprotocol", name, "dist/index.js")
	}
	return filepath.Join(f.folder, name)
}

func (f *foreign) pool(t *testing.T, servers ...config.Server) *mcpclient.Pool {
	t.Helper()
	p, err := mcpclient.NewPool(context.Background(), mcpclient.Config{
		Servers: servers, Dir: t.TempDir(), RestartWaits: []time.Duration{time.Second, time.Second, time.Second, time.Second, time.Second},
		Wire: func(m mcpclient.Message) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if m.Sent {
				f.sent[m.Server] = append(append(f.sent[m.Server], m.Text...), '\n')
				if bytes.Contains(m.Text, []byte("notifications/cancelled")) {
					select {
					case f.canceled <- struct{}{}:
					default: // there was one before
					}
				}
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// initialized reports whether a server was greeted as one of the older protocols.
func (f *foreign) initialized(server string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.Contains(f.sent[server], []byte("notifications/initialized"))
}

// callForeign calls a tool and returns its value with the content of its files.
func callForeign(t *testing.T, p *mcpclient.Pool, name string, args map[string]any) (value any, files []string, err error) {
	t.Helper()
	tool, err := p.Ready(t.Context()).Find(name)
	if err != nil {
		t.Fatalf("%v; servers: %+v", err, p.Status())
	}
	value, err = p.Call(t.Context(), plan.ToolCall{Tool: tool, Args: args, SaveAttachment: func(content []byte, mediaType string) (plan.Attachment, error) {
		files = append(files, string(content))
		sum := fmt.Sprintf("%x", sha256.Sum256(content))
		return plan.Attachment{File: "/kept/" + sum, Type: mediaType, Bytes: len(content), SHA256: sum}, nil
	}})
	return value, files, err
}

func TestOfficialSDKServersListTheirTools(t *testing.T) {
	f := installServers(t)
	for _, c := range []struct {
		server config.Server
		tools  int
		older  bool
	}{
		{f.program("everything", "server-everything"), 13, true},
		{f.program("files", "server-filesystem", t.TempDir()), 14, true},
		{f.program("memory", "server-memory"), 9, true},
		{f.program("modern", "server.mjs", "stdio"), 2, false},
		{f.program("slow", "server.mjs", "stdio", "1500"), 2, false},
		{f.program("playwright", "node_modules/@playwright/mcp/cli.js"), 25, true},
		{f.program("chrome", "node_modules/.bin/chrome-devtools-mcp"), 32, true},
	} {
		t.Run(c.server.Name, func(t *testing.T) {
			p := f.pool(t, c.server)
			p.Ready(t.Context())
			if s := p.Status()[0]; s.State != plan.ServerReady || s.Tools < c.tools {
				t.Errorf("got %+v, want at least %d tools", s, c.tools)
			}
			if older := f.initialized(c.server.Name); older != c.older {
				t.Errorf("it was greeted with an older protocol: %v, want %v", older, c.older)
			}
		})
	}
}

func TestOfficialSDKServerResultsKeepTheirContent(t *testing.T) {
	f := installServers(t)
	folder := t.TempDir()
	memory := f.program("memory", "server-memory")
	memory.Env = map[string]string{"MEMORY_FILE_PATH": filepath.Join(folder, "memory.jsonl")}
	files := f.program("files", "server-filesystem", folder)
	files.NoRoots = true // it would use them in place of the folder
	p := f.pool(t, f.program("e", "server-everything"), files, memory, f.program("modern", "server.mjs", "stdio"))
	written := filepath.Join(folder, "a.txt")
	for _, c := range []struct {
		tool string
		args map[string]any
		want string // in the value
		file string // what the only file begins with
	}{
		{"e:echo", map[string]any{"message": "hello there"}, "hello there", ""},
		{"e:get-sum", map[string]any{"a": 2, "b": 3}, "2 and 3 is 5", ""},
		{"e:get-structured-content", map[string]any{"location": "Chicago"}, "temperature", ""},
		{"e:get-annotated-message", map[string]any{"messageType": "error", "includeImage": true}, "Error: Operation failed", "\x89PNG"},
		{"e:get-tiny-image", nil, "The image above is the MCP logo.", "\x89PNG"},
		{"e:get-resource-links", map[string]any{"count": 2}, "[resource link demo://resource/dynamic/", ""},
		{"e:get-resource-reference", map[string]any{"resourceType": "Text", "resourceId": 1}, "This is a plaintext resource created at", ""},
		{"e:get-resource-reference", map[string]any{"resourceType": "Blob", "resourceId": 1}, "[resource demo://resource/dynamic/blob/1: text/plain", "Resource 1: This is a base64 blob"},
		{"e:gzip-file-as-resource", map[string]any{"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}, "application/gzip", "\x1f\x8b"},
		{"e:gzip-file-as-resource", map[string]any{"name": "b.gz", "data": "data:text/plain,hello", "outputType": "resourceLink"}, "[resource link demo://resource/session/b.gz", ""},
		{"files:write_file", map[string]any{"path": written, "content": "some words\n"}, "Successfully wrote", ""},
		{"files:read_text_file", map[string]any{"path": written}, "some words", ""},
		{"files:list_directory", map[string]any{"path": folder}, "a.txt", ""},
		{"memory:create_entities", map[string]any{"entities": []any{map[string]any{"name": "replan", "entityType": "program", "observations": []any{"plans"}}}}, "replan", ""},
		{"memory:read_graph", nil, "replan", ""},
		{"modern:hello", nil, "hello", ""},
	} {
		t.Run(c.tool, func(t *testing.T) {
			value, files, err := callForeign(t, p, c.tool, c.args)
			if err != nil || !strings.Contains(fmt.Sprint(value), c.want) {
				t.Errorf("got %v, %v; want %q in it", value, err, c.want)
			}
			if c.file == "" && len(files) > 0 || c.file != "" && (len(files) != 1 || !strings.HasPrefix(files[0], c.file)) {
				t.Errorf("got the files %.60q, want one that begins with %q", files, c.file)
			}
		})
	}
	for tool, args := range map[string]map[string]any{
		"modern:refuse": nil, "files:read_text_file": {"path": "/etc/passwd"},
	} {
		if value, _, err := callForeign(t, p, tool, args); !errors.As(err, new(*plan.ToolError)) {
			t.Errorf("%s returned %v, %v; want the error of a tool", tool, value, err)
		}
	}
}

func TestOfficialSDKServerOverHTTPIsModern(t *testing.T) {
	f := installServers(t)
	node := exec.CommandContext(t.Context(), "node", f.file("server.mjs"), "http")
	out, err := node.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	startForeign(t, node)
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	p := f.pool(t, config.Server{Name: "modern", URL: strings.TrimSpace(url), Source: config.SourceFlag})
	if value, _, err := callForeign(t, p, "modern:hello", nil); err != nil || value != "hello" || f.initialized("modern") {
		t.Errorf("got %v, %v; greeted with an older protocol: %v", value, err, f.initialized("modern"))
	}
}

func TestOfficialSDKServerReportsProgressAndIsCanceled(t *testing.T) {
	f := installServers(t)
	p := f.pool(t, f.program("e", "server-everything"))
	tool, err := p.Ready(t.Context()).Find("e:trigger-long-running-operation")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var seen []float64
	_, err = p.Call(ctx, plan.ToolCall{Tool: tool, Args: map[string]any{"duration": 60, "steps": 600}, Progress: func(done, total float64, _ string) {
		if seen = append(seen, done); total != 600 || len(seen) == 2 {
			cancel()
		}
	}})
	if ctx.Err() == nil || err == nil || len(seen) < 2 || seen[1] != 2 {
		t.Errorf("the call ended with %v after the progress %v", err, seen)
	}
	select {
	case <-f.canceled: // may be sent after the call has returned
	case <-time.After(10 * time.Second): // less than the operation takes
		t.Error("the server was not told of the cancellation")
	}
}

// startForeign starts a server, which is killed when the test ends.
func startForeign(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopForeign(cmd) })
}

func stopForeign(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
}

// everythingOverHTTP starts server-everything on a port and waits until it listens.
func (f *foreign) everythingOverHTTP(t *testing.T, port string) *exec.Cmd {
	t.Helper()
	node := exec.CommandContext(t.Context(), "node", f.file("server-everything"), "streamableHttp")
	node.Env = append(os.Environ(), "PORT="+port)
	errs, err := node.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	startForeign(t, node)
	if line, err := bufio.NewReader(errs).ReadString('\n'); err != nil || !strings.Contains(line, "listening") {
		t.Fatalf("got %q, %v", line, err)
	}
	return node
}

// TestOfficialSDKServerMayRestartBetweenCalls restarts a server that answers an
// unknown session with 400, as the examples of the SDK do.
func TestOfficialSDKServerMayRestartBetweenCalls(t *testing.T) {
	f := installServers(t)
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(free.Addr().String())
	_ = free.Close()
	node := f.everythingOverHTTP(t, port)
	p := f.pool(t, config.Server{Name: "e", URL: "http://127.0.0.1:" + port + "/mcp", Source: config.SourceFlag})
	for round, tool := range []string{"e:get-tiny-image", "e:gzip-file-as-resource"} {
		if round > 0 {
			stopForeign(node)
			node = f.everythingOverHTTP(t, port)
			answer, err := http.Get("http://127.0.0.1:" + port + "/mcp")
			if err != nil {
				t.Fatal(err)
			}
			_ = answer.Body.Close()
			if answer.StatusCode != http.StatusBadRequest {
				t.Errorf("the server answers an unknown session with %s", answer.Status)
			}
		}
		args := map[string]any{}
		if round > 0 {
			args = map[string]any{"name": "a.gz", "data": "data:text/plain,hello", "outputType": "resource"}
		}
		value, files, err := callForeign(t, p, tool, args)
		if err != nil || len(files) != 1 {
			t.Errorf("%s returned %v, %v", tool, value, err)
		}
	}
}
