package prompt

import (
	"cmp"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
	"replan/planning/reply"
	"replan/planning/retrieval"
)

// maxChosen is how many tools a model may ask for before it plans.
const maxChosen = 24

// SelectionRequest asks which further tools a plan may need, before phase 3. ok is
// false if the prompts name every tool, or the window has no room for further names.
func SelectionRequest(b Brief, a reply.Analysis) (req Request, ok bool) {
	b = b.For(PurposeTools)
	list := newShortlist(b)
	if len(list.left) == 0 {
		return Request{}, false
	}
	unnamed := make(map[string]bool, len(list.left))
	for _, m := range list.left {
		unnamed[m.Name] = true
	}
	var names []string
	const tokens = 512 // of the reply
	format := schema{Type: "object", Properties: properties{{"tools", texts(maxChosen)}}, Required: []string{"tools"}}
	c := composition{
		brief: b, purpose: PurposeTools, format: encodeSchema(format), plans: &planTools{message: list.message()}, tokens: tokens,
		last: func(*cutter) string {
			return b.Prompting.prompt("tools", toolsData{fenced("tools", strings.Join(names, ", ")), maxChosen})
		},
	}
	p, window := b.Prompting, b.Prompting.ContextWindow
	room := int(p.bytesPerToken() * float64(min(window/2, window-tokens-p.tokens(c.request().Messages))))
	for _, m := range ranked(b, a.Brief, "") {
		if !unnamed[m.Name] {
			continue
		}
		if room -= len(m.Name) + 2; room < 0 {
			break
		}
		names = append(names, m.Name)
	}
	if len(names) == 0 {
		return Request{}, false
	}
	return c.request(), true
}

// Chosen returns the tools that a reply to [SelectionRequest] names, and no others:
// what it says besides does not count.
func Chosen(c plan.Catalog, r reply.Reply) []string {
	names := retrieval.Spelled(c, reply.StripThinking(r.Text))
	return names[:min(len(names), maxChosen)]
}

// ToolsFind is the tool with which a model finds the tools that a request had no
// room to offer. It is on offer in chat and to sub-agents, and only where tools
// were left out.
const ToolsFind = "tools.find"

// maxFound is how many tools one call of [ToolsFind] finds.
const maxFound = 8

// FindTool describes [ToolsFind].
func FindTool() plan.Tool {
	return plan.Tool{
		Name: ToolsFind, Server: PlanServer, Annotated: true, ReadOnly: true, Trusted: true,
		Description: "Find tools that exist but are not offered here.",
		InputSchema: []byte(`{"type":"object","properties":{"words":{"type":"string","description":"the work to do, or the name of a server"}},"required":["words"],"additionalProperties":false}`),
	}
}

// IsFindTool reports whether a tool of a catalog is [FindTool].
func IsFindTool(t plan.Tool) bool {
	return t.Server == PlanServer && t.Trusted && t.Name == ToolsFind
}

// FindTools answers a call of [ToolsFind] among the tools that a model may call. It
// returns the best few for the words, or a note if none fits.
func FindTools(tools plan.Catalog, words string) map[string]any {
	matches := retrieval.Rank(tools, retrieval.Query{Goal: words})
	best := bestScore(matches)
	matches = slices.DeleteFunc(matches, func(m retrieval.Match) bool {
		return IsPlanTool(m.Tool) || !m.Named && (m.Score == 0 || m.Score < best*fitsAt)
	})
	slices.SortStableFunc(matches, func(a, b retrieval.Match) int {
		switch {
		case a.Named && b.Named:
			return 0
		case a.Named:
			return -1
		case b.Named:
			return 1
		default:
			return cmp.Compare(b.Score, a.Score)
		}
	})
	found := []any{}
	for _, m := range matches[:min(len(matches), maxFound)] {
		described, _ := withoutResult(m.Tool)
		found = append(found, map[string]any{
			"name": m.Name, "call": plan.OneLine(call(m.Name, m.Tool), 400), "description": plan.OneLine(described, 160),
		})
	}
	result := map[string]any{"tools": found}
	if len(found) == 0 {
		result["note"] = nothingFound(tools, words)
	}
	return result
}

// nothingFound says that no tool fits, and what to ask for instead.
func nothingFound(tools plan.Catalog, words string) string {
	var near, servers []string
	names := tools.Names()
	for _, word := range strings.Fields(words) {
		if name := english.Nearest(word, names); name != "" && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	if len(near) > 0 {
		return "No tool fits these words. The nearest names are " + listFew(near) + "."
	}
	for _, t := range tools {
		if !t.Trusted && !slices.Contains(servers, t.Server) {
			servers = append(servers, t.Server)
		}
	}
	if len(servers) == 0 {
		return "No tool fits these words."
	}
	slices.Sort(servers)
	return "No tool fits these words. Use other words, or the name of a server: " + english.Some(servers, 20, "server") + "."
}

// FoundNames returns the names of the tools in a result of [FindTools].
func FoundNames(result any) []string {
	var names []string
	object, _ := result.(map[string]any)
	list, _ := object["tools"].([]any)
	for _, item := range list {
		tool, _ := item.(map[string]any)
		if name, ok := tool["name"].(string); ok {
			names = append(names, name)
		}
	}
	return names
}
