package mcpclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/redact"
	"replan/internal/timelimit"
	"replan/mcpclient/builtin"
	"replan/mcpclient/child"
	"replan/mcpclient/incoming"
	"replan/mcpclient/oauth"
	"replan/mcpclient/result"
	"replan/planning/plan"
)

// Call calls a tool and returns its result as a JSON value with numbers as
// json.Number. It returns the structured content if there is any. Otherwise it
// returns the text, parsed as JSON if it is an object or an array, or nil if
// there is none. The text joins text blocks, embedded resources and, as JSON, the
// fields that no block of its kind has, with one line for each link and other block.
//
// Content that is no text goes to call.Keep. If there is some, and no structured
// content, the value has the text and the files: {"text": …, "files": [{"file",
// "type", "bytes", "sha256"}, …]}. In structured content and in JSON of a server
// that is not built-in, such an object takes the place of each string of 1,024
// characters of base64 and more. Text that the structured content does not hold
// goes to call.Beside.
//
// The error wraps *plan.ToolError if the call did not do its work: the tool reported a
// failure, the server answered with an error, or the call never reached the server. It wraps
// the context's error if ctx or a time limit ended the call. After any other error, including
// an internal one of a built-in server, the effect of the call is unknown.
func (p *Pool) Call(ctx context.Context, call plan.ToolCall) (any, error) {
	value, err := p.call(ctx, call)
	if call.Tool.Contained != "" && !call.Tool.ReadOnly {
		if made := p.cfg.Box.Made(); made != "" {
			p.Note(made)
		}
	}
	if err != nil {
		return value, p.withoutSecrets(err)
	}
	return value, nil
}

func (p *Pool) call(ctx context.Context, call plan.ToolCall) (any, error) {
	if p.readsResources(call.Tool) {
		return callResourceTool(ctx, p, call)
	}
	meta := map[string]any{}
	if call.Hashes != nil {
		meta[builtin.MetaHashes] = call.Hashes
		meta[builtin.MetaDiff] = builtin.DiffHash(call.Diff)
	}
	if call.Command != nil {
		meta[builtin.MetaCommand] = call.Command
	}
	if call.Run != "" {
		meta[builtin.MetaRun] = call.Run
	}
	if call.Paths != nil {
		meta[builtin.MetaPaths] = call.Paths
	}
	if call.Hold {
		meta[builtin.MetaHold] = true
	}
	reply, err := p.send(ctx, call, meta)
	if err != nil {
		return nil, err
	}
	return result.Read(call, reply)
}

// withoutSecrets keeps the secrets of the configurations out of the text of an error.
func (p *Pool) withoutSecrets(err error) error {
	if failure, ok := errors.AsType[*plan.ToolError](err); ok { // of this call alone
		failure.Message, failure.Result = p.secrets.Known(failure.Message), redact.Value(failure.Result, p.secrets.Known)
	}
	if late, ok := errors.AsType[*plan.TimeoutError](err); ok {
		late.Meanwhile = p.secrets.Known(late.Meanwhile)
	}
	if text := p.secrets.Known(err.Error()); text != err.Error() {
		return &hushedError{err, text}
	}
	return err
}

// hushedError is an error whose text held secrets.
type hushedError struct {
	error
	text string
}

func (e *hushedError) Error() string { return e.text }
func (e *hushedError) Unwrap() error { return e.error }

// Preview asks a built-in tool what the call would change or run, without doing
// either. It fails for tools that do not support previews.
func (p *Pool) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if !call.Tool.Previews && !call.Tool.Commands {
		return plan.ToolPreview{}, fmt.Errorf("%s cannot preview its changes", call.Tool.QualifiedName())
	}
	call.Output, call.Progress, call.Keep, call.Beside = nil, nil, nil, nil
	meta := map[string]any{builtin.MetaPreview: true}
	if call.Contents {
		meta[builtin.MetaContents] = true
	}
	result, err := p.send(ctx, call, meta)
	if err != nil {
		return plan.ToolPreview{}, err
	}
	var preview struct {
		Diff    *string           `json:"diff"`
		Hashes  map[string]string `json:"hashes"`
		Nothing bool              `json:"nothing"`
		Removes string            `json:"removes"`
		Command *plan.Command     `json:"command"`
		File    *plan.FileChange  `json:"file"`
	}
	if err := json.Unmarshal(result.RawStructuredContent, &preview); err != nil || preview.Diff == nil {
		return plan.ToolPreview{}, fmt.Errorf("%s answered its preview without a diff", call.Tool.QualifiedName())
	}
	return plan.ToolPreview{
		Diff: *preview.Diff, Hashes: preview.Hashes, Nothing: preview.Nothing, Removes: preview.Removes, Command: preview.Command, File: preview.File,
	}, nil
}

