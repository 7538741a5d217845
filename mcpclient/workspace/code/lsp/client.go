package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/charmbracelet/x/powernap/pkg/lsp/protocol"
	"github.com/sourcegraph/jsonrpc2"
)

// Time limits of requests. The first request waits until the project is
// loaded.
const (
	initTime     = 30 * time.Second
	loadTime     = time.Minute
	requestTime  = time.Minute
	shutdownTime = time.Second
)

// within returns a context that ends after a time, and says so.
func within(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, limit, fmt.Errorf("it took longer than %s", limit))
}

// client is a connection to one running server. The holder of turn makes
// requests, one at a time.
type client struct {
	workspace
	program Program
	proc    *process
	conn    *jsonrpc2.Conn
	options map[string]any // keyed by section
	log     *slog.Logger

	utf8   bool // positions count bytes, otherwise UTF-16 units
	pulls  bool // the client requests diagnostics, otherwise the server sends them
	lastID atomic.Uint64

	turn   chan struct{}       // holds a token during a request
	open   map[string]document // by path; guarded by turn
	stamps map[string]stamp    // by path, as the server knows them; guarded by turn
	round  int                 // counts the calls of sync; guarded by turn

	mu        sync.Mutex
	published map[string]fileDiagnostics // by path
	news      chan struct{}              // closed when published or loaded changes
	loaded    bool
}

// document is an open file as the server knows it.
type document struct {
	version int32
	text    string
	sent    int // how often diagnostics had arrived when the text was sent
	round   int // the round of sync that sent it
}

// fileDiagnostics holds the diagnostics that a server sent for a file.
type fileDiagnostics struct {
	version int32 // of the document; 0 if the server does not say
	count   int   // how often diagnostics were sent
	at      time.Time
	items   []protocol.Diagnostic
}

// connect starts a server and initializes it.
func connect(ctx context.Context, w workspace, p Program, proc *process, options map[string]any, log *slog.Logger) (*client, error) {
	c := &client{
		workspace: w, program: p, proc: proc, options: options, log: log, turn: make(chan struct{}, 1),
		open: map[string]document{}, published: map[string]fileDiagnostics{}, news: make(chan struct{}), loaded: !p.quiesces,
	}
	// The connection outlives the call that starts it; close ends it.
	c.conn = jsonrpc2.NewConn(context.WithoutCancel(ctx), jsonrpc2.NewBufferedStream(proc, jsonrpc2.VSCodeObjectCodec{}),
		jsonrpc2.HandlerWithError(c.handle), jsonrpc2.SetLogger(slog.NewLogLogger(log.Handler(), slog.LevelDebug)))
	if err := c.initialize(ctx); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *client) initialize(ctx context.Context) error {
	root := c.uri(".")
	var result struct {
		Capabilities struct {
			PositionEncoding   string `json:"positionEncoding"`
			DiagnosticProvider any    `json:"diagnosticProvider"`
		} `json:"capabilities"`
	}
	err := c.request(ctx, "initialize", map[string]any{
		"processId": os.Getpid(), "clientInfo": map[string]any{"name": "replan"},
		"rootUri": root, "rootPath": c.folder.Real(), "workspaceFolders": []any{map[string]any{"uri": root, "name": "workspace"}},
		"capabilities": capabilities(), "initializationOptions": c.initOptions(),
	}, &result)
	if err != nil {
		return err
	}
	c.utf8, c.pulls = result.Capabilities.PositionEncoding == "utf-8", result.Capabilities.DiagnosticProvider != nil
	if err := c.notify(ctx, "initialized", map[string]any{}); err != nil {
		return err
	}
	if c.stamps, err = c.workspace.stamps(c.program); err != nil {
		return err
	}
	return c.notify(ctx, "workspace/didChangeConfiguration", map[string]any{"settings": c.options})
}

// capabilities describes the answers that the client accepts. It excludes
// resource operations, because a rename changes text only.
func capabilities() map[string]any {
	return map[string]any{
		"general": map[string]any{"positionEncodings": []string{"utf-8", "utf-16"}},
		"workspace": map[string]any{
			"configuration": true, "workspaceFolders": true, "workspaceEdit": map[string]any{"documentChanges": true},
			"didChangeConfiguration": map[string]any{"dynamicRegistration": true},
			"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true},
		},
		"textDocument": map[string]any{
			"synchronization": map[string]any{"didSave": true},
			"documentSymbol":  map[string]any{"hierarchicalDocumentSymbolSupport": true},
			"definition":      map[string]any{"linkSupport": false}, "references": map[string]any{}, "rename": map[string]any{},
			"publishDiagnostics": map[string]any{"versionSupport": true}, "diagnostic": map[string]any{},
		},
		"window":       map[string]any{"workDoneProgress": true},
		"experimental": map[string]any{"serverStatusNotification": true},
	}
}

