package planning

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

// Tool is what a plan needs to know of an MCP tool: its name, the schema of
// its arguments and what its server says about its effects.
type Tool struct {
	Name        string          `json:"name"`                   // bare, as its server calls it
	Server      string          `json:"server"`                 // the server that offers it
	Description string          `json:"description,omitempty"`  // untrusted text
	InputSchema json.RawMessage `json:"input_schema,omitempty"` // JSON Schema of the arguments
	ReadOnly    bool            `json:"read_only,omitempty"`    // changes nothing
	Destructive bool            `json:"destructive,omitempty"`  // may destroy what was there
	Annotated   bool            `json:"annotated,omitempty"`    // the server said anything at all about effects
	Trusted     bool            `json:"trusted,omitempty"`      // one of the workspace's own operators
	Previews    bool            `json:"previews,omitempty"`     // can say what it would change before it does
}

// QualifiedName is server:tool, which always names one tool alone.
func (t Tool) QualifiedName() string { return t.Server + ":" + t.Name }

// Catalogue is the tools on offer, the same for a whole run. The zero value
// is an empty catalogue.
type Catalogue []Tool

// UnknownToolError says that no server offers a tool of this name.
type UnknownToolError struct {
	Name  string
	Known []string // the names that exist, sorted
}

func (e *UnknownToolError) Error() string {
	if len(e.Known) == 0 {
		return fmt.Sprintf("no tool is called %q, and no server offers any", e.Name)
	}
	return fmt.Sprintf("no tool is called %q; there are %s", e.Name, strings.Join(e.Known, ", "))
}

// AmbiguousToolError says that several servers offer a tool of this bare name.
type AmbiguousToolError struct {
	Name       string
	Candidates []string // qualified names, sorted
}

func (e *AmbiguousToolError) Error() string {
	return fmt.Sprintf("the tool name %q is ambiguous: say %s", e.Name, strings.Join(e.Candidates, " or "))
}

// Find returns the tool that name means: a qualified name, or a bare one that
// one server alone offers. It fails with *UnknownToolError or
// *AmbiguousToolError.
func (c Catalogue) Find(name string) (Tool, error) {
	var found []Tool
	server, tool, _ := strings.Cut(name, ":")
	for _, t := range c {
		if t.Server == server && t.Name == tool {
			return t, nil
		}
		if t.Name == name {
			found = append(found, t)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Tool{}, &UnknownToolError{Name: name, Known: c.Names()}
	}
	candidates := make([]string, len(found))
	for i, t := range found {
		candidates[i] = t.QualifiedName()
	}
	sort.Strings(candidates)
	return Tool{}, &AmbiguousToolError{Name: name, Candidates: candidates}
}

// Names returns the shortest name that means each tool, sorted: bare where one
// server alone offers it, qualified otherwise.
func (c Catalogue) Names() []string {
	servers := make(map[string]int, len(c))
	for _, t := range c {
		servers[t.Name]++
	}
	names := make([]string, 0, len(c))
	for _, t := range c {
		if servers[t.Name] > 1 {
			names = append(names, t.QualifiedName())
		} else {
			names = append(names, t.Name)
		}
	}
	sort.Strings(names)
	return names
}
