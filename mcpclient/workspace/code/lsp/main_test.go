package lsp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
	"github.com/sourcegraph/jsonrpc2"
	"go.uber.org/goleak"

	"replan/mcpclient/workspace/code/lsp"
)

// scriptVariable makes the test binary act as a scripted language server.
const scriptVariable = "LSP_SCRIPT"

func TestMain(m *testing.M) {
	if script := os.Getenv(scriptVariable); script != "" {
		(&scripted{script: script, texts: map[protocol.DocumentURI]string{}, canceled: make(chan struct{})}).serve()
		return
	}
	goleak.VerifyTestMain(m)
}

// scripted is a language server for words: the first place of a word in its file
// is its declaration, all others are uses.
type scripted struct {
	script   string
	conn     *jsonrpc2.Conn
	texts    map[protocol.DocumentURI]string
	canceled chan struct{} // closed at the first cancel
}

type stdio struct {
	io.Reader
	io.WriteCloser
}

func (s *scripted) serve() {
	if s.script == "children" {
		c := exec.Command("sleep", "1000")
		_ = c.Start()
		_ = os.WriteFile(os.Getenv("PID_FILE"), []byte(strconv.Itoa(c.Process.Pid)), 0o600)
	}
	stream := jsonrpc2.NewBufferedStream(stdio{os.Stdin, os.Stdout}, jsonrpc2.VSCodeObjectCodec{})
	ready := make(chan struct{})
	handler := jsonrpc2.AsyncHandler(jsonrpc2.HandlerWithError(func(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
		<-ready
		var params json.RawMessage
		if req.Params != nil {
			params = *req.Params
		}
		return s.answer(ctx, req.Method, params)
	}))
	if s.script != "cancel" {
		handler = jsonrpc2.HandlerWithError(func(ctx context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
			<-ready
			var params json.RawMessage
			if req.Params != nil {
				params = *req.Params
			}
			return s.answer(ctx, req.Method, params)
		})
	}
	s.conn = jsonrpc2.NewConn(context.Background(), stream, handler)
	close(ready)
	<-s.conn.DisconnectNotify()
}

