package plantest

import (
	"embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

// files has the operators, the tools of foreign servers, and goals with the tools that
// each needs.
//
//go:embed tools
var files embed.FS

// Tools returns a small catalog: two readers, an editor and a test runner.
func Tools() plan.Catalog {
	return plan.Catalog{
		{
			Name: "fs.read", Server: "workspace", Description: "Read a text file.\nLines are numbered.", ReadOnly: true, Annotated: true, Trusted: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"offset":{"type":"integer"}},"required":["path"]}`),
		},
		{
			Name: "fs.search", Server: "workspace", Description: "Search files by regular expression.", ReadOnly: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"pattern":{"type":"string"},"kind":{"enum":["text","regexp"]}},"required":["pattern"]}`),
		},
		{
			Name: "fs.patch", Server: "workspace", Description: "Apply exact replacements to a file.", Destructive: true,
			InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},"edits":{"type":"array","items":{"type":"object","properties":{"old":{"type":"string"},"new":{"type":"string"}},"required":["old","new"]}}},"required":["path","edits"]}`),
		},
		{
			Name: "test.run", Server: "workspace", Description: "Run the project's tests.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"target":{"type":"string"}}}`),
		},
	}
}

// Operators returns the operators of the workspace.
func Operators(t testing.TB) plan.Catalog {
	t.Helper()
	data, err := files.ReadFile("tools/operators.json")
	if err != nil {
		t.Fatal(err)
	}
	var tools plan.Catalog
	if err := json.Unmarshal(data, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// serverCatalog returns the tools of foreign servers.
func serverCatalog(t testing.TB) plan.Catalog {
	t.Helper()
	var tools plan.Catalog
	server := ""
	for _, line := range Lines(t, "servers.txt") {
		line = strings.TrimSpace(line)
		if name, heading := strings.CutPrefix(line, "## "); heading {
			server = name
			continue
		}
		parts := strings.SplitN(line, " | ", 3)
		if len(parts) != 3 {
			t.Fatalf("a tool of the server %s without arguments: %q", server, line)
		}
		tools = append(tools, plan.Tool{Name: parts[0], Server: server, Description: parts[1], InputSchema: inputSchema(parts[2])})
	}
	return tools
}

// Goals returns goals with the tools that each needs.
func Goals(t testing.TB) (goals []string, needed map[string][]string) {
	t.Helper()
	needed = map[string][]string{}
	for _, line := range Lines(t, "goals.txt") {
		goal, tools, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("a goal without tools: %q", line)
		}
		goals, needed[goal] = append(goals, goal), strings.Split(tools, ", ")
	}
	return goals, needed
}

// Beside returns the operators and so many foreign tools, the needed ones among
// them.
func Beside(t testing.TB, foreign int, needed []string) plan.Catalog {
	t.Helper()
	all := serverCatalog(t)
	chosen := make(map[int]bool, foreign)
	for i, tool := range all {
		if slices.Contains(needed, tool.Name) {
			chosen[i] = true
		}
	}
	for i := 0; len(chosen) < min(foreign, len(all)); i++ {
		chosen[i*37%len(all)] = true // from all servers alike
	}
	catalog := Operators(t)
	for i, tool := range all {
		if chosen[i] {
			catalog = append(catalog, tool)
		}
	}
	return catalog
}

// Lines returns the lines of a file of goals or tools without comments.
func Lines(t testing.TB, name string) []string {
	t.Helper()
	data, err := files.ReadFile("tools/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.HasPrefix(line, "# ")
	})
}

// inputSchema returns the JSON Schema of arguments in the notation of servers.txt. The
// properties keep their order, as real servers write the required ones first.
func inputSchema(args string) json.RawMessage {
	var properties []string
	required := []string{}
	for arg := range strings.SplitSeq(args, "; ") {
		name, rest, _ := strings.Cut(arg, " ")
		kind, about, _ := strings.Cut(rest, " ")
		name, must := strings.CutSuffix(name, "!")
		if must {
			required = append(required, name)
		}
		schema := map[string]any{"type": kind, "description": about}
		switch item, list := strings.CutPrefix(kind, "["); {
		case list:
			schema["type"], schema["items"] = "array", map[string]any{"type": strings.TrimSuffix(item, "]")}
		case strings.Contains(kind, "|"):
			schema["type"], schema["enum"] = "string", strings.Split(kind, "|")
		}
		properties = append(properties, plan.CanonicalJSON(name)+":"+plan.CanonicalJSON(schema))
	}
	return json.RawMessage(`{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":` + plan.CanonicalJSON(required) + `,"additionalProperties":false}`)
}

// Wide returns forty tools of two servers with schemas; every fifth
// name exists twice and must be qualified.
func Wide() plan.Catalog {
	var catalog plan.Catalog
	for i := range 40 {
		tool := plan.Tool{Name: fmt.Sprint("tool.", i), Server: "one", ReadOnly: i%2 == 0, InputSchema: json.RawMessage(`{
			"type": "object", "required": ["path"], "additionalProperties": false,
			"properties": {"path": {"type": "string"}, "text": {"type": "string"}, "lines": {"type": "integer"}, "from": {"type": "array", "items": {"type": "string"}}}
		}`)}
		catalog = append(catalog, tool)
		if i%5 == 0 {
			tool.Server = "two"
			catalog = append(catalog, tool)
		}
	}
	return catalog
}
