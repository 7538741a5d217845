package fit

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"replan/planning/plan"
)

//go:embed servers.txt
var servers string

// Servers returns tools as public MCP servers describe them, the same ones in the same
// order each time.
func Servers() (plan.Catalogue, error) {
	var tools plan.Catalogue
	server := ""
	for line := range strings.Lines(servers) {
		line = strings.TrimSpace(line)
		name, heading := strings.CutPrefix(line, "## ")
		switch {
		case heading:
			server = name
		case line != "" && !strings.HasPrefix(line, "#"):
			parts := strings.SplitN(line, " | ", 3)
			if len(parts) != 3 {
				return nil, fmt.Errorf("read the tools of the server %s: no arguments in %q", server, line)
			}
			tools = append(tools, plan.Tool{Name: parts[0], Server: server, Description: parts[1], InputSchema: inputSchema(parts[2])})
		}
	}
	return tools, nil
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
