package connection

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/timelimit"
	"replan/mcpclient/child"
	"replan/mcpclient/incoming"
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
	call     plan.ToolCall
	ctx      context.Context // of its request
	client   *client.Client
	calls    *calls // it is one of them
	relays   *relays
	builtin  bool              // the server is in this process
	requests *incoming.Handler // nil if the server is in this process
	strays   *strays           // nil if the server is no process
	strayed  int               // lines that are no message before it
	end      func()
}

// begin lets the server ask the user in the call, and tells which process carries it out.
func (c *Call) begin(limit *timelimit.Limit, p *process) {
	if c.call.Process != nil {
		c.ctx = child.Reporting(c.ctx, func(g child.Group) { c.call.Process(g.PID, g.Start) })
		p.report(c.ctx)
	}
	if c.requests != nil {
		c.ctx, c.end = c.requests.During(c.ctx, limit, c.call)
	}
	c.strays = p.noMessages()
	c.strayed = c.strays.soFar()
}

// Send sends the call and returns its result. meta are fields of this program's own.
func (c *Call) Send(meta map[string]any) (*mcp.CallToolResult, error) {
	token, finish := c.relays.listen(c.call, c.builtin)
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
	reply, err := c.client.CallTool(c.ctx, request)
	if err == nil {
		result.Restore(reply)
	}
	if err == nil && mcp.IsModernProtocol(c.client.ProtocolVersion()) && !reply.ResultType.IsComplete() {
		// It is not the content that was asked for, such as the handle of a task.
		return nil, fmt.Errorf("the server answered with a result of the type %q, which replan does not know", reply.ResultType)
	}
	return reply, err
}

// Leave lets the connection close: nothing more is sent. It must be called before anything
// waits for the server, whose end waits for calls.
func (c *Call) Leave() { c.calls.leave() }

// End forgets the call: the server can no longer ask the user something in it.
func (c *Call) End() { c.end() }

// AskToVisit asks the user to visit the pages that the server wants visited before it
// carries out the call, if an error says so. It returns the outcome.
func (c *Call) AskToVisit(err error) (outcome string, asked bool) {
	answered, ok := errors.AsType[*AnsweredError](err)
	if !ok || c.requests == nil || len(answered.pages()) == 0 {
		return "", false
	}
	return c.requests.AskToVisit(c.ctx, answered.pages()), true
}

// Strays says what the server has written meanwhile that is no message, "" for nothing.
func (c *Call) Strays() string { return c.strays.tell(c.strayed) }
