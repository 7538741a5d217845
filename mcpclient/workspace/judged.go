package workspace

import (
	"fmt"
	"path"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace/op"
	"replan/mcpclient/workspace/tree"
	"replan/planning/plan"
)

// pathJudge holds the paths of calls against those that rules were asked about.
type pathJudge struct{ tree *tree.Tree }

// meansSeveral reports whether a path means several files: a pattern, or a folder that
// is read whole.
func (j *pathJudge) meansSeveral(tool, written string) bool {
	if _, several := j.tree.Pattern(written); several || tool != "fs.read" {
		return several
	}
	at, err := j.tree.Resolve(written)
	if err != nil {
		return false
	}
	info, err := j.tree.Root.Stat(at)
	return err == nil && info.IsDir()
}

// unjudged refuses a call whose rules were not asked about the files that its paths lead
// to. It returns nil if they were, or if the client judges by no path. See
// [builtin.MetaPaths].
func (j *pathJudge) unjudged(req mcp.CallToolRequest) *mcp.CallToolResult {
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
		if name == "path" && j.meansSeveral(req.Params.Name, written) {
			return mcp.NewToolResultError(fmt.Sprintf("nothing was done: a rule is about paths, and %q may be several; name one file or folder", written))
		}
		real, err := j.tree.Resolve(written)
		if err != nil {
			continue // the operator says so
		}
		known, ok := judged[name].(string)
		if !ok {
			if known, err = j.tree.Relative(written); err != nil {
				known = written // another spelling of a path in the workspace
			}
			known = op.Name(path.Clean(known))
		}
		if op.Name(real) == known {
			continue
		}
		found[name] = op.Name(real)
		why = fmt.Sprintf("%s leads to %s through a link", written, op.Name(real))
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
