// Package ollamatest is a scripted model behind a real HTTP server that speaks
// Ollama's API, wire format and error shapes: what the demo runs on where no
// Ollama is installed, and what the tests talk to. It never looks at the
// words it sends; a script decides them by the heading of each request.
package ollamatest

import (
	"encoding/json"
	"regexp"
	"strings"
	"time"
)

// Script is everything a server knows: its model and what that model says.
type Script struct {
	Model         string        // the name of the model; "" means that none is installed
	ContextLength int           // tokens, the model's own limit; 0 means 32768
	Capabilities  []string      // completion, tools, thinking; nil means completion and tools
	Others        []Model       // more models that are installed; they share the replies
	Replies       []Reply       // the first that fits and is not used up serves
	Pace          time.Duration // between two chunks; 0 sends them at once
	ChunkSize     int           // runes in a chunk; 0 means one word
	Cache         *Cache        // what reading and writing cost; nil means nothing, and then Pace and ChunkSize hold
}

// Model is one installed model.
type Model struct {
	Name          string   // with or without a tag; without means :latest
	ContextLength int      // tokens; 0 means 32768
	Capabilities  []string // nil means completion and tools
	NumCtx        int      // PARAMETER num_ctx of its Modelfile; 0 means none
	Bytes         int64    // on disk
	Parameters    string   // "8.2B"
	Quantization  string   // "Q4_K_M"
}

// Reply is what the model says once, or as often as Times allows.
//
// It serves a request where When holds (nil: any request) and Heading fits.
// A reply with neither serves plain chat turns alone, which open with none of
// the headings.
type Reply struct {
	When    func(Request) bool
	Heading string // fits the first line of the last message up to the end of a word, as "# Phase 1" does
	Times   int    // how often it may serve; 0 means once, -1 always

	Text       string
	TextFor    func(Request) string // computes the text from the request; overrides Text
	Thinking   string               // sent first, where the model thinks and the request does not forbid it
	Calls      []Call               // sent last, a line each; a request without tools is answered with an error then
	DoneReason string               // "" means stop

	Hold <-chan struct{} // waits until it is closed before anything is answered

	Status   int    // an HTTP error with Error as its message
	Error    string // with Status 0: a line {"error":…} that follows the text in place of the end
	CutAfter int    // bytes of text after which the connection breaks; 0 never, -1 before the first
	EndAfter int    // bytes of text after which the stream ends in good order, yet without done; 0 never, -1 before the first

	// The same in bytes of the response's body as it goes over the wire, so that
	// a break may come in the middle of a line: of thinking, of a call, of the
	// counts at the end.
	BreakAfter int
	StopAfter  int
}

// Call is a call of a tool that the model asks for.
type Call struct {
	ID   string // "" means one that the server makes up
	Name string
	Args map[string]any // anything that JSON can hold
}

// Request is one chat request as it came in.
type Request struct {
	Model     string          `json:"model"`
	Messages  []Message       `json:"messages"`
	Format    json.RawMessage `json:"format"`
	Think     any             `json:"think"` // nil, a bool or a word
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
}

// ToolCall is a call that an earlier turn of a request holds.
type ToolCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// ToolNames are the names of the tools on offer, in their order.
func (r Request) ToolNames() []string {
	var tools []struct {
		Function struct {
			Name string `json:"name"`
		} `json:"function"`
	}
	// What is no list of tools, chat has turned away.
	_ = json.Unmarshal(r.Tools, &tools)
	var names []string
	for _, t := range tools {
		names = append(names, t.Function.Name)
	}
	return names
}

// Last is the content of the last message, "" where there is none.
func (r Request) Last() string {
	if len(r.Messages) == 0 {
		return ""
	}
	return r.Messages[len(r.Messages)-1].Content
}

// Heading is the first line of the last message.
func (r Request) Heading() string {
	line, _, _ := strings.Cut(r.Last(), "\n")
	return strings.TrimRight(line, "\r")
}

// NumCtx is the context window that the request asks for, in tokens; 0 where
// it asks for none.
func (r Request) NumCtx() int { return r.number("num_ctx") }

// NumPredict is the bound of the reply in tokens; 0 where there is none.
func (r Request) NumPredict() int { return r.number("num_predict") }

func (r Request) number(option string) int {
	n, _ := r.Options[option].(float64)
	return int(n)
}

// estimatedTokens is what the prompt is said to cost.
func (r Request) estimatedTokens() int {
	bytes := 0
	if r.offersTools() {
		bytes = len(r.Tools)
	}
	for _, m := range r.Messages {
		bytes += len(m.Content)
		for _, call := range m.ToolCalls {
			bytes += len(call.Function.Name) + len(call.Function.Arguments)
		}
	}
	return (bytes + 3) / 4
}

func (r Request) offersTools() bool {
	return len(r.Tools) > 0 && string(r.Tools) != "null" && string(r.Tools) != "[]"
}

// headings are the lines with which a request for anything but chat opens.
var headings = regexp.MustCompile(`^# (Phase [123]|Repair|Replan|Step|Synthesis|Compaction)\b`)

// fits says whether the reply may answer the request.
func (r Reply) fits(req Request) bool {
	heading := req.Heading()
	switch {
	case r.Heading != "":
		if !opensWith(heading, r.Heading) {
			return false
		}
	case r.When == nil:
		return !headings.MatchString(heading)
	}
	return r.When == nil || r.When(req)
}

// opensWith says whether line begins with prefix and a word ends there, so
// that "# Step 1" means neither "# Step 10" nor "# Step 1.2".
func opensWith(line, prefix string) bool {
	rest, ok := strings.CutPrefix(line, prefix)
	return ok && (rest == "" || strings.HasSuffix(prefix, " ") || strings.ContainsRune(" :\t", rune(rest[0])))
}

// text is what the reply says to the request.
func (r Reply) text(req Request) string {
	if r.TextFor != nil {
		return r.TextFor(req)
	}
	return r.Text
}

// tokens cuts text into pieces of at least so many bytes, each of whole runes.
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

// chunks cuts text into pieces of size runes, or into words with the blanks
// that follow them where size is 0.
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
