package ollama

import (
	"encoding/json"
	"net/http"
	"strings"
	"sync"

	"replan/planning/prompt"

	"github.com/ollama/ollama/api"
)

// known is what a client has found out about one model. The description never
// changes, so that every request names the same context window; the rest grows
// with what the server turns away.
type known struct {
	info prompt.ModelInfo

	mu            sync.Mutex
	noTools       bool            // requests with tools are turned away
	noLevels      bool            // it thinks or does not, and knows no levels between
	noThink       bool            // requests with a think setting are turned away
	thinkToFormat bool            // formatted replies have come out empty without thinking
	noFormat      map[string]bool // the schemas that the server makes no grammar of
}

// setting is how a request is put: with all that the model is known to bear.
type setting struct {
	think  *api.ThinkValue
	tools  bool
	format json.RawMessage
}

func (k *known) setting(req prompt.Request) setting {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := setting{tools: !k.noTools, format: req.Format}
	if k.noFormat[string(req.Format)] {
		s.format = json.RawMessage(`"json"`)
	}
	switch {
	case !k.info.Thinks || k.noThink:
	case len(req.Format) > 0: // it would bind only after the thinking
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

// learn keeps what a refusal says about the model, and reports whether the same
// request is worth another try: each lesson takes something away from it, so
// that the tries come to an end.
func (k *known) learn(req prompt.Request, s setting, err error) bool {
	words := strings.ToLower(said(err))
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

func (k *known) preferThinking(think bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.thinkToFormat = think
}

// remember keeps what is first said of a model. Where two have asked at once
// the first answer stands.
func (c *Client) remember(info prompt.ModelInfo, toolless bool) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	key := tagged(info.Name)
	if c.known[key] == nil {
		c.known[key] = &known{info: info, noTools: toolless}
	}
	return c.known[key]
}

// recall returns what is known of a model, and for "" of the one that answers;
// nil where the server has not been asked yet.
func (c *Client) recall(name string) *known {
	c.mu.Lock()
	defer c.mu.Unlock()
	if name == "" {
		name = c.chosen
	}
	return c.known[tagged(name)]
}

// tagged is the name by which what is known of a model is kept: servers tell no
// capitals apart.
func tagged(name string) string { return prompt.TaggedName(strings.ToLower(name)) }

// refusesThinking says whether the server's words, in lower case, turn a think
// setting away. A model may have the word in its name.
func refusesThinking(words string) bool {
	return strings.Contains(words, "does not support thinking") || strings.Contains(words, "think value")
}

// refusesFormat says whether the server's words, in lower case, turn a schema
// away.
func refusesFormat(words string) bool {
	return strings.Contains(words, "json schema") || strings.Contains(words, "json_schema") ||
		strings.Contains(words, "grammar") || strings.Contains(words, "required for format")
}

// missingModel says whether a 404 is about the model and not about the path.
func missingModel(err error) bool {
	code, words := status(err)
	return code == http.StatusNotFound && strings.Contains(words, "model")
}
