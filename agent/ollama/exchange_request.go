package ollama

import (
	"github.com/ollama/ollama/api"
)

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
