package prompt

import (
	"cmp"
	"encoding/json"
	"errors"
	"mime"
	"slices"
	"strings"
	"time"

	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/reply"
)

// Role is the speaker of a message in a conversation with a model.
type Role string

// The roles of a conversation.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool" // the result of a call that the model requested
)

// Message is one turn of a conversation with a model.
type Message struct {
	Role    Role            `json:"role"`
	Content string          `json:"content"`
	Calls   []reply.ToolUse `json:"tool_calls,omitempty"` // with RoleAssistant: calls that the model requested
	Tool    string          `json:"tool,omitempty"`       // with RoleTool: the tool that answers
	CallID  string          `json:"call_id,omitempty"`    // with RoleTool: the id of the call, if the model gave one

	// Images are pictures that the model sees with RoleUser, if it sees any.
	Images []plan.Attachment `json:"images,omitempty"`
}

// Purpose is the purpose of a request to a model, as events and journals name it.
type Purpose string

// The purposes of a request. No message names them; see [PurposeHeader].
const (
	PurposeAnalysis  Purpose = "analysis"
	PurposeReview    Purpose = "review"
	PurposeTools     Purpose = "tools" // which more tools a plan may need
	PurposePlan      Purpose = "plan"
	PurposeRepair    Purpose = "repair"
	PurposeReplan    Purpose = "replan"
	PurposeStep      Purpose = "step" // the text of a step, or with a format the arguments of its call
	PurposeSynthesis Purpose = "synthesis"
	PurposeAgent     Purpose = "agent" // a turn of the sub-agent that executes a step
	PurposeCompact   Purpose = "compact"
	PurposeChat      Purpose = "chat"
)

// PurposeHeader is the HTTP header that says what a request is for, with the value
// of [Request.Header]. A scripted model chooses its reply by it; a real one never
// sees it.
const PurposeHeader = "X-Replan-Purpose"

// Phases are the purposes of the three phases of planning, in order. Each is the
// label of its phase, too.
var Phases = [3]Purpose{PurposeAnalysis, PurposeReview, PurposePlan}

// Phase returns 1, 2 or 3 for the phases of planning and 0 for all else.
func (p Purpose) Phase() int { return slices.Index(Phases[:], p) + 1 }

// Request is one model call as a value; it has not been made yet.
type Request struct {
	Purpose   Purpose         `json:"purpose"`
	Step      string          `json:"step,omitempty"`       // the step it is for, with PurposeStep and PurposeAgent, and planning of a sub-agent
	Model     string          `json:"model,omitempty"`      // "" means the run's
	Messages  []Message       `json:"messages"`             // the stable part first
	Format    json.RawMessage `json:"format,omitempty"`     // JSON Schema of the reply; absent means prose
	Tools     plan.Offer      `json:"tools,omitempty"`      // the tools the model may call; empty for none
	Listed    plan.Offer      `json:"listed,omitempty"`     // in place of Tools: the messages list them, and a reply in Format calls one or is the answer
	Think     bool            `json:"think,omitempty"`      // the model may think aloud first, where it can; not with a Format
	Level     ThinkLevel      `json:"level,omitempty"`      // with Think: the effort; "" is the model's default
	MaxTokens int             `json:"max_tokens,omitempty"` // limit of the reply (num_predict); 0 means the model's default
	// Temperature is how freely the model chooses its words; 0 means the model's own.
	Temperature float64 `json:"temperature,omitempty"`

	Timeout   time.Duration `json:"timeout,omitempty"`   // ns, exact; 0 means that the limit follows the machine, see [pace.Forecast.Limits]
	Shortened string        `json:"shortened,omitempty"` // the parts left out to make it fit, one sentence
	Untyped   []string      `json:"untyped,omitempty"`   // tools that may fit, whose own schema is too large for the format or cannot be read
	Unoffered *Unoffered    `json:"unoffered,omitempty"` // nil if all tools are offered
	Partial   []string      `json:"partial,omitempty"`   // indices of the steps whose results it holds only in part
	Wanted    int           `json:"wanted,omitempty"`    // tokens that it would take with its reply if nothing was left out; 0 if nothing was
	TooLong   string        `json:"too_long,omitempty"`  // by estimate: what does not fit, up to "choose another model"; "" if it fits
	Never     bool          `json:"never,omitempty"`     // with TooLong: it cannot fit by any estimate, and is not sent

	// MaxThinking bounds the thoughts of the model before its first word, in
	// bytes; 0 means no bound. A model beyond it is stopped.
	MaxThinking int `json:"max_thinking,omitempty"`
}