// send performs one call. Only built-in servers receive the meta fields.
func (p *Pool) send(ctx context.Context, call plan.ToolCall, meta map[string]any) (*mcp.CallToolResult, error) {
	e, err := p.begin(call.Tool)
	if err != nil {
		return nil, err
	}
	defer p.work.Done()
	if e.builtin == nil {
		if _, preview := meta[builtin.MetaPreview]; preview {
			return nil, notDone(call.Tool, "only built-in servers preview, and %s is not built-in", call.Tool.Server)
		}
		meta = nil
	}
	var renewed bool
	var closing *connection
	for unsent := 0; ; {
		conn, err := p.await(ctx, e, call.Tool, closing)
		if err != nil {
			return nil, err
		}
		result, err := p.sendOn(ctx, e, conn, call, meta)
		switch {
		case err == nil:
			p.recovered(e)
			noteUndeclared(p, e, call.Tool, result)
			return result, nil
		case errors.Is(err, errClosing):
			closing = conn
			continue
		case errors.Is(err, transport.ErrSessionTerminated) && !renewed:
			// An HTTP server that forgot the session has not processed the call.
			renewed = true
			p.suspend(e, conn, errors.New("has forgotten the session"))
			continue
		case notSent(err) && unsent < len(p.cfg.RestartWaits) && p.mayRestart(e):
			unsent++
			p.suspend(e, conn, plain(err))
			continue
		case notSent(err):
			return nil, notDone(call.Tool, "the server %s %s", call.Tool.Server, plain(err))
		case errors.Is(err, transport.ErrSessionTerminated):
			return nil, notDone(call.Tool, "the server %s forgets its sessions at once", call.Tool.Server)
		}
		return nil, err
	}
}

// errClosing reports that a connection was closed before the call began.
var errClosing = errors.New("the connection is being closed")

// sendOn performs one call on a connection. The error is one for the caller, except
// for those after which the call may be sent again: errClosing,
// transport.ErrSessionTerminated and an address that cannot be reached.
func (p *Pool) sendOn(ctx context.Context, e *entry, conn *connection, call plan.ToolCall, meta map[string]any) (*mcp.CallToolResult, error) {
	if !conn.enter() {
		return nil, errClosing
	}
	within, clock := timelimit.New(ctx, cmp.Or(call.Timeout, e.server.Timeout, p.cfg.CallTimeout))
	defer clock.Stop()
	defer context.AfterFunc(p.life, clock.Stop)()
	defer context.AfterFunc(conn.life, clock.Stop)()
	if call.Process != nil {
		within = child.Reporting(within, func(g child.Group) { call.Process(g.PID, g.Start) })
		if conn.process != nil {
			child.Report(within, conn.process.group)
		}
	}
	sent := within
	if conn.requests != nil {
		var end func()
		sent, end = conn.requests.During(within, clock, call)
		defer end()
	}
	strayed := conn.strayed()
	reply, err := conn.call(sent, call, meta, e.builtin != nil)
	e.calls.Add(clock.Ran(), err != nil || reply.IsError)
	cut := within.Err() // before the connection may be closed, which ends within too
	conn.calls.Done()   // before the server is awaited, whose end waits for calls
	switch {
	case err != nil && cut == nil && (errors.Is(err, transport.ErrSessionTerminated) || notSent(err)):
		return nil, err
	case err != nil:
		if answered, ok := errors.AsType[*answeredError](err); ok && conn.requests != nil && len(answered.pages()) > 0 {
			return nil, notDone(call.Tool, "%s", conn.requests.AskToVisit(sent, answered.pages()))
		}
		err = p.explain(ctx, within, e, conn, call, err)
		if late, ok := errors.AsType[*plan.TimeoutError](err); ok {
			late.Meanwhile = conn.strays(strayed)
		}
		return nil, err
	case reply.IsError && cut != nil:
		return nil, fmt.Errorf("%w: %s", p.explain(ctx, within, e, conn, call, cut), result.Text(call, reply))
	case reply.IsError:
		return nil, result.ToolError(call, reply, e.builtin != nil)
	}
	return reply, nil
}

