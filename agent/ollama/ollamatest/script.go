package ollamatest

import (
	"encoding/json"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/ollama/ollama/api"

	"replan/planning/prompt"
)

// Script describes a server: its models and their replies.
type Script struct {
	Model         string        // name of the model; "": none is installed
	ContextLength int           // tokens, the model's own limit; 0 means 32768
	Capabilities  []string      // completion, tools, thinking, vision; nil means completion and tools
	Others        []Model       // further installed models; they share the replies
	Replies       []Reply       // the first matching reply that is not used up is sent
	Pace          time.Duration // delay between chunks; 0 sends them at once
	ChunkSize     int           // runes in a chunk; 0 means one word
	Pulls         []Pull        // what may be pulled; anything else is missing in the registry
	Version       string        // of Ollama, as reported; "" means [Version]
	Cache         *Cache        // cost of reading and writing; nil: none, and Pace and ChunkSize apply
	Recording     *Recording    // a real model, installed too; its replies are the recorded ones
	Loose         bool          // it also replies to requests like the recorded ones, see [Recording]; those without a reply get one of Replies
	Speedup       float64       // how many times faster than the real model it replies; 0 at once
}

// Model is one installed model.
type Model struct {
	Name          string   `json:"name,omitempty"`           // without a tag, :latest is assumed
	ContextLength int      `json:"context_length,omitempty"` // tokens; 0 means 32768
	Capabilities  []string `json:"capabilities,omitempty"`   // nil means completion and tools
	NumCtx        int      `json:"num_ctx,omitempty"`        // PARAMETER num_ctx of its Modelfile; 0: none
	Digest        string   `json:"digest,omitempty"`         // as listed; "" if the server does not say
	Bytes         int64    `json:"bytes,omitempty"`          // on disk, and in memory without a context
	TokenBytes    int64    `json:"token_bytes,omitempty"`    // memory for a token of context, a multiple of 4; 0: not described
	MostBytes     int64    `json:"most_bytes,omitempty"`     // memory there is for it; a larger context fails to load; 0: any amount
	CPU           bool     `json:"cpu,omitempty"`            // it lies outside the memory of GPUs
	Parameters    string   `json:"parameters,omitempty"`     // "8.2B"
	Quantization  string   `json:"quantization,omitempty"`   // "Q4_K_M"
	SameAge       bool     `json:"same_age,omitempty"`       // it was changed together with the model before it, else earlier
	Basename      string   `json:"basename,omitempty"`       // of its weights, whose size label is Parameters: "Qwen3"; "" if its file does not say
}

// Pull is a model that can be pulled. Every pull of its name has the same course;
// one that does not fail installs the model.
type Pull struct {
	Model  Model
	Steps  []PullStep      // sent in order, before the final success
	Hold   <-chan struct{} // delays the end, after the steps, until it is closed
	Status int             // an HTTP error with Error as its message, instead of the steps
	Error  string          // with Status 0: a line {"error":…} that replaces the success
	Cut    bool            // the stream ends without a success
}

// PullStep is one report of a pull's progress.
type PullStep struct {
	Status    string `json:"status"`
	Digest    string `json:"digest,omitempty"` // of the part that is downloaded
	Total     int64  `json:"total,omitempty"`  // bytes of that part
	Completed int64  `json:"completed,omitempty"`
}

// Reply is a reply of the model, sent once or as often as Times allows.
//
// It matches a request if When holds (nil: any request), and Purpose and Step match.
// A reply with neither When nor Purpose matches only requests with the purpose chat.
type Reply struct {
	When    func(Request) bool
	Purpose string // as in [Request]; "step" matches all work on a step: step, args and agent
	Step    string // as in [Request]; "" means any step, or none
	Times   int    // how often it may be sent; 0 means once, -1 always

	Text       string
	TextFor    func(Request) string // computes the text from the request; overrides Text
	Thinking   string               // sent first if the model thinks and the request allows it
	Calls      []Call               // sent last, one per line; a request without tools then gets an error
	DoneReason string               // "" means stop

	Hold <-chan struct{} // delays the answer until it is closed

	Status   int    // an HTTP error with Error as its message
	Error    string // with Status 0: a line {"error":…} that replaces the end of the reply
	CutAfter int    // breaks the connection after that many bytes of text; 0 never, -1 before the first
	EndAfter int    // ends the stream cleanly but without done after that many bytes of text; 0 never, -1 before the first

	Pieces []string // of a text that comes in these, and then ends without done; overrides Text

	Took api.Metrics // tokens and times to report; zero: those of the server

	// The same in bytes of the response body on the wire. So a break may fall inside a
	// line: of thinking, of a call, of the final counts.
	BreakAfter int
	StopAfter  int
}

// Call is a tool call that the model makes.
type Call struct {
	ID   string         `json:"id,omitempty"` // "" lets the server generate one
	Name string         `json:"name"`
	Args map[string]any `json:"args"` // any JSON values
}