// The temperatures of the requests to small models: their own, 0.8 with most servers, makes
// them lose the thread. What was refused is asked for again with more freedom, or they would
// write the same.
const (
	smallTemperature = 0.1
	againTemperature = 0.7
)

// Header returns the value of [PurposeHeader], such as "plan" or "agent; step=2". It is
// analysis, review, tools, plan, repair, replan, step, args, agent, answer, compaction or
// chat, with the step that it is for. It is "" for a request without a purpose.
func (r Request) Header() string {
	purpose := r.Purpose
	switch {
	case purpose == PurposeStep && len(r.Format) > 0:
		purpose = "args"
	case purpose == PurposeSynthesis:
		purpose = "answer"
	case purpose == PurposeCompact:
		purpose = "compaction"
	}
	if r.Step == "" {
		return string(purpose)
	}
	return mime.FormatMediaType(string(purpose), map[string]string{"step": r.Step})
}

// Unoffered lists the tools for which a request had no room.
type Unoffered struct {
	Tools   int      `json:"tools"`   // left out
	Of      int      `json:"of"`      // tools that the model may call
	Servers []string `json:"servers"` // of those left out, sorted
	Window  int      `json:"window"`  // in tokens
}

// ModelInfo describes a model.
type ModelInfo struct {
	Name          string         `json:"name"`
	ContextWindow int            `json:"context_window"`         // tokens a request is given room for
	Longest       int            `json:"longest,omitempty"`      // the model's own limit, in tokens; 0 if unknown
	Tools         bool           `json:"tools,omitempty"`        // it can call tools
	Thinks        bool           `json:"thinks,omitempty"`       // it can think aloud
	Vision        bool           `json:"vision,omitempty"`       // it sees pictures
	Chats         bool           `json:"chats,omitempty"`        // it can answer at all
	WritesCalls   bool           `json:"writes_calls,omitempty"` // its calls do not arrive as calls, see [Prompting]
	Digest        string         `json:"digest,omitempty"`       // identifies its content; "" if the server does not say
	Bytes         int64          `json:"bytes,omitempty"`        // on disk
	Parameters    untrusted.Text `json:"parameters,omitempty"`   // as reported by the server: "8.2B"
	Small         bool           `json:"small,omitempty"`        // it plans in short forms: by its fit, else if it has fewer than 4 billion parameters
	Loops         Loops          `json:"loops,omitempty"`        // see [Prompting]
	Weights       untrusted.Text `json:"weights,omitempty"`      // as its file names them: "Qwen2.5-Coder 1.5B Q4_K_M"; "" if it does not
	Fit           *fit.Finding   `json:"fit,omitempty"`          // what is known of how it plans; nil if nothing is
	Quantization  untrusted.Text `json:"quantization,omitempty"` // as reported by the server: "Q4_K_M"
	Loaded        bool           `json:"loaded,omitempty"`       // in memory now
	Remote        bool           `json:"remote,omitempty"`       // its server passes requests on to a service
	Growable      int            `json:"growable,omitempty"`     // tokens that ContextWindow may grow to by itself; 0 if it stays
	Defect        untrusted.Text `json:"defect,omitempty"`       // the defect that replan works around, a sentence

	// Speed and BytesPerToken were measured in earlier requests; 0 is unknown.
	Speed         pace.Speed `json:"speed,omitzero"`
	BytesPerToken float64    `json:"bytes_per_token,omitempty"`
}

// DrivenBy returns the settings of a run that the model drives. They say in which form it
// plans, whether it is offered loops, and what that rests on.
func (p Prompting) DrivenBy(info ModelInfo) Prompting {
	p.Small, p.Loops, p.Measured = info.Small, info.Loops, info.Fit.Record()
	if info.Fit != nil {
		p.Think = cmp.Or(p.Think, ThinkLevel(info.Fit.Settings.Think))
	}
	return p
}

// TaggedName returns the name of a model as listed by a server: with the tag
// latest if it has none.
func TaggedName(name string) string {
	if strings.Contains(name[strings.LastIndexByte(name, '/')+1:], ":") {
		return name
	}
	return name + ":latest"
}

// SameModel reports whether two names mean one model. Servers ignore case. An empty
// name means no model.
func SameModel[A, B ~string](a A, b B) bool {
	return a != "" && b != "" && strings.EqualFold(TaggedName(string(a)), TaggedName(string(b)))
}

// ErrNoModel reports that no model is available: the server does not answer, or
// has no suitable model. The error wrapping it gives the reason and the remedy in
// one sentence.
var ErrNoModel = errors.New("no model")

// ErrTooLong reports that a request does not fit into the model's context window.
// The model never saw it, and asking again does not help.
var ErrTooLong = errors.New("the prompt is too long")
