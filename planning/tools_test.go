package planning_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/planning/plan"
)

// operatorCatalogue returns the workspace's operators, as testdata holds them.
func operatorCatalogue(t testing.TB) plan.Catalogue {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tools", "operators.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools plan.Catalogue
	if err := json.Unmarshal(data, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

// serverCatalogue returns the tools of foreign servers.
func serverCatalogue(t testing.TB) plan.Catalogue {
	t.Helper()
	var tools plan.Catalogue
	server := ""
	for _, line := range testLines(t, "servers.txt") {
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

// goalTools returns goals with the tools that each needs.
func goalTools(t testing.TB) (goals []string, needed map[string][]string) {
	t.Helper()
	needed = map[string][]string{}
	for _, line := range testLines(t, "goals.txt") {
		goal, tools, ok := strings.Cut(line, " => ")
		if !ok {
			t.Fatalf("a goal without tools: %q", line)
		}
		goals, needed[goal] = append(goals, goal), strings.Split(tools, ", ")
	}
	return goals, needed
}

// beside returns the operators and so many foreign tools, the needed ones among
// them.
func beside(t testing.TB, foreign int, needed []string) plan.Catalogue {
	t.Helper()
	all := serverCatalogue(t)
	chosen := make(map[int]bool, foreign)
	for i, tool := range all {
		if slices.Contains(needed, tool.Name) {
			chosen[i] = true
		}
	}
	for i := 0; len(chosen) < min(foreign, len(all)); i++ {
		chosen[i*37%len(all)] = true // from all servers alike
	}
	catalogue := operatorCatalogue(t)
	for i, tool := range all {
		if chosen[i] {
			catalogue = append(catalogue, tool)
		}
	}
	return catalogue
}

// testLines returns the lines of a file of testdata without comments.
func testLines(t testing.TB, name string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "tools", name))
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