// initOptions returns the options of the server's only section.
func (c *client) initOptions() any {
	for _, section := range c.options {
		return section
	}
	return nil
}

// request sends a request, and cancels it at the server if ctx ends first.
func (c *client) request(ctx context.Context, method string, params, result any) error {
	id := c.lastID.Add(1)
	err := c.conn.Call(ctx, method, params, result, jsonrpc2.PickID(jsonrpc2.ID{Num: id}))
	var refused *jsonrpc2.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		_ = c.notify(context.WithoutCancel(ctx), "$/cancelRequest", map[string]any{"id": id})
		return fmt.Errorf("%s did not answer %s: %w", c.program.Name, method, context.Cause(ctx))
	case errors.As(err, &refused):
		return &RefusedError{Server: c.program.Name, Reason: strings.TrimSpace(refused.Message)}
	default:
		if errors.Is(err, jsonrpc2.ErrClosed) {
			<-c.conn.DisconnectNotify() // arrives a moment later; alive depends on it
		}
		return fmt.Errorf("asking %s for %s: %w", c.program.Name, method, err)
	}
}

func (c *client) notify(ctx context.Context, method string, params any) error {
	if err := c.conn.Notify(ctx, method, params); err != nil {
		return fmt.Errorf("telling %s of %s: %w", c.program.Name, method, err)
	}
	return nil
}

// handle handles requests and notifications from the server.
func (c *client) handle(_ context.Context, _ *jsonrpc2.Conn, req *jsonrpc2.Request) (any, error) {
	var params json.RawMessage
	if req.Params != nil {
		params = *req.Params
	}
	switch req.Method {
	case "textDocument/publishDiagnostics":
		c.publish(params)
	case "experimental/serverStatus":
		var status struct {
			Quiescent bool `json:"quiescent"`
		}
		if json.Unmarshal(params, &status) == nil && status.Quiescent {
			c.changed(func() { c.loaded = true })
		}
	case "workspace/configuration":
		return c.configuration(params), nil
	case "workspace/applyEdit":
		return map[string]any{"applied": false, "failureReason": "changes are made by the user"}, nil
	case "window/showMessage", "window/logMessage":
		c.log.Debug("language server", "server", c.program.Name, "message", string(params[:min(len(params), 500)]))
	case "client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/diagnostic/refresh", "workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh":
	default:
		if !req.Notif {
			return nil, &jsonrpc2.Error{Code: jsonrpc2.CodeMethodNotFound, Message: req.Method + " is not offered"}
		}
	}
	return nil, nil
}

// configuration returns the options of the requested sections.
func (c *client) configuration(params json.RawMessage) []any {
	var asked protocol.ConfigurationParams
	_ = json.Unmarshal(params, &asked) // on an error no section is requested
	found := make([]any, len(asked.Items))
	for i, item := range asked.Items {
		section, rest, nested := strings.Cut(item.Section, ".")
		found[i] = c.options[section]
		if values, ok := found[i].(map[string]any); nested {
			found[i] = nil
			if ok {
				found[i] = values[rest]
			}
		}
	}
	return found
}

// publish stores diagnostics that the server sent.
func (c *client) publish(params json.RawMessage) {
	var sent protocol.PublishDiagnosticsParams
	if json.Unmarshal(params, &sent) != nil {
		return
	}
	at, ok := c.path(sent.URI)
	if !ok {
		return
	}
	c.changed(func() {
		c.published[at] = fileDiagnostics{version: sent.Version, count: c.published[at].count + 1, at: time.Now(), items: sent.Diagnostics}
	})
}

// count returns how often the server has sent diagnostics for a file.
func (c *client) count(at string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.published[at].count
}

// changed applies a change that others wait for, and wakes them.
func (c *client) changed(change func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	change()
	close(c.news)
	c.news = make(chan struct{})
}

