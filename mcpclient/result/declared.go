package result

import (
	"errors"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"replan/planning/plan"
)

// Declared compares results with what the tools of a server declare of them. The zero
// value is ready for use. It is safe for concurrent use.
type Declared struct {
	mu    sync.Mutex
	tools map[string]*plan.Output // by tool and pin; nil if nothing is to be compared any more
}

// Fault returns what is wrong with the structured content of a result, and nil if that
// was reported before.
func (d *Declared) Fault(tool plan.Tool, result *mcp.CallToolResult) error {
	if len(tool.OutputSchema) == 0 {
		return nil
	}
	key := tool.Name + "\n" + tool.Pin
	d.mu.Lock()
	output, known := d.tools[key]
	d.mu.Unlock()
	if !known {
		output, _ = plan.NewOutput(tool) // an unusable schema declares nothing
		d.set(key, output)
	}
	fault := check(output, result)
	if fault != nil && !d.set(key, nil) {
		return nil // a call beside has reported it
	}
	return fault
}

// set sets what a tool declares. It reports whether that differs from before.
func (d *Declared) set(key string, output *plan.Output) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.tools == nil {
		d.tools = map[string]*plan.Output{}
	}
	before := d.tools[key]
	d.tools[key] = output
	return before != output
}

// check compares a result with what its tool declares. JSON as the only text stands for
// structured content, as it does in [Read].
func check(output *plan.Output, result *mcp.CallToolResult) error {
	switch {
	case output == nil:
		return nil
	case len(result.RawStructuredContent) > 0:
		content, err := decode(result.RawStructuredContent)
		if err != nil {
			return nil // the call fails, see Read
		}
		return output.Check(content)
	case len(result.Content) == 1:
		if text, ok := mcp.AsTextContent(result.Content[0]); ok {
			if content, ok := decoded(text.Text); ok {
				return output.Check(content)
			}
		}
	}
	return errors.New("it has no structured content")
}
