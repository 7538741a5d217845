package workspace

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
)

// Caller returns a function that calls a tool with the context itself in place of one
// that is derived from it, so that a test sees each look at it.
func Caller(o *Operators) func(ctx context.Context, tool string, args map[string]any) error {
	all := o.operators()
	return func(ctx context.Context, tool string, args map[string]any) error {
		var req mcp.CallToolRequest
		req.Params.Name, req.Params.Arguments = tool, args
		for _, t := range all {
			if t.Name == tool {
				_, err := t.Handle(ctx, req, o.log)
				return err
			}
		}
		panic("there is no tool " + tool)
	}
}

// Turn keeps all calls that change files waiting until release.
func Turn(o *Operators) (release func(), err error) { return o.changes.Turn(context.Background()) }
