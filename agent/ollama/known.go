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

// newKnown returns what is known of a model: from its description, and from earlier requests
// to its server. chosen says that the user has set the context window.
func newKnown(info prompt.ModelInfo, shown *api.ShowResponse, chosen bool, server serverFacts) *known {
	key := tagged(info.Name)
	return &known{
		info: info, fixed: chosen || modelfileWindow(shown) > 0, tokenBytes: tokenBytes(shown),
		noTools: toolless(shown), thinkToFormat: info.Thinks && slices.Contains(server.ThinkToFormat, key),
		writesCalls: slices.Contains(server.WritesCalls, key),
		pacing:      &pacing{pace: server.Paces[key], saved: server.Paces[key]},
	}
}

// described returns the description of the model.
func (k *known) described() prompt.ModelInfo { return k.info }

// hasFixedWindow reports whether the user or the Modelfile set the context window.
func (k *known) hasFixedWindow() bool { return k.fixed }

// paced returns the pace of the model.
func (k *known) paced() *pacing { return k.pacing }

// writes reports whether the model's calls do not arrive as calls.
func (k *known) writes() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.writesCalls
}

// learnToWrite notes that its calls do not arrive as calls. It reports whether that is new.
func (k *known) learnToWrite() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	before := k.writesCalls
	k.writesCalls = true
	return !before
}

// ignoresFormat reports whether the model keeps to a format only if it thinks first.
func (k *known) ignoresFormat() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.thinkToFormat
}

// preferThinking notes whether it keeps to a format only if it thinks first.
func (k *known) preferThinking(think bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.thinkToFormat, k.unformatted = think, false
}

// larger returns the same with another context window.
func (k *known) larger(window int) *known {
	k.mu.Lock()
	defer k.mu.Unlock()
	larger := &known{
		info: k.info, fixed: k.fixed, tokenBytes: k.tokenBytes,
		noTools: k.noTools, noLevels: k.noLevels, noThink: k.noThink, noFormat: k.noFormat,
		thinkToFormat: k.thinkToFormat, unformatted: k.unformatted, pacing: k.pacing,
	}
	larger.info.ContextWindow = window
	return larger
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
