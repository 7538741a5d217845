package mcpclient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/builtin"
	"replan/mcpclient/child"
	"replan/planning/plan"
)

// Call calls a tool and returns its result as a JSON value with numbers as
// json.Number. It returns the structured content if there is any. Otherwise it
// returns the text, parsed as JSON if it is an object or an array, or nil if
// there is none. The text joins text blocks and embedded resources, with one
// line for each link and other block.
//
// Content that is no text goes to call.Keep. If there is some, and no structured
// content, the value has the text and the files: {"text": …, "files": [{"file",
// "type", "bytes", "sha256"}, …]}. In structured content and in JSON of a server
// that is not built-in, such an object takes the place of each string of 1,024
// characters of base64 and more. Text that the structured content does not hold
// goes to call.Beside.
//
// The error wraps *plan.ToolError if the call certainly did not do its work:
// the tool reported a failure, the server refused the request, or the call
// never reached the server. It wraps the context's error if ctx or a time
// limit ended the call. After any other error, including a server's internal
// error, the effect of the call is unknown.
func (p *Pool) Call(ctx context.Context, call plan.ToolCall) (any, error) {
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
	if call.Hold {
		meta[builtin.MetaHold] = true
	}
	result, err := p.send(ctx, call, meta)
	if err != nil {
		return nil, err
	}
	return read(call, result)
}

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
	e, conn, err := p.begin(call.Tool)
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

	limit := p.cfg.CallTimeout
	if e.server.Timeout > 0 {
		limit = e.server.Timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(p.life, cancel)()

	if call.Process != nil {
		ctx = child.Reporting(ctx, func(g child.Group) { call.Process(g.PID, g.Start) })
		if conn.process != nil {
			child.Report(ctx, conn.process.group)
		}
	}
	result, err := conn.call(ctx, call, meta, e.builtin != nil)
	if errors.Is(err, transport.ErrSessionTerminated) {
		// An HTTP server that forgot the session has not processed the call.
		if renewed := p.renewed(ctx, e, conn); renewed != nil {
			conn = renewed
			result, err = conn.call(ctx, call, meta, false)
		}
	}
	switch {
	case err != nil:
		return nil, p.explain(ctx, e, conn, call.Tool, err)
	case result.IsError && ctx.Err() != nil:
		return nil, fmt.Errorf("%s was stopped: %w: %s", call.Tool.QualifiedName(), ctx.Err(), newReader(call).text(result))
	case result.IsError:
		return nil, toolError(call, result, e.builtin != nil)
	}
	p.recovered(e)
	return result, nil
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
	return c.client.CallTool(ctx, request)
}

// renewed waits until the supervisor has replaced a connection whose session
// ended. It returns nil if the supervisor could not.
func (p *Pool) renewed(ctx context.Context, e *entry, old *connection) *connection {
	old.askAgain()
	for {
		p.mu.Lock()
		changed, conn, state := p.changed, e.conn, e.state
		p.mu.Unlock()
		switch {
		case conn != old && state == plan.ServerReady:
			return conn
		case state == plan.ServerFailed || state == plan.ServerStopped:
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil
		}
	}
}

// begin finds the connection for a tool and registers the call as in progress.
func (p *Pool) begin(tool plan.Tool) (*entry, *connection, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return nil, nil, notDone(tool, "the tools are closed")
	}
	for _, e := range p.entries {
		if e.server.Name != tool.Server {
			continue
		}
		if e.conn == nil {
			why := e.problem
			if why == "" {
				why = string(e.state)
			}
			return nil, nil, notDone(tool, "the server %s is not ready: %s", tool.Server, why)
		}
		p.work.Add(1)
		return e, e.conn, nil
	}
	return nil, nil, notDone(tool, "there is no server %s", tool.Server)
}

// explain translates an error of a call into one for the caller.
func (p *Pool) explain(ctx context.Context, e *entry, conn *connection, tool plan.Tool, err error) error {
	name := tool.QualifiedName()
	var answered *answeredError
	var network *url.Error
	switch {
	case p.life.Err() != nil:
		return fmt.Errorf("calling %s: the tools were closed: %w", name, context.Canceled)
	case ctx.Err() != nil:
		return fmt.Errorf("calling %s: %w", name, ctx.Err())
	case errors.As(err, &answered):
		if answered.refuses() {
			return notDone(tool, "%s", answered.Error())
		}
		return fmt.Errorf("calling %s: %w", name, answered)
	case conn.isLost():
		return fmt.Errorf("calling %s: the server was lost: %s", name, p.awaitProblem(ctx, e))
	case errors.As(err, &network):
		p.lostHTTP(e, plain(err))
		if notSent(network) {
			return notDone(tool, "the server %s %s", tool.Server, plain(err))
		}
		return fmt.Errorf("calling %s: %w", name, plain(err))
	case errors.Is(err, transport.ErrAuthorizationRequired), errors.Is(err, transport.ErrSessionTerminated):
		return notDone(tool, "the server %s refuses: %s", tool.Server, plain(err))
	default:
		return fmt.Errorf("calling %s: %w", name, plain(err))
	}
}

// notSent reports whether the connection failed before anything was sent.
func notSent(err error) bool {
	var network *net.OpError
	return errors.As(err, &network) && network.Op == "dial"
}

// plain strips the library's wording and the address, which may hold a secret,
// from an error.
func plain(err error) error {
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

// awaitProblem waits until the supervisor has found out why a server was lost,
// and returns the reason.
func (p *Pool) awaitProblem(ctx context.Context, e *entry) string {
	for {
		p.mu.Lock()
		changed, lost, problem := p.changed, e.conn == nil, e.problem
		p.mu.Unlock()
		if lost && problem != "" {
			return problem
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	}
}

// lostHTTP records that an HTTP server does not answer. It keeps the
// connection, since the next call or the next Ready may succeed.
func (p *Pool) lostHTTP(e *entry, err error) {
	p.mu.Lock()
	conn, ready := e.conn, e.state == plan.ServerReady
	p.mu.Unlock()
	if ready {
		p.fail(e, conn, err)
	}
}

// recovered lists the tools of a server again if it was considered lost.
func (p *Pool) recovered(e *entry) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if e.state == plan.ServerFailed && e.conn != nil {
		e.conn.askAgain()
	}
}

func notDone(tool plan.Tool, format string, args ...any) error {
	return &plan.ToolError{Tool: tool.QualifiedName(), Message: fmt.Sprintf(format, args...)}
}
