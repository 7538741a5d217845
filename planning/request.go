package planning

import (
	"encoding/json"
	"errors"
	"time"
)

// Role says who speaks in a conversation with a model.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Message is one turn of a conversation with a model.
type Message struct {
	Role    Role   `json:"role"`
	Content string `json:"content"`
}

// Purpose says what a model is asked for.
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
	PurposeChat      Purpose = "chat"      // no heading
)

// Phase returns 1, 2 or 3 for the phases of planning and 0 for all else.
func (p Purpose) Phase() int {
	switch p {
	case PurposeAnalysis:
		return 1
	case PurposeReview:
		return 2
	case PurposePlan:
		return 3
	default:
		return 0
	}
}

// Request is one call of a model, as a value: nobody has called yet.
type Request struct {
	Purpose   Purpose         `json:"purpose"`
	Step      string          `json:"step,omitempty"`       // the step it is for, with PurposeStep
	Messages  []Message       `json:"messages"`             // the stable part first
	Format    json.RawMessage `json:"format,omitempty"`     // JSON Schema of the reply; absent means prose
	Think     bool            `json:"think,omitempty"`      // the model may think aloud first, where it can
	MaxTokens int             `json:"max_tokens,omitempty"` // bound of the reply (num_predict); 0 means the model's own
	Timeout   time.Duration   `json:"timeout,omitempty"`    // ns; 0 means none
	Shortened string          `json:"shortened,omitempty"`  // what was left out to make it fit, one sentence
}

// Reply is what a model sent back, whole.
type Reply struct {
	Text             string `json:"text"`
	Thinking         string `json:"thinking,omitempty"`
	CutOff           bool   `json:"cut_off,omitempty"` // stopped by MaxTokens, in mid-sentence
	PromptTokens     int    `json:"prompt_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	ContextWindow    int    `json:"context_window,omitempty"` // tokens the model was given room for (num_ctx)
	MS               int64  `json:"ms"`                       // wall clock, milliseconds
}

// ModelInfo describes the model that answers.
type ModelInfo struct {
	Name          string
	ContextWindow int  // tokens a request is given room for
	Tools         bool // it can call tools
	Thinks        bool // it can think aloud
}

// ErrNoModel says that no model can be had: the server cannot be reached, or
// has no model that fits. The error that wraps it says in one sentence what is
// wrong and what to do.
var ErrNoModel = errors.New("no model")
