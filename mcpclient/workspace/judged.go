package workspace

import (
	"fmt"
	"path"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/builtin"
	"replan/planning/plan"
)

// unjudged refuses a call whose rules were not asked about the files that its paths lead
// to. It returns nil if they were, or if the client judges by no path. See
// [builtin.MetaPaths].
func (o *Operators) unjudged(req mcp.CallToolRequest) *mcp.CallToolResult {
	if req.Params.Meta == nil {
		return nil
	}
	judged, ok := req.Params.Meta.AdditionalFields[builtin.MetaPaths].(map[string]any)
	if !ok {
		return nil
	}
	found, why := map[string]any{}, ""
	for _, name := range plan.PathArgs {
		written, _ := req.GetArguments()[name].(string)
		if written == "" {
			continue
		}
		real, err := o.tree.Resolve(written)
		if err != nil {
			continue // the operator says so
		}
		known, ok := judged[name].(string)
		if !ok {
			if known, err = o.tree.Relative(written); err != nil {
				continue
			}
			known = path.Clean(known)
		}
		if real == known {
			continue
		}
		found[name] = real
		why = fmt.Sprintf("%s leads to %s through a link", written, real)
	}
	if why == "" {
		return nil
	}
	for name, at := range judged {
		if _, changed := found[name]; !changed {
			found[name] = at
		}
	}
	result := mcp.NewToolResultError("nothing was done: " + why)
	result.Meta = mcp.NewMetaFromMap(map[string]any{builtin.MetaPaths: found, builtin.MetaOutdated: why})
	return result
}
