package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/timelimit"
	"replan/internal/untrusted"
	"replan/mcpclient/builtin"
	"replan/mcpclient/connection"
	"replan/mcpclient/incoming"
	"replan/mcpclient/result"
	"replan/mcpclient/usage"
	"replan/planning/plan"
)

// caller calls the tools of a server.
type caller struct {
	definition
	state    *state
	calls    *usage.Record
	declared result.Declared // what the tools declare of their results
}

// follows continues the records of the caller of the server that this one replaces. It
// must be called before the first call.
func (c *caller) follows(old *caller) { c.calls = old.calls }

// usage returns the calls so far.
func (c *caller) usage() usage.Summary { return c.calls.Summary() }

// call calls a tool and returns its result. See [Server.Call].
func (c *caller) call(ctx context.Context, call plan.ToolCall) (any, error) {
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
	if c.builtin == nil {
		meta = nil // it is of this program alone
	}
	reply, err := c.send(ctx, call, meta)
	if err != nil {
		return nil, err
	}
	return result.Read(call, reply)
}

// preview asks a built-in tool what the call would do. See [Server.Preview].
func (c *caller) preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if c.builtin == nil {
		return plan.ToolPreview{}, notDone(call.Tool, "only built-in servers preview, and %s is not built-in", call.Tool.Server)
	}
	call.Output, call.Progress, call.SaveAttachment, call.Beside = nil, nil, nil, nil
	meta := map[string]any{builtin.MetaPreview: true}
	if call.Contents {
		meta[builtin.MetaContents] = true
	}
	reply, err := c.send(ctx, call, meta)
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
	if err := json.Unmarshal(reply.RawStructuredContent, &preview); err != nil || preview.Diff == nil {
		return plan.ToolPreview{}, fmt.Errorf("%s answered its preview without a diff", call.Tool.QualifiedName())
	}
	return plan.ToolPreview{
		Diff: *preview.Diff, Hashes: preview.Hashes, Nothing: preview.Nothing, Removes: preview.Removes, Command: preview.Command, File: preview.File,
	}, nil
}

// send performs one call, on as many connections as it takes until it was sent.
func (c *caller) send(ctx context.Context, call plan.ToolCall, meta map[string]any) (*mcp.CallToolResult, error) {
	var renewed bool
	var closing *connection.Connection
	for unsent := 0; ; {
		conn, err := c.await(ctx, call.Tool, closing)
		if err != nil {
			return nil, err
		}
		reply, err := c.sendOn(ctx, conn, call, meta)
		switch {
		case err == nil:
			c.state.recovered()
			c.noteUndeclared(call.Tool, reply)
			return reply, nil
		case errors.Is(err, errClosing):
			closing = conn
			continue
		case errors.Is(err, transport.ErrSessionTerminated) && !renewed:
			// An HTTP server that forgot the session has not processed the call.
			renewed = true
			c.state.suspend(conn, errForgotten)
			continue
		case connection.NotSent(err) && unsent < len(c.settings.RestartWaits) && c.state.facts().mayRestart(len(c.settings.RestartWaits)):
			unsent++
			c.state.suspend(conn, connection.Plain(err))
			continue
		case connection.NotSent(err):
			return nil, notDone(call.Tool, "the server %s %s", call.Tool.Server, connection.Plain(err))
		case errors.Is(err, transport.ErrSessionTerminated):
			return nil, notDone(call.Tool, "the server %s forgets its sessions at once", call.Tool.Server)
		}
		return nil, err
	}
}

// await returns the connection of the server once it has listed this tool as the user
// accepted it. It waits while the server starts, or still has the connection that is
// closing. It starts a lost server at once, and asks a failed one once more.
func (c *caller) await(ctx context.Context, tool plan.Tool, closing *connection.Connection) (*connection.Connection, error) {
	life := c.settings.Life
	for waked := false; ; waked = true {
		if !waked {
			c.state.askFailed()
		}
		changed := c.settings.Signal.Changed()
		now := c.state.facts()
		switch {
		case now.State == plan.ServerReady && now.conn != closing:
			return now.conn, now.description.Refuses(tool)
		case now.State != plan.ServerStarting && now.State != plan.ServerReady || life.Err() != nil:
			return nil, notDone(tool, "the server %s is not ready: %s", tool.Server, now.why())
		}
		if !waked {
			c.state.hurry()
		}
		select {
		case <-changed:
		case <-life.Done():
		case <-ctx.Done():
			// Nothing was sent, so nothing is in doubt.
			return nil, fmt.Errorf("%w: %w", notDone(tool, "the server %s did not start in time: %s", tool.Server, now.why()), ctx.Err())
		}
	}
}

// errClosing reports that a connection was closed before the call began.
var errClosing = errors.New("the connection is being closed")

// sendOn performs one call on a connection. The error is one for the caller, except for
// those after which the call may be sent again. These are errClosing,
// transport.ErrSessionTerminated and an address that cannot be reached.
func (c *caller) sendOn(ctx context.Context, conn *connection.Connection, call plan.ToolCall, meta map[string]any) (*mcp.CallToolResult, error) {
	within, clock := timelimit.New(ctx, cmp.Or(call.Timeout, c.config.Timeout, c.settings.CallTimeout))
	defer clock.Stop()
	defer context.AfterFunc(c.settings.Life, clock.Stop)()
	defer context.AfterFunc(conn.Closing(), clock.Stop)()
	running, ok := conn.Begin(within, clock, call)
	if !ok {
		return nil, errClosing
	}
	defer running.End()
	reply, err := running.Send(meta)
	c.calls.Add(clock.Ran(), err != nil || reply.IsError)
	cut := within.Err() // before the connection may be closed, which ends within too
	running.Leave()     // before the server is awaited, whose end waits for calls
	switch {
	case err != nil && cut == nil && (errors.Is(err, transport.ErrSessionTerminated) || connection.NotSent(err)):
		return nil, err
	case err != nil:
		if outcome, asked := running.AskToVisit(err); asked {
			return nil, notDone(call.Tool, "%s", outcome)
		}
		err = c.explain(ctx, within, conn, call, err)
		if late, ok := errors.AsType[*plan.TimeoutError](err); ok {
			late.Meanwhile = running.Strays()
		}
		return nil, err
	case reply.IsError && cut != nil:
		return nil, fmt.Errorf("%w: %s", c.explain(ctx, within, conn, call, cut), result.Text(call, reply))
	case reply.IsError:
		return nil, result.ToolError(call, reply, c.builtin != nil)
	}
	return reply, nil
}

