package prompt

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"replan/planning/plan"
	"replan/planning/reply"
)

// Role says who speaks in a conversation with a model.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the result of a call the model asked for
)

// Message is one turn of a conversation with a model.
type Message struct {
	Role    Role            `json:"role"`
	Content string          `json:"content"`
	Calls   []reply.ToolUse `json:"tool_calls,omitempty"` // with RoleAssistant: the calls the model asked for
	Tool    string          `json:"tool,omitempty"`       // with RoleTool: the tool that answers
	CallID  string          `json:"call_id,omitempty"`    // with RoleTool: the id of the call, where the model gave one
}

// Purpose is the purpose of a request to a model.
type Purpose string

// The purposes of a request. The last message of each but PurposeChat opens
// with a heading of its own, so that a scripted model can tell them apart.
const (
	PurposeAnalysis  Purpose = "analysis"  // # Phase 1: analysis
	PurposeReview    Purpose = "review"    // # Phase 2: review
	PurposePlan      Purpose = "plan"      // # Phase 3: execution plan
	PurposeRepair    Purpose = "repair"    // # Repair
	PurposeReplan    Purpose = "replan"    // # Replan
	PurposeStep      Purpose = "step"      // # Step INDEX
	PurposeSynthesis Purpose = "synthesis" // # Synthesis
	PurposeAgent     Purpose = "agent"     // # Step INDEX, too: a turn of the sub-agent that carries it out
	PurposeCompact   Purpose = "compact"   // # Compaction
	PurposeChat      Purpose = "chat"      // no heading
)

// Phases are the purposes of the three phases of planning, in order. Each is the
// label of its phase, too.
var Phases = [3]Purpose{PurposeAnalysis, PurposeReview, PurposePlan}

// Phase returns 1, 2 or 3 for the phases of planning and 0 for all else.
func (p Purpose) Phase() int { return slices.Index(Phases[:], p) + 1 }

// Request is one call of a model, as a value: nobody has called yet.
type Request struct {
	Purpose   Purpose         `json:"purpose"`
	Step      string          `json:"step,omitempty"`       // the step it is for, with PurposeStep and PurposeAgent, and planning of a sub-agent
	Model     string          `json:"model,omitempty"`      // "" means the run's
	Messages  []Message       `json:"messages"`             // the stable part first
	Format    json.RawMessage `json:"format,omitempty"`     // JSON Schema of the reply; absent means prose
	Tools     plan.Offer      `json:"tools,omitempty"`      // the tools the model may call; empty for none
	Think     bool            `json:"think,omitempty"`      // the model may think aloud first, where it can; not with a Format
	Level     ThinkLevel      `json:"level,omitempty"`      // how hard, with Think; "" is the model's own measure
	MaxTokens int             `json:"max_tokens,omitempty"` // bound of the reply (num_predict); 0 means the model's own
	Timeout   time.Duration   `json:"timeout,omitempty"`    // ns; 0 means none
	Shortened string          `json:"shortened,omitempty"`  // the parts left out to make it fit, one sentence
	Partial   []string        `json:"partial,omitempty"`    // indices of the steps whose results it does not hold whole

	// MaxThinking bounds the thoughts of the model before its first word, in
	// bytes; 0 means no bound. A model beyond it is stopped.
	MaxThinking int `json:"max_thinking,omitempty"`
}

// ModelInfo describes a model.
type ModelInfo struct {
	Name          string `json:"name"`
	ContextWindow int    `json:"context_window"`         // tokens a request is given room for
	Longest       int    `json:"longest,omitempty"`      // tokens, the model's own limit; 0 where it is unknown
	Tools         bool   `json:"tools,omitempty"`        // it can call tools
	Thinks        bool   `json:"thinks,omitempty"`       // it can think aloud
	Chats         bool   `json:"chats,omitempty"`        // it can answer at all
	Bytes         int64  `json:"bytes,omitempty"`        // on disk
	Parameters    string `json:"parameters,omitempty"`   // as the server says it: "8.2B"
	Quantization  string `json:"quantization,omitempty"` // as the server says it: "Q4_K_M"
	Loaded        bool   `json:"loaded,omitempty"`       // in memory now
}

// TaggedName is the name of a model in a server's list: with the tag latest if it
// has none.
func TaggedName(name string) string {
	if strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name
	}
	return name + ":latest"
}

// SameModel reports whether two names mean one model. Servers ignore case. An empty
// name means no model.
func SameModel(a, b string) bool {
	return a != "" && b != "" && strings.EqualFold(TaggedName(a), TaggedName(b))
}

// ErrNoModel says that no model is available: the server does not answer, or has
// no suitable model. The error wrapping it says the reason and the remedy in one
// sentence.
var ErrNoModel = errors.New("no model")
