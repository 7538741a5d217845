package mcpclient

import (
	"context"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/internal/redact"
	"replan/mcpclient/connection"
	"replan/mcpclient/result"
	"replan/mcpclient/server"
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
		return value, withoutSecrets(p.cfg.Secrets, err)
	}
	return value, nil
}

func (p *Pool) call(ctx context.Context, call plan.ToolCall) (any, error) {
	if p.readsResources(call.Tool) {
		return p.requests().callResourceTool(ctx, call)
	}
	s, leave, err := p.serverOf(call.Tool)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.Call(ctx, call)
}

// callResourceTool reads the resource that a call names, for a model.
func (r requests) callResourceTool(ctx context.Context, call plan.ToolCall) (any, error) {
	name, _ := call.Args["server"].(string)
	uri, _ := call.Args["uri"].(string)
	var reply *mcp.ReadResourceResult
	offers, err := r.askForResource(ctx, name, func(ctx context.Context, of *connection.Resources) (err error) {
		reply, err = of.Read(ctx, uri)
		return err
	})
	switch {
	case !offers:
		return nil, notDone(call.Tool, fmt.Sprintf("the server %q offers no resources", name))
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("reading %s: %w", uri, ctx.Err())
	case err != nil:
		return nil, notDone(call.Tool, fmt.Sprintf("the server %s cannot read %s: %s", name, uri, connection.Plain(err)))
	}
	return result.Resource(call, reply.Contents)
}

// readsResources reports whether a tool is the one of the pool itself that reads
// resources, and not one of a server with the same name.
func (p *Pool) readsResources(t plan.Tool) bool {
	return t.Server == plan.ResourceServer && t.Name == plan.ResourceTool && !hasResourceServer(p.roster.views())
}

// Preview asks a built-in tool what the call would change or run, without doing
// either. It fails for tools that do not support previews.
func (p *Pool) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if !call.Tool.Previews && !call.Tool.Commands {
		return plan.ToolPreview{}, fmt.Errorf("%s cannot preview its changes", call.Tool.QualifiedName())
	}
	s, leave, err := p.serverOf(call.Tool)
	if err != nil {
		return plan.ToolPreview{}, err
	}
	defer leave()
	return s.Preview(ctx, call)
}

// serverOf returns the server of a tool and registers the call as in progress, until
// leave. The error says why the tool is not called.
func (p *Pool) serverOf(tool plan.Tool) (s *server.Server, leave func(), err error) {
	p.Start()
	why := fmt.Sprintf("there is no server %s", tool.Server)
	s, leave, err = p.roster.enter(tool.Server, func(s *server.Server) error {
		if s.Offers(tool.Name) {
			return nil
		}
		why = fmt.Sprintf("the configuration of %s leaves this tool out", tool.Server)
		return errors.New(why)
	})
	if errors.Is(err, errClosed) {
		why = "the tools are closed"
	}
	if err != nil {
		return nil, nil, notDone(tool, why)
	}
	return s, leave, nil
}

func notDone(tool plan.Tool, why string) error {
	return &plan.ToolError{Tool: tool.QualifiedName(), Message: why, NotCalled: true}
}

// withoutSecrets keeps the secrets of the configurations out of the text of an error.
func withoutSecrets(secrets *redact.Secrets, err error) error {
	if failure, ok := errors.AsType[*plan.ToolError](err); ok { // of this call alone
		failure.Message, failure.Result = secrets.Known(failure.Message), redact.Value(failure.Result, secrets.Known)
	}
	if late, ok := errors.AsType[*plan.TimeoutError](err); ok {
		late.Meanwhile = secrets.Known(late.Meanwhile)
	}
	if text := secrets.Known(err.Error()); text != err.Error() {
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