// noteUndeclared notes, once for each tool, that a result differs from what the server
// declares of it. Plans are checked against that.
func (c *caller) noteUndeclared(tool plan.Tool, reply *mcp.CallToolResult) {
	if c.builtin != nil {
		return
	}
	if fault := c.declared.Fault(tool, reply); fault != nil {
		text := fmt.Sprintf("the result of %s is not as its server declares it: %s", tool.QualifiedName(), plan.OneLine(untrusted.Visible(fault.Error()), maxFault))
		c.settings.Logger.Warn("result", "server", c.config.Name, "note", text)
		c.settings.Note(c.config.Name, text)
	}
}

// maxFault is how many characters of what is wrong with a result are shown.
const maxFault = 300

// canceledError reports that a call was canceled.
type canceledError struct {
	text string
	err  error // of the context
}

func (e *canceledError) Error() string { return e.text }
func (e *canceledError) Unwrap() error { return e.err }

// explain translates an error of a call into one for the caller. within is the
// context of the call, which ends with ctx at the latest.
func (c *caller) explain(ctx, within context.Context, conn *connection.Connection, call plan.ToolCall, err error) error {
	name := call.Tool.QualifiedName()
	var answered *connection.AnsweredError
	switch why := conn.Unauthorized(err); {
	case c.settings.Life.Err() != nil, ctx.Err() != nil, errors.Is(within.Err(), context.DeadlineExceeded):
		return c.explainEnd(ctx, within, call)
	case why != nil:
		c.refused(conn, err, why)
		return notDone(call.Tool, "the server %s %s", call.Tool.Server, why)
	case errors.As(err, &answered):
		switch {
		case answered.Refuses():
			return notDone(call.Tool, "%s", answered.Error())
		case answered.Fails() && c.builtin == nil:
			return &plan.ToolError{Tool: name, Message: answered.Error()}
		}
		return fmt.Errorf("calling %s: %w", name, answered)
	case conn.IsLost():
		return fmt.Errorf("calling %s: the server was lost: %s", name, c.lossReason(ctx, conn))
	case conn.Closing().Err() != nil && !errors.Is(err, connection.ErrBroken):
		return fmt.Errorf("calling %s: the server was stopped or restarted meanwhile", name)
	case connection.IsNetwork(err):
		c.state.suspend(conn, connection.Plain(err))
		return fmt.Errorf("calling %s: %w", name, connection.Plain(err))
	case errors.Is(err, client.ErrMaxInputRoundTripsExceeded):
		return notDone(call.Tool, "the server asked for input %d times in one call, or to call again later too often", incoming.MaxQuestions)
	default:
		return fmt.Errorf("calling %s: %w", name, connection.Plain(err))
	}
}

// explainEnd says why a call was ended from here: with the pool, with ctx or by a time
// limit.
func (c *caller) explainEnd(ctx, within context.Context, call plan.ToolCall) error {
	name := call.Tool.QualifiedName()
	switch {
	case c.settings.Life.Err() != nil:
		return &canceledError{fmt.Sprintf("calling %s: the tools were closed", name), context.Canceled}
	case errors.Is(ctx.Err(), context.DeadlineExceeded), errors.Is(within.Err(), context.DeadlineExceeded) && call.Timeout > 0:
		return &plan.TimeoutError{Message: fmt.Sprintf("calling %s: it took longer than its time limit", name), OfCall: call.Timeout > 0}
	case ctx.Err() != nil:
		return &canceledError{fmt.Sprintf("calling %s: the call was canceled", name), ctx.Err()}
	case c.config.Timeout > 0:
		return &plan.TimeoutError{Message: fmt.Sprintf(`calling %s: it took longer than %s, the "timeout" of the server %s`, name, c.config.Timeout, call.Tool.Server)}
	}
	return &plan.TimeoutError{Message: fmt.Sprintf("calling %s: it took longer than %s", name, c.settings.CallTimeout)}
}

// refused notes that the server refused a call. If it wants a login, it has failed until
// the user logs in. If it wants more rights for a tool, its other tools still work.
func (c *caller) refused(conn *connection.Connection, err, why error) {
	switch {
	case errors.Is(err, transport.ErrAuthorizationRequired):
		c.state.suspend(conn, why)
	case connection.IsLogin(why):
		c.state.refused(why)
	}
}

// lossReason waits until the supervision has found out why a connection was lost, and
// returns the reason.
func (c *caller) lossReason(ctx context.Context, conn *connection.Connection) string {
	for {
		changed := c.settings.Signal.Changed()
		if now := c.state.facts(); now.conn != conn && now.failed != "" {
			return now.failed
		}
		select {
		case <-changed:
		case <-c.settings.Life.Done():
			return "the tools were closed"
		case <-ctx.Done():
			return ctx.Err().Error()
		}
	}
}

func notDone(tool plan.Tool, format string, args ...any) error {
	return &plan.ToolError{Tool: tool.QualifiedName(), Message: fmt.Sprintf(format, args...), NotCalled: true}
}
