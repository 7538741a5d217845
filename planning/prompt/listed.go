package prompt

import (
	"slices"
	"strings"

	"replan/planning/plan"
	"replan/planning/reply"
)

// The longest thought, in characters, that comes before a call or an answer in a
// listed request. Small models choose better after a short one.
const maxThought = 200

// listing describes the tools that a listed request lets the model call, and the
// form of its replies.
func listing(tools plan.Catalogue) string {
	var lines strings.Builder
	for _, t := range tools {
		lines.WriteString(toolLine(tools.ShortName(t), t))
	}
	return "# Tools\n\nThe tools that you may call: name(arguments) -> result. `?` marks an argument that may be left out.\n\n" +
		fenced("tools", strings.TrimSuffix(lines.String(), "\n")) + "\n\n" +
		"Reply with one JSON object. It calls one tool: {\"thought\": \"…\", \"tool\": \"…\", \"args\": {…}}. " +
		"Or it is the final answer: {\"thought\": \"…\", \"answer\": \"…\"}. Call the tool, do not describe it."
}

// turnFormat is the format of a reply to a listed request: a call or an answer, or an
// answer alone.
func turnFormat(tools plan.Offer) []byte {
	thought := property{"thought", schema{Type: "string", MaxLength: maxThought}}
	answer := schema{Type: "object", Properties: properties{thought, {"answer", textSchema}}, Required: []string{"thought", "answer"}}
	if len(tools) == 0 {
		return formatOf(answer)
	}
	call := schema{
		Type:       "object",
		Properties: properties{thought, {"tool", choice(plan.Catalogue(tools).Names()...)}, {"args", objectSchema}},
		Required:   []string{"thought", "tool", "args"},
	}
	return formatOf(schema{AnyOf: []schema{call, answer}})
}

// list makes the tools of a request listed ones: the model calls them by its reply, and
// the calls before, with their results, are text.
func (c composition) list(req *Request) {
	if !c.listed {
		return
	}
	req.Listed, req.Tools = req.Tools, nil
	if c.final {
		req.Listed = nil
	}
	req.Format = turnFormat(req.Listed)
	req.Messages = slices.Clone(req.Messages)
	for i, m := range req.Messages {
		req.Messages[i] = asText(m)
	}
}

// asText is a turn without calls and their results in fields of their own.
func asText(m Message) Message {
	if m.Role == RoleTool {
		m.Role, m.Tool, m.CallID = RoleUser, "", ""
	}
	if len(m.Calls) == 0 {
		return m
	}
	lines := make([]string, len(m.Calls))
	for i, use := range m.Calls {
		lines[i] = plan.CanonicalJSON(called{strings.TrimSpace(m.Content), use.Name, use.Args})
		m.Content = ""
	}
	m.Content, m.Calls = strings.Join(lines, "\n"), nil
	return m
}

// called is a call in the form that a listed request asks for. An empty thought is left
// out: small models would go on with empty ones.
type called struct {
	Thought string         `json:"thought,omitempty"`
	Tool    string         `json:"tool"`
	Args    map[string]any `json:"args"`
}

// ReadReply reads a reply to a turn of a sub-agent or of the chat: calls in its text
// become calls of the reply, and the answer of a listed request becomes its text.
// tools are those that the loop may call, and none if it may call none. The reply that
// the model wrote is kept.
func ReadReply(req Request, tools plan.Offer, r reply.Reply) reply.Reply {
	if len(r.Calls) > 0 || req.Purpose != PurposeAgent && req.Purpose != PurposeChat {
		return r
	}
	read := reply.ReadCalls
	if len(req.Format) > 0 {
		read = reply.ReadTurn
	}
	w := read(r.Text, tools, r.CutOff)
	if !w.Any() && len(req.Format) == 0 {
		return r
	}
	r.Written, r.Text = r.Text, w.Text
	r.Calls, r.Broken = append(w.Calls, w.Unknown...), w.Broken && len(w.Calls)+len(w.Unknown) == 0
	return r
}