func (c *connection) call(ctx context.Context, call plan.ToolCall, meta map[string]any, isBuiltin bool) (*mcp.CallToolResult, error) {
	token, finish := c.listen(call, isBuiltin)
	defer finish()
	var request mcp.CallToolRequest
	request.Params.Name = call.Tool.Name
	request.Params.Arguments = call.Args
	if call.Args == nil {
		request.Params.Arguments = map[string]any{}
	}
	if token != nil || len(meta) > 0 {
		request.Params.Meta = &mcp.Meta{ProgressToken: token, AdditionalFields: meta}
	}
	reply, err := c.client.CallTool(ctx, request)
	if err == nil {
		result.Restore(reply)
	}
	if err == nil && c.newerProtocol() && !reply.ResultType.IsComplete() {
		// It is not the content that was asked for, such as the handle of a task.
		return nil, fmt.Errorf("the server answered with a result of the type %q, which replan does not know", reply.ResultType)
	}
	return reply, err
}

// begin finds the server of a tool and registers the call as in progress.
func (p *Pool) begin(tool plan.Tool) (*entry, error) {
	p.Start()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, notDone(tool, "the tools are closed")
	}
	for _, e := range p.entries {
		if e.server.Name != tool.Server {
			continue
		}
		if !offers(e.server, tool.Name) {
			return nil, notDone(tool, "the configuration of %s leaves this tool out", tool.Server)
		}
		p.work.Add(1)
		return e, nil
	}
	return nil, notDone(tool, "there is no server %s", tool.Server)
}

// await returns the connection of a server that has listed this tool as the user
// accepted it. It waits while the server starts, or still has the connection that is
// closing. It starts a lost server at once, and asks a failed one once more.
func (p *Pool) await(ctx context.Context, e *entry, tool plan.Tool, closing *connection) (*connection, error) {
	for waked := false; ; waked = true {
		p.mu.Lock()
		asked := !waked && e.askFailed()
		if asked {
			p.broadcast()
		}
		changed, conn, state, why := p.changed, e.conn, e.state, cmp.Or(e.problem, string(e.state))
		refused := checkAccepted(e, tool)
		p.mu.Unlock()
		if asked {
			p.notify()
		}
		switch {
		case state == plan.ServerReady && conn != closing:
			return conn, refused
		case state != plan.ServerStarting && state != plan.ServerReady || p.life.Err() != nil:
			return nil, notDone(tool, "the server %s is not ready: %s", tool.Server, why)
		}
		if !waked {
			select {
			case e.wake <- struct{}{}:
			default: // somebody else has done it
			}
		}
		select {
		case <-changed:
		case <-p.life.Done():
		case <-ctx.Done():
			// Nothing was sent, so nothing is in doubt.
			return nil, fmt.Errorf("%w: %w", notDone(tool, "the server %s did not start in time: %s", tool.Server, why), ctx.Err())
		}
	}
}

// canceledError reports that a call was cancelled.
type canceledError struct {
	text string
	err  error // of the context
}

func (e *canceledError) Error() string { return e.text }
func (e *canceledError) Unwrap() error { return e.err }

