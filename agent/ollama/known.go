package ollama

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// known is what a client has learned about one model. The description does not
// change while the model is installed, so that every request uses the same
// context window; only [Client.Grow] replaces it. The rest grows with each
// rejection by the server.
type known struct {
	info       prompt.ModelInfo
	fixed      bool  // the user or the Modelfile set the context window
	tokenBytes int64 // memory for a token of context, 0 if unknown
	pacing     *pacing

	mu            sync.Mutex
	noTools       bool            // the server rejects requests with tools
	noLevels      bool            // thinking is on or off, without levels
	noThink       bool            // the server rejects requests with a think setting
	thinkToFormat bool            // formatted replies were empty without thinking, or broke their format
	unformatted   bool            // replies break their format with thinking on and off
	noFormat      map[string]bool // schemas that the server cannot turn into a grammar
	writesCalls   bool            // its calls do not arrive as calls, see prompt.Prompting
}

// requestForm is how to make a request, with every feature that the model is known to
// accept.
type requestForm struct {
	think  *api.ThinkValue
	tools  bool
	format json.RawMessage
}

func (k *known) setting(req prompt.Request) requestForm {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := requestForm{tools: !k.noTools, format: req.Format}
	if k.noFormat[string(req.Format)] {
		s.format = json.RawMessage(`"json"`)
	}
	switch {
	case !k.info.Thinks || k.noThink:
	case len(req.Format) > 0: // the format would apply only after the thinking
		s.think = &api.ThinkValue{Value: k.thinkToFormat}
	case !req.Think || req.Level == prompt.ThinkOff:
		s.think = &api.ThinkValue{Value: false}
	case req.Level == prompt.ThinkAuto || req.Level == prompt.ThinkOn || k.noLevels:
		s.think = &api.ThinkValue{Value: true}
	default:
		s.think = &api.ThinkValue{Value: string(req.Level)}
	}
	return s
}

// learn records what a rejection says about the model, and reports whether the
// request is worth a retry. Each lesson removes a feature, so the retries are
// bounded.
func (k *known) learn(req prompt.Request, s requestForm, err error) bool {
	words := strings.ToLower(serverMessage(err))
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case s.tools && len(req.Tools) > 0 && strings.Contains(words, "does not support tools"):
		k.noTools = true
	case s.think != nil && refusesThinking(words):
		if _, level := s.think.Value.(string); level && strings.Contains(words, "think value") {
			k.noLevels = true
		} else {
			k.noThink = true
		}
	case strings.HasPrefix(string(s.format), "{") && refusesFormat(words):
		if k.noFormat == nil {
			k.noFormat = make(map[string]bool)
		}
		k.noFormat[string(s.format)] = true
	default:
		return false
	}
	return true
}

// mayFormat reports whether another think setting may make the model keep to a
// format. It says so once; success lets it say so again.
func (k *known) mayFormat() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	may := !k.unformatted
	k.unformatted = true
	return may
}

// remember stores the first description of a model. Of concurrent calls the first
// wins.
func (c *Client) remember(info prompt.ModelInfo, shown *api.ShowResponse) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := tagged(info.Name)
	if c.known[key] == nil {
		c.known[key] = &known{
			info: info, fixed: c.window > 0 || modelfileWindow(shown) > 0, tokenBytes: tokenBytes(shown),
			noTools: toolless(shown), thinkToFormat: info.Thinks && slices.Contains(c.server.ThinkToFormat, key),
			writesCalls: slices.Contains(c.server.WritesCalls, key),
			pacing:      &pacing{pace: c.server.Paces[key], saved: c.server.Paces[key]},
		}
	}
	return c.known[key]
}

// recall returns what is known about a model, "" being the one that answers, or
// nil if the server has not been asked yet.
func (c *Client) recall(name string) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == "" {
		name = c.chosen
	}
	return c.known[tagged(name)]
}

// tagged returns the key of a model in Client.known. Servers ignore case.
func tagged(name string) string { return prompt.TaggedName(strings.ToLower(name)) }

// refusesThinking reports whether an error message, in lower case, rejects a
// think setting. A model may have the word in its name.
func refusesThinking(words string) bool {
	return strings.Contains(words, "does not support thinking") || strings.Contains(words, "think value")
}

// refusesFormat reports whether an error message, in lower case, rejects a
// schema.
func refusesFormat(words string) bool {
	return strings.Contains(words, "json schema") || strings.Contains(words, "json_schema") ||
		strings.Contains(words, "grammar") || strings.Contains(words, "required for format")
}

// missingModel reports whether a 404 is about the model and not the path.
func missingModel(err error) bool {
	code, words := status(err)
	return code == http.StatusNotFound && strings.Contains(words, "model")
}
