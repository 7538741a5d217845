package mcpclient

import (
	"context"
	"errors"
	"fmt"

	"replan/internal/redact"
	"replan/mcpclient/box"
	"replan/mcpclient/server"
	"replan/planning/plan"
)

// calls decide which server a call of a tool goes to.
type calls struct {
	roster   *roster
	requests *requests // for the tool that reads resources
	notes    *notes
	box      *box.Box        // tells what contained calls have made
	secrets  *redact.Secrets // to keep out of errors
}

// Call calls a tool and returns its result as a JSON value with numbers as json.Number. It
// returns the structured content if there is any. Otherwise it returns the text, parsed as
// JSON if it is an object or an array, or nil if there is none. The text joins text
// blocks, embedded resources and, as JSON, the fields that no block of its kind has. Each
// link and other block gets one line.
//
// Content that is no text goes to call.SaveAttachment. If there is some, and no structured
// content, the value has the text and the files: {"text": …, "files": [{"file", "type",
// "bytes", "sha256"}, …]}. Such an object takes the place of each string of 1,024
// characters of base64 and more. That is so in structured content and in JSON of a server
// that is not built-in. Text that the structured content does not hold goes to
// call.Beside.
//
// The error wraps *plan.ToolError if the call did not do its work. Then the tool reported a
// failure, the server answered with an error, or the call never reached the server. It wraps
// the context's error if ctx or a time limit ended the call. After any other error, including
// an internal one of a built-in server, the effect of the call is unknown.
func (c *calls) Call(ctx context.Context, call plan.ToolCall) (any, error) {
	value, err := c.call(ctx, call)
	if call.Tool.Contained != "" && !call.Tool.ReadOnly {
		if created := c.box.Made(); created != "" {
			c.notes.Note(created)
		}
	}
	if err != nil {
		return value, withoutSecrets(c.secrets, err)
	}
	return value, nil
}

func (c *calls) call(ctx context.Context, call plan.ToolCall) (any, error) {
	if c.readsResources(call.Tool) {
		return c.requests.callResourceTool(ctx, call)
	}
	s, leave, err := c.serverOf(call.Tool)
	if err != nil {
		return nil, err
	}
	defer leave()
	return s.Call(ctx, call)
}

// readsResources reports whether a tool is the one of the pool itself that reads
// resources, and not one of a server with the same name.
func (c *calls) readsResources(t plan.Tool) bool {
	return t.Server == plan.ResourceServer && t.Name == plan.ResourceTool && !hasResourceServer(c.roster.views())
}

// Preview asks a built-in tool what the call would change or run, without doing
// either. It fails for tools that do not support previews.
func (c *calls) Preview(ctx context.Context, call plan.ToolCall) (plan.ToolPreview, error) {
	if !call.Tool.Previews && !call.Tool.Commands {
		return plan.ToolPreview{}, fmt.Errorf("%s cannot preview its changes", call.Tool.QualifiedName())
	}
	s, leave, err := c.serverOf(call.Tool)
	if err != nil {
		return plan.ToolPreview{}, err
	}
	defer leave()
	return s.Preview(ctx, call)
}

// serverOf returns the server of a tool and registers the call as in progress, until
// leave. The error says why the tool is not called.
func (c *calls) serverOf(tool plan.Tool) (s *server.Server, leave func(), err error) {
	c.roster.begin()
	why := fmt.Sprintf("there is no server %s", tool.Server)
	s, leave, err = c.roster.enter(tool.Server, func(s *server.Server) error {
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