// explain translates an error of a call into one for the caller. within is the
// context of the call, which ends with ctx at the latest.
func (p *Pool) explain(ctx, within context.Context, e *entry, conn *connection, call plan.ToolCall, err error) error {
	tool := call.Tool
	name := tool.QualifiedName()
	var answered *answeredError
	var network *url.Error
	switch {
	case p.life.Err() != nil:
		return &canceledError{fmt.Sprintf("calling %s: the tools were closed", name), context.Canceled}
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(within.Err(), context.DeadlineExceeded) && call.Timeout > 0:
		return &plan.TimeoutError{Message: fmt.Sprintf("calling %s: it took longer than its time limit", name), OfCall: call.Timeout > 0}
	case ctx.Err() != nil:
		return &canceledError{fmt.Sprintf("calling %s: the call was cancelled", name), ctx.Err()}
	case errors.Is(within.Err(), context.DeadlineExceeded) && e.server.Timeout > 0:
		return &plan.TimeoutError{Message: fmt.Sprintf(`calling %s: it took longer than %s, the "timeout" of the server %s`, name, e.server.Timeout, tool.Server)}
	case errors.Is(within.Err(), context.DeadlineExceeded):
		return &plan.TimeoutError{Message: fmt.Sprintf("calling %s: it took longer than %s", name, p.cfg.CallTimeout)}
	case conn.unauthorised(e.server, err) != nil:
		why := conn.unauthorised(e.server, err)
		p.refused(e, conn, err, why)
		return notDone(tool, "the server %s %s", tool.Server, why)
	case errors.As(err, &answered):
		switch {
		case answered.refuses():
			return notDone(tool, "%s", answered.Error())
		case answered.fails() && e.builtin == nil:
			return &plan.ToolError{Tool: name, Message: answered.Error()}
		}
		return fmt.Errorf("calling %s: %w", name, answered)
	case conn.isLost():
		return fmt.Errorf("calling %s: the server was lost: %s", name, p.reason(ctx, e, conn))
	case conn.life.Err() != nil && !errors.Is(err, errBroken):
		return fmt.Errorf("calling %s: the server was stopped or restarted meanwhile", name)
	case errors.As(err, &network), errors.Is(err, errBroken):
		p.suspend(e, conn, plain(err))
		return fmt.Errorf("calling %s: %w", name, plain(err))
	case errors.Is(err, client.ErrMaxInputRoundTripsExceeded):
		return notDone(tool, "the server asked for input %d times in one call, or to call again later too often", incoming.MaxQuestions)
	default:
		return fmt.Errorf("calling %s: %w", name, plain(err))
	}
}

// notSent reports whether the connection failed before anything was sent.
func notSent(err error) bool {
	var network *net.OpError
	return unprepared(err) != nil || errors.As(err, &network) && network.Op == "dial"
}

// unprepared returns the error because of which a request got no token or no headers,
// so that it was not sent; else nil.
func unprepared(err error) error {
	if refresh, ok := errors.AsType[*oauth.RefreshError](err); ok {
		return refresh
	}
	if helper, ok := errors.AsType[*oauth.HelperError](err); ok {
		return helper
	}
	return nil
}

// plain strips the library's wording and the address, which may hold a secret,
// from an error.
func plain(err error) error {
	if why := unprepared(err); why != nil {
		return why
	}
	if address, ok := errors.AsType[*url.Error](err); ok {
		if notSent(address) {
			return fmt.Errorf("cannot be reached: %w", address.Err)
		}
		return fmt.Errorf("the connection failed: %w", address.Err)
	}
	if wrapped, ok := errors.AsType[*transport.Error](err); ok {
		return wrapped.Err
	}
	return err
}

// reason waits until the supervisor has found out why a connection was lost, and
// returns the reason.
func (p *Pool) reason(ctx context.Context, e *entry, conn *connection) string {
	for {
		p.mu.Lock()
		changed, found, why := p.changed, e.conn != conn, e.failed
		p.mu.Unlock()
		if found && why != "" {
			return why
		}
		select {
		case <-changed:
		case <-p.life.Done():
			return "the tools were closed"
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	}
}

// mayRestart reports whether a lost server will be restarted, or asked again.
func (p *Pool) mayRestart(e *entry) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return e.wasReady && e.tries < len(p.cfg.RestartWaits)
}

// recovered notes that a server works: its next loss is the first one again. It
// lists the tools of an HTTP server that was considered lost.
func (p *Pool) recovered(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.tries = 0; e.state == plan.ServerFailed && e.conn != nil {
		e.conn.askAgain()
	}
}

func notDone(tool plan.Tool, format string, args ...any) error {
	return &plan.ToolError{Tool: tool.QualifiedName(), Message: fmt.Sprintf(format, args...), NotCalled: true}
}