func (s *scripted) answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	var p struct {
		TextDocument struct {
			URI     protocol.DocumentURI `json:"uri"`
			Text    string               `json:"text"`
			Version int32                `json:"version"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
		Position protocol.Position `json:"position"`
		NewName  string            `json:"newName"`
		Context  struct {
			IncludeDeclaration bool `json:"includeDeclaration"`
		} `json:"context"`
	}
	_ = json.Unmarshal(params, &p)
	uri := p.TextDocument.URI
	switch method {
	case "initialize":
		return map[string]any{"capabilities": map[string]any{"positionEncoding": "utf-16"}}, nil
	case "initialized":
		if s.script == "hostile" {
			_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", nil)
			_ = s.conn.Notify(ctx, "experimental/serverStatus", "nonsense")
			_ = s.conn.Notify(ctx, "nobody/knows", nil)
		}
	case "shutdown":
		return nil, nil
	case "exit":
		os.Exit(0)
	case "$/cancelRequest":
		close(s.canceled)
	case "textDocument/didOpen":
		s.texts[uri] = p.TextDocument.Text
		s.diagnose(ctx, uri, 1)
	case "textDocument/didChange":
		s.texts[uri] = p.ContentChanges[0].Text
		s.diagnose(ctx, uri, p.TextDocument.Version)
	case "textDocument/definition":
		switch s.script {
		case "crash":
			os.Exit(3)
		case "cancel":
			_ = os.WriteFile(os.Getenv("ASKED_FILE"), nil, 0o600)
			<-s.canceled
		}
		return s.find(uri, p.Position, true)[0], nil
	case "textDocument/references":
		return s.find(uri, p.Position, p.Context.IncludeDeclaration), nil
	case "textDocument/rename":
		if p.NewName == "taken" {
			return nil, &jsonrpc2.Error{Code: 1, Message: "taken is declared already"}
		}
		target := uri
		if s.script == "outside" {
			target = protocol.URIFromPath(filepath.Join(os.TempDir(), "elsewhere.go"))
		}
		var edits []map[string]any
		for _, l := range s.find(uri, p.Position, true) {
			edits = append(edits, map[string]any{"range": l.Range, "newText": p.NewName})
		}
		return map[string]any{"documentChanges": []any{map[string]any{"textDocument": map[string]any{"uri": target, "version": 1}, "edits": edits}}}, nil
	case "textDocument/documentSymbol": // the environment
		var found []map[string]any
		for _, entry := range os.Environ() {
			found = append(found, map[string]any{"name": entry, "kind": 12, "location": protocol.Location{URI: uriOf("a.go")}})
		}
		return append(found, map[string]any{"name": fmt.Sprintf("session=%v", leadsSession()), "kind": 12, "location": protocol.Location{URI: uriOf("a.go")}}), nil
	}
	return nil, nil
}

func uriOf(name string) protocol.DocumentURI {
	dir, _ := os.Getwd()
	return protocol.URIFromPath(filepath.Join(dir, name))
}

// diagnose finds the word BROKEN wrong.
func (s *scripted) diagnose(ctx context.Context, uri protocol.DocumentURI, version int32) {
	items := []protocol.Diagnostic{}
	for row, line := range strings.Split(s.texts[uri], "\n") {
		if at := strings.Index(line, "BROKEN"); at >= 0 {
			from := protocol.Position{Line: uint32(row), Character: uint32(at)}
			items = append(items, protocol.Diagnostic{Range: protocol.Range{Start: from, End: from}, Severity: 1, Message: "broken", Source: "script"})
		}
	}
	_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", protocol.PublishDiagnosticsParams{URI: uri, Version: version, Diagnostics: items})
}

// find is where the word at a position stands. Words are of ASCII letters; the
// characters of a line are counted as the protocol does it.
func (s *scripted) find(uri protocol.DocumentURI, at protocol.Position, declaration bool) []protocol.Location {
	lines := strings.Split(s.texts[uri], "\n")
	units := func(line string) []rune { // one for each UTF-16 unit
		var list []rune
		for _, r := range line {
			list = append(list, r)
			if r > 0xFFFF {
				list = append(list, ' ')
			}
		}
		return list
	}
	letter := func(r rune) bool { return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' }
	row := units(lines[at.Line])
	end := int(at.Character)
	for end < len(row) && letter(row[end]) {
		end++
	}
	word := string(row[at.Character:end])
	var found []protocol.Location
	for i, line := range lines {
		row := units(line)
		for j := range row {
			if j+len(word) <= len(row) && string(row[j:j+len(word)]) == word && (j == 0 || !letter(row[j-1])) {
				start := protocol.Position{Line: uint32(i), Character: uint32(j)}
				stop := protocol.Position{Line: uint32(i), Character: uint32(j + len(word))}
				found = append(found, protocol.Location{URI: uri, Range: protocol.Range{Start: start, End: stop}})
			}
		}
	}
	if !declaration && len(found) > 0 {
		return found[1:]
	}
	return found
}

// workspaceOf creates a workspace with files by name.
func workspaceOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		write(t, filepath.Join(dir, name), text)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// binary links the scripted server into a folder under a name.
func binary(t *testing.T, dir, name string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.Symlink(self, path); err != nil {
		t.Skip("cannot create links: ", err)
	}
	return path
}

// open returns the servers of a workspace with the scripted server as gopls.
func open(t *testing.T, dir, script string, change func(*lsp.Config)) *lsp.Servers {
	t.Helper()
	bin := t.TempDir()
	binary(t, bin, "gopls")
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	cfg := lsp.Config{Dir: dir, Root: root, Environ: []string{"PATH=" + bin + string(filepath.ListSeparator) + os.Getenv("PATH"), scriptVariable + "=" + script}}
	if change != nil {
		change(&cfg)
	}
	s, err := lsp.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}
