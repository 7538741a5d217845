package ollama

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ollama/ollama/api"

	"replan/internal/redact"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// loading returns the fields that all requests for a model share, including one
// that only loads it. The context window varies only if it grows, since the server
// then reloads the model.
func (c *Client) loading(info prompt.ModelInfo) *api.ChatRequest {
	chat := &api.ChatRequest{
		Model:    info.Name,
		Messages: []api.Message{},
		Options:  map[string]any{"num_ctx": info.ContextWindow},
	}
	if c.alive != 0 {
		chat.KeepAlive = &api.Duration{Duration: c.alive}
	}
	return chat
}

// chatRequest converts the request to Ollama's format. It forbids the server to
// truncate or shift the prompt silently.
func (x *exchange) chatRequest(s requestForm) *api.ChatRequest {
	stream, no := true, false
	chat := x.client.loading(x.info)
	chat.Stream, chat.Truncate, chat.Shift = &stream, &no, &no
	chat.Format, chat.Think = s.format, s.think
	if x.req.MaxTokens > 0 {
		chat.Options["num_predict"] = x.req.MaxTokens
	}
	if x.req.Temperature > 0 {
		chat.Options["temperature"] = x.req.Temperature
	}
	if s.tools {
		chat.Tools = tools(x.req.Tools)
	}
	for _, m := range x.req.Messages {
		out := plainMessage(m)
		if s.tools {
			out = message(m)
		}
		images, note := x.pictures(m)
		out.Images, out.Content = images, out.Content+note
		chat.Messages = append(chat.Messages, out)
	}
	return chat
}

func message(m prompt.Message) api.Message {
	out := api.Message{Role: string(m.Role), Content: redact.Prompt(m.Content), ToolName: m.Tool, ToolCallID: m.CallID}
	for i, use := range m.Calls {
		call := api.ToolCall{ID: use.ID, Function: api.ToolCallFunction{Index: i, Name: use.Name, Arguments: api.NewToolCallFunctionArguments()}}
		// Sorted, because the server's prompt cache compares bytes.
		for _, key := range slices.Sorted(maps.Keys(use.Args)) {
			call.Function.Arguments.Set(key, redact.Value(use.Args[key], redact.Prompt))
		}
		out.ToolCalls = append(out.ToolCalls, call)
	}
	return out
}

// plainMessage converts a message for a model without tools, whose template would
// silently drop calls and their results.
func plainMessage(m prompt.Message) api.Message {
	out := api.Message{Role: string(m.Role), Content: redact.Prompt(m.Content)}
	if m.Role == prompt.RoleTool {
		out.Role = string(prompt.RoleUser)
	}
	for _, use := range m.Calls {
		if out.Content != "" {
			out.Content += "\n"
		}
		out.Content += fmt.Sprintf("(call of %s with %s)", use.Name, plan.CanonicalJSON(redact.Value(use.Args, redact.Prompt)))
	}
	return out
}

// tools converts the offered tools, each under its shortest unambiguous name.
func tools(offer plan.Offer) api.Tools {
	named := make(map[string]int, len(offer))
	for _, t := range offer {
		named[t.Name]++
	}
	var out api.Tools
	for _, t := range offer {
		name := t.Name
		if named[name] > 1 {
			name = t.QualifiedName()
		}
		out = append(out, api.Tool{Type: "function", Function: api.ToolFunction{
			Name:        name,
			Description: bounded(t.Description, toolWords),
			Parameters:  parameters(t.InputSchema),
		}})
	}
	return out
}

// bounded returns text on one line, cut to at most most characters.
func bounded(text string, most int) string {
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > most {
		return strings.TrimSpace(string(runes[:most])) + "…"
	}
	return text
}

// readCalls parses the calls in a line. The API's own types would turn every
// number into a float64.
func readCalls(line []byte) ([]reply.ToolUse, error) {
	var whole struct {
		Message struct {
			Calls []struct {
				ID       string `json:"id"`
				Function struct {
					Name string          `json:"name"`
					Args json.RawMessage `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
		} `json:"message"`
	}
	if err := json.Unmarshal(line, &whole); err != nil {
		return nil, fmt.Errorf("reading the calls that the model asks for: %w", err)
	}
	var uses []reply.ToolUse
	for _, call := range whole.Message.Calls {
		use := reply.ToolUse{ID: call.ID, Name: call.Function.Name, Args: map[string]any{}}
		if len(call.Function.Args) > 0 {
			args, err := plan.DecodeValue(call.Function.Args)
			if err != nil {
				return nil, fmt.Errorf("reading the arguments of %s: %w", use.Name, err)
			}
			if object, ok := args.(map[string]any); ok {
				use.Args = object
			}
		}
		uses = append(uses, use)
	}
	return uses, nil
}
