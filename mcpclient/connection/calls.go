package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/timelimit"
	"replan/mcpclient/child"
	"replan/mcpclient/result"
	"replan/planning/plan"
)

// calls counts the calls on a connection that are in progress.
type calls struct {
	mu      sync.Mutex
	closing bool // no call may begin
	running sync.WaitGroup
}

// enter registers a call. It reports false if no call may begin.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closing {
		c.running.Add(1)
	}
	return !c.closing
}

func (c *calls) leave() { c.running.Done() }

func (c *calls) wait() { c.running.Wait() }

// refuse lets no more calls begin.
func (c *calls) refuse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closing = true
}

// Call is one call on a connection that is in progress.
type Call struct {
	conn    *Connection
	call    plan.ToolCall
	ctx     context.Context // of its request
	end     func()
	strayed int // lines that are no message before it
}

// Begin registers a call on the connection. It reports false if the connection is being
// closed. ctx ends with limit. After [Call.Send], the caller calls [Call.Leave], and
// [Call.End] at last.
func (c *Connection) Begin(ctx context.Context, limit *timelimit.Limit, call plan.ToolCall) (*Call, bool) {
	if !c.calls.enter() {
		return nil, false
	}
	in := &Call{conn: c, call: call, ctx: ctx, end: func() {}}
	if call.Process != nil {
		in.ctx = child.Reporting(in.ctx, func(g child.Group) { call.Process(g.PID, g.Start) })
		if c.link.process != nil {
			child.Report(in.ctx, c.link.process.group)
		}
	}
	if c.requests != nil {
		in.ctx, in.end = c.requests.During(in.ctx, limit, call)
	}
	in.strayed = c.link.process.strayed()
	return in, true
}

// Send sends the call and returns its result. meta are fields of this program's own.
func (c *Call) Send(meta map[string]any) (*mcp.CallToolResult, error) {
	token, finish := c.conn.relays.listen(c.call, c.conn.target.Builtin != nil)
	defer finish()
	var request mcp.CallToolRequest
	request.Params.Name = c.call.Tool.Name
	request.Params.Arguments = c.call.Args
	if c.call.Args == nil {
		request.Params.Arguments = map[string]any{}
	}
	if token != nil || len(meta) > 0 {
		request.Params.Meta = &mcp.Meta{ProgressToken: token, AdditionalFields: meta}
	}
	reply, err := c.conn.client.CallTool(c.ctx, request)
	if err == nil {
		result.Restore(reply)
	}
	if err == nil && mcp.IsModernProtocol(c.conn.Protocol()) && !reply.ResultType.IsComplete() {
		// It is not the content that was asked for, such as the handle of a task.
		return nil, fmt.Errorf("the server answered with a result of the type %q, which replan does not know", reply.ResultType)
	}
	return reply, err
}

// Leave lets the connection close: nothing more is sent. It must be called before anything
// waits for the server, whose end waits for calls.
func (c *Call) Leave() { c.conn.calls.leave() }

// End forgets the call: the server can no longer ask the user something in it.
func (c *Call) End() { c.end() }

// AskToVisit asks the user to visit the pages that the server wants visited before it
// carries out the call, if an error says so. It returns the outcome.
func (c *Call) AskToVisit(err error) (outcome string, asked bool) {
	answered, ok := errors.AsType[*AnsweredError](err)
	if !ok || c.conn.requests == nil || len(answered.pages()) == 0 {
		return "", false
	}
	return c.conn.requests.AskToVisit(c.ctx, answered.pages()), true
}

// Strays says what the server has written meanwhile that is no message, "" for nothing.
func (c *Call) Strays() string { return c.conn.link.process.strayedSince(c.strayed) }