// until waits until a condition holds, and checks it after every change. It
// returns false if the server ends or the time is up.
func (c *client) until(ctx context.Context, most time.Duration, holds func() (bool, time.Duration)) bool {
	limit := time.NewTimer(most)
	defer limit.Stop()
	for {
		c.mu.Lock()
		done, again := holds()
		news := c.news
		c.mu.Unlock()
		if done {
			return true
		}
		var settled <-chan time.Time
		if again > 0 {
			settled = time.After(again)
		}
		select {
		case <-news:
		case <-settled:
		case <-limit.C:
			return false
		case <-ctx.Done():
			return false
		case <-c.conn.DisconnectNotify():
			return false
		}
	}
}

// begin takes the turn for a request about files, and synchronizes the server
// with the disk. The returned function releases the turn.
func (c *client) begin(ctx context.Context, paths ...string) (done func(), err error) {
	select {
	case c.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	done = func() { <-c.turn }
	if err = c.sync(ctx, paths); err == nil && !c.until(ctx, loadTime, func() (bool, time.Duration) { return c.loaded, 0 }) {
		err = fmt.Errorf("%s did not load the project within %s", c.program.Name, loadTime)
	}
	if err != nil {
		done()
		return nil, err
	}
	return done, nil
}

// sync notifies the server of files changed on disk, and opens the files of
// the request.
func (c *client) sync(ctx context.Context, paths []string) error {
	c.round++
	now, err := c.workspace.stamps(c.program)
	if err != nil {
		return err
	}
	events := c.changes(c.stamps, now)
	c.stamps = now
	if len(events) > 0 {
		if err := c.notify(ctx, "workspace/didChangeWatchedFiles", protocol.DidChangeWatchedFilesParams{Changes: events}); err != nil {
			return err
		}
	}
	for at := range c.open {
		if err := c.refresh(ctx, at); err != nil {
			return err
		}
	}
	for _, at := range paths {
		if _, known := c.open[at]; known {
			continue
		}
		text, err := c.read(at)
		if err != nil {
			return fmt.Errorf("reading %s for %s: %w", at, c.program.Name, err)
		}
		language, _ := c.program.language(at)
		c.open[at] = document{version: 1, text: text, sent: c.count(at), round: c.round}
		err = c.notify(ctx, "textDocument/didOpen", protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
			URI: c.uri(at), LanguageID: protocol.LanguageKind(language), Version: 1, Text: text,
		}})
		if err != nil {
			return err
		}
	}
	return nil
}

// refresh updates an open file from disk.
func (c *client) refresh(ctx context.Context, at string) error {
	text, err := c.read(at)
	switch {
	case err != nil: // it is gone or now too large
		delete(c.open, at)
		return c.notify(ctx, "textDocument/didClose", protocol.DidCloseTextDocumentParams{TextDocument: protocol.TextDocumentIdentifier{URI: c.uri(at)}})
	case text == c.open[at].text:
		return nil
	}
	if err := c.change(ctx, at, text); err != nil {
		return err
	}
	return c.notify(ctx, "textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": c.uri(at)}})
}

// change sends the server the new text of an open file.
func (c *client) change(ctx context.Context, at, text string) error {
	d := document{version: c.open[at].version + 1, text: text, sent: c.count(at), round: c.round}
	c.open[at] = d
	return c.notify(ctx, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": c.uri(at), "version": d.version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

// name returns the name of the server's program.
func (c *client) name() string { return c.program.Name }

// opens returns the files to open for a question about a file. If this server looks only
// into open files, these are all that it reads and that hold what the question is about.
func (c *client) opens(file string, holding []string) []string {
	paths := []string{file}
	if !c.program.openAll {
		return paths
	}
	for _, at := range holding {
		if _, ours := c.program.language(at); ours && at != file {
			paths = append(paths, at)
		}
	}
	return paths
}

// alive reports whether the server can still answer.
func (c *client) alive() bool {
	select {
	case <-c.conn.DisconnectNotify():
		return false
	case <-c.proc.ended():
		return false
	default:
		return true
	}
}

// close stops the server and waits for its processes.
func (c *client) close() {
	if c.alive() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if c.request(ctx, "shutdown", nil, nil) == nil {
			_ = c.notify(ctx, "exit", nil)
		}
	}
	// The end of the output closes the connection. Its own Close, beside a reply that is
	// being read, panics (jsonrpc2 v0.2.1).
	_ = c.proc.Close()
	<-c.conn.DisconnectNotify()
}