// Request is a chat request as received.
type Request struct {
	Purpose string `json:"-"` // by [prompt.PurposeHeader]: analysis, review, plan and so on; chat without the header
	Step    string `json:"-"` // by the same header; "" for none

	Model     string          `json:"model"`
	Messages  []Message       `json:"messages"`
	Format    json.RawMessage `json:"format"`
	Think     any             `json:"think"` // nil, a bool or a string
	Tools     json.RawMessage `json:"tools"`
	Options   map[string]any  `json:"options"` // numbers are float64
	Stream    *bool           `json:"stream"`
	Truncate  *bool           `json:"truncate"`
	Shift     *bool           `json:"shift"`
	KeepAlive any             `json:"keep_alive"`
	Raw       json.RawMessage `json:"-"` // the whole body
}

// Message is one turn of a request.
type Message struct {
	Role       string     `json:"role"`
	Content    string     `json:"content"`
	ToolCalls  []ToolCall `json:"tool_calls"`
	ToolName   string     `json:"tool_name"`
	ToolCallID string     `json:"tool_call_id"`
	Images     [][]byte   `json:"images"` // decoded
}

// ToolCall is a call in an earlier turn of a request.
type ToolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// ToolNames returns the names of the offered tools in order.
func (r Request) ToolNames() []string {
	var tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	// The chat handler has already rejected anything but a list of tools.
	_ = json.Unmarshal(r.Tools, &tools)
	var names []string
	for _, t := range tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// Last returns the content of the last message, "" if there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// purposeOf reads what a request is for from its header.
func purposeOf(h http.Header) (purpose, step string) {
	purpose, values, err := mime.ParseMediaType(h.Get(prompt.PurposeHeader))
	if err != nil {
		return "chat", ""
	}
	return purpose, values["step"]
}

// label names what the request is for in errors, such as "step 2".
func (r Request) label() string { return strings.TrimSpace(r.Purpose + " " + r.Step) }

// IsFor reports whether a request matches a purpose and a step as in [Reply].
func (r Request) IsFor(purpose, step string) bool {
	onStep := purpose == "step" && (r.Purpose == "args" || r.Purpose == "agent")
	return (r.Purpose == purpose || onStep) && (step == "" || r.Step == step)
}

// NumCtx returns the requested context window in tokens, 0 if unset.
func (r Request) NumCtx() int { return r.number("num_ctx") }

// NumPredict returns the limit on the reply in tokens, 0 if unset.
func (r Request) NumPredict() int { return r.number("num_predict") }

func (r Request) number(option string) int {
	n, _ := r.Options[option].(float64)
	return int(n)
}

// asksNothing reports whether a request only has its messages read ahead: it leaves no room
// for a reply.
func (r Request) asksNothing() bool { return len(r.Messages) > 0 && r.NumPredict() == 1 }

// imageTokens is what a picture costs.
const imageTokens = 768

// estimatedTokens returns the reported cost of the prompt.
func (r Request) estimatedTokens() int {
	bytes := 0
	if r.offersTools() {
		bytes = len(r.Tools)
	}
	for _, m := range r.Messages {
		bytes += len(m.Content) + imageTokens*4*len(m.Images)
		for _, call := range m.ToolCalls {
			bytes += len(call.Function.Name) + len(call.Function.Arguments)
		}
	}
	return (bytes + 3) / 4
}

// shows reports whether the request has pictures.
func (r Request) shows() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

func (r Request) offersTools() bool {
	return len(r.Tools) > 0 && string(r.Tools) != "null" && string(r.Tools) != "[]"
}

// fits reports whether the reply matches the request.
func (r Reply) fits(req Request) bool {
	purpose := r.Purpose
	if purpose == "" && r.When == nil {
		purpose = "chat"
	}
	if purpose == "" {
		purpose = req.Purpose
	}
	return req.IsFor(purpose, r.Step) && (r.When == nil || r.When(req))
}

// text returns the text of the reply to the request.
func (r Reply) text(req Request) string {
	if r.TextFor != nil {
		return r.TextFor(req)
	}
	return r.Text
}

// tokens splits text into pieces of at least size bytes, on rune boundaries.
func tokens(text string, size int) []string {
	var out []string
	begin := 0
	for i := range text {
		if i-begin >= size {
			out = append(out, text[begin:i])
			begin = i
		}
	}
	if begin < len(text) {
		out = append(out, text[begin:])
	}
	return out
}

// chunks splits text into pieces of size runes. If size is 0, each piece is a word
// with the blanks after it.
func chunks(text string, size int) []string {
	var out []string
	var piece strings.Builder
	runes, blank := 0, false
	flush := func() {
		if piece.Len() > 0 {
			out = append(out, piece.String())
			piece.Reset()
			runes = 0
		}
	}
	for _, r := range text {
		space := r == ' ' || r == '\n' || r == '\t'
		if size > 0 && runes == size || size <= 0 && blank && !space {
			flush()
		}
		piece.WriteRune(r)
		runes++
		blank = space
	}
	flush()
	return out
}
