package plan

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"replan/internal/jsonsize"
	"replan/internal/untrusted"
)

// ToolCall is one call of a tool, with everything it needs.
type ToolCall struct {
	Tool   Tool
	Args   map[string]any    // as resolved, no references
	Hashes map[string]string // path → SHA-256 (hex) approved with the call; nil means unchecked
	// Command is the process approved with the call; nil means unchecked.
	Command *Command
	Run     string // the caller; "" for none
	// Timeout is the caller's time limit, which takes precedence over that of the
	// tool's server; 0 means the server's.
	Timeout time.Duration
	// Diff is the preview the call was approved with; "" means no preview was
	// shown. Another call of the same run may have changed a file since, if the
	// diff is still the same.
	Diff string
	// Hold makes a built-in tool refuse a call that removes most of a file unseen:
	// see [ToolError.Removes].
	Hold bool
	// Paths says what rules judged in place of the written paths of the call, which lead
	// there through links; see [ToolError.Paths]. nil means that no rule is about a path.
	Paths map[string]string
	// Contents makes a preview return the texts of the file that the call changes.
	Contents bool
	// Process receives each process group of the call: its leading process, and
	// the start time of that process as the system reports it. It may be nil, and
	// may be called until the call has returned.
	Process func(pid int, start string)
	// Output takes output of the tool as it comes; nil if nothing listens.
	// It is called from one goroutine, never after the call has returned.
	Output func(chunk string)
	// Progress receives the tool's progress; a total of 0 means unknown. It may be
	// nil, and is called as Output is.
	Progress func(done, total float64, message string)
	// SaveAttachment stores content of the result that is no text, of a media type, and
	// returns the file. It may be nil; then such content stays in the value, in
	// base64. It is called as Output is. Equal content is kept once.
	SaveAttachment func(content []byte, mediaType string) (Attachment, error)
	// Beside receives the text of the result that its structured content, which is
	// the value, does not hold. It may be nil, and is called as Output is.
	Beside func(text string)
	// Elicit asks the user a question of the server and waits for the answer, or for
	// ctx to end. It may be nil; then no one can answer. It may be called from several
	// goroutines at once.
	Elicit func(ctx context.Context, question Elicitation) ElicitationAnswer
}

// Elicitation is a question that a server asks the user in the middle of a call
// (MCP 2025-11-25 and 2026-07-28, elicitation). It has the schema of a form, or a
// page to open.
type Elicitation struct {
	Server  string          `json:"server"`
	Message untrusted.Text  `json:"message"`
	Schema  json.RawMessage `json:"schema,omitempty"` // JSON schema of a flat object, see package form
	URL     string          `json:"url,omitempty"`    // absolute, of http or https
}

// ElicitationAction is what the user did about a question.
type ElicitationAction string

// The actions. They are those of the protocol.
const (
	ElicitationAccept  ElicitationAction = "accept"  // answered it, or opened the page
	ElicitationDecline ElicitationAction = "decline" // said no
	ElicitationCancel  ElicitationAction = "cancel"  // left it open
)

// ElicitationAnswer is the user's answer to a question of a server.
type ElicitationAnswer struct {
	Action  ElicitationAction
	Content map[string]any // by field, of an accepted form
}

// Attachment is content of a result that is no text, kept as a file.
type Attachment struct {
	File   string `json:"file"`   // absolute path
	Type   string `json:"type"`   // media type
	Bytes  int    `json:"bytes"`  // size
	SHA256 string `json:"sha256"` // of the content, in hexadecimal digits
}

// Value returns the attachment in the form that the value of a step has.
func (a Attachment) Value() map[string]any {
	return map[string]any{"file": a.File, "type": a.Type, "bytes": json.Number(strconv.Itoa(a.Bytes)), "sha256": a.SHA256}
}

// FilesOf reads the value of a step whose result was text and files, and no
// structured content: {"text": …, "files": […]}. It returns false for any other.
func FilesOf(value any) (text string, files []Attachment, ok bool) {
	object, _ := value.(map[string]any)
	text, hasText := object["text"].(string)
	list, hasFiles := object["files"].([]any)
	if !hasText || !hasFiles || len(object) != 2 {
		return "", nil, false
	}
	for _, item := range list {
		file, _ := item.(map[string]any)
		var a Attachment
		a.File, _ = file["file"].(string)
		a.Type, _ = file["type"].(string)
		a.SHA256, _ = file["sha256"].(string)
		size, _ := file["bytes"].(json.Number)
		bytes, err := strconv.Atoi(string(size))
		if a.Bytes = bytes; a.Type == "" || a.SHA256 == "" || err != nil {
			return "", nil, false
		}
		files = append(files, a)
	}
	return text, files, true
}

// PathArgs are the arguments of the workspace's operators that name a file or folder.
var PathArgs = []string{"path", "from", "to", "dir"}

// Beside is what a tool sent beside the value of its step.
type Beside struct {
	Text        untrusted.Text `json:"text,omitempty"`        // that the structured content, which is the value, does not hold
	Attachments []Attachment   `json:"attachments,omitempty"` // content that is no text, also that which the value names
}

// ToolPreview is the effect of a call before it is made.
type ToolPreview struct {
	Diff    string            // unified diff of the files it would change
	Hashes  map[string]string // path → SHA-256 (hex) of the contents the diff was made against
	Nothing bool              // it would change nothing at all, and only say so
	Removes string            // "removes 180 of 214 lines of a.go" where most of a file goes
	Command *Command          // process that it would start; nil for none
	File    *FileChange       // if the preview asked for contents, and the call changes one text file alone
}

// FileChange is a text file before and after a call.
type FileChange struct {
	Path   string `json:"path"`   // relative to the workspace
	Hash   string `json:"hash"`   // SHA-256 (hex) of it now; "" if it does not exist
	Before string `json:"before"` // its text now
	After  string `json:"after"`
}

// Command is a process that a call would start.
type Command struct {
	Argv []string `json:"argv"`
	Dir  string   `json:"dir,omitempty"` // where it runs, relative to the workspace; "" is the workspace
}

// ToolError is a failure reported by the tool itself: the call ended without doing
// its work. After any other error of a call its effects are unknown.
type ToolError struct {
	Tool    string
	Message string
	Result  any // the tool's own result, may be nil
	// NotCalled means that the tool was never asked, for example because its server is
	// not there: the message says nothing about what it works on.
	NotCalled bool
	// Outdated says why the approved change no longer is the change of the call,
	// if the call was refused for it.
	Outdated string
	// Paths is where paths of the call lead through links, by argument, if the call was
	// refused because no rule had judged that. Outdated says so.
	Paths map[string]string
	// Removes names the contents the call would remove, in the words of
	// [ToolPreview.Removes], if it was refused for them.
	Removes string
}

func (e *ToolError) Error() string { return e.Message }

// TimeoutError reports that a time limit ended a call.
type TimeoutError struct {
	Message string // which limit
	OfCall  bool   // the limit is [ToolCall.Timeout]
	// Meanwhile says what the server wrote during the call that is no message. It is
	// empty if there was nothing.
	Meanwhile string
}

func (e *TimeoutError) Error() string {
	if e.Meanwhile == "" {
		return e.Message
	}
	return e.Message + "; " + e.Meanwhile
}

// Unwrap returns [context.DeadlineExceeded].
func (e *TimeoutError) Unwrap() error { return context.DeadlineExceeded }

// ServerStatus is the health of one tool server.
type ServerStatus struct {
	Name  string         `json:"name"`
	State ServerState    `json:"state"`
	Tools int            `json:"tools,omitempty"` // on offer
	Error untrusted.Text `json:"error,omitempty"` // what keeps it from being ready, one sentence
	Note  untrusted.Text `json:"note,omitempty"`  // what else the user should know: that it changed its tools, or why it is stopped

	NeedsLogin bool `json:"needs_login,omitempty"` // the user must log in first; if it is ready, for some of its tools

	// Instructions are how the server wants to be used, in its own words, on one line.
	Instructions untrusted.Text `json:"instructions,omitempty"`
	// TaskTools names its tools that run only as tasks, which replan does not know.
	TaskTools untrusted.Text `json:"task_tools,omitempty"`

	Source    string         `json:"source,omitempty"`     // who configured it: built-in, command line, user configuration or project
	Transport string         `json:"transport,omitempty"`  // built-in, stdio or http
	Command   []string       `json:"command,omitempty"`    // its program and arguments, as its file writes them
	URL       string         `json:"url,omitempty"`        // as its file writes it
	StartMS   int64          `json:"start_ms,omitempty"`   // from its start until it had listed its tools
	Changes   int            `json:"changes,omitempty"`    // texts that it has changed and the user has not accepted
	Allowed   bool           `json:"allowed,omitempty"`    // one of the project's own, which the user has allowed
	Declined  bool           `json:"declined,omitempty"`   // the user said no to it; a restart asks again
	LastError untrusted.Text `json:"last_error,omitempty"` // the last error, also after the server is ready again
	Doing     untrusted.Text `json:"doing,omitempty"`      // the last line it wrote to standard error, while it starts
	Log       string         `json:"log,omitempty"`        // the file with its log messages and its standard error
	Protocol  string         `json:"protocol,omitempty"`   // the version that was agreed upon: a date
	Disabled  DisabledBy     `json:"disabled,omitempty"`   // why the user does not want it
	BadEntry  bool           `json:"bad_entry,omitempty"`  // Error is about its configuration, with which it cannot start

	// Its calls since the program started.
	Calls    int   `json:"calls,omitempty"`
	Failures int   `json:"failures,omitempty"`
	LastMS   int64 `json:"last_ms,omitempty"`   // of the newest call
	MedianMS int64 `json:"median_ms,omitempty"` // of the newest hundred calls

	StartLimit time.Duration `json:"-"` // how long it may take to start
}

// MaxServerWait is how long a plan waits for servers to start. It is longer than their
// default start limits.
const MaxServerWait = 2 * time.Minute

// ServerWait returns how long to wait until the servers with these names have started, all
// of them for nil. That is usual, or longer if one of them may take longer to start.
func ServerWait(usual time.Duration, all []ServerStatus, names []string) time.Duration {
	for _, s := range all {
		if names == nil || slices.Contains(names, s.Name) {
			usual = max(usual, s.StartLimit+time.Second) // so that its own limit ends the start first
		}
	}
	return usual
}

// DisabledBy says for how long a server is disabled; "" is not at all.
type DisabledBy string

// How long a server can be disabled.
const (
	DisabledForNow  DisabledBy = "session" // until the program ends
	DisabledForGood DisabledBy = "file"    // by a file
)

// ServerState says where a tool server stands.
type ServerState string

// Where a tool server can stand.
const (
	ServerWaiting  ServerState = "waiting" // for the user's yes
	ServerStarting ServerState = "starting"
	ServerReady    ServerState = "ready"
	ServerFailed   ServerState = "failed"
	ServerStopped  ServerState = "stopped"
)

// ServerChange is a text of a tool server that is not the one that the user accepted.
type ServerChange struct {
	Server string
	Tool   string         // bare name; empty for the server's instructions
	Pin    string         // SHA-256 (hex) of the present text
	Diff   untrusted.Text // unified, from the accepted text to the present one
}

// TooLong reports whether the change is accepted on the command line alone, since no
// question shows all of it.
func (c ServerChange) TooLong() bool { return len(c.Diff) > MaxChange }

// Name is what has changed: server:tool, or the server whose instructions have.
func (c ServerChange) Name() string {
	if c.Tool == "" {
		return c.Server
	}
	return c.Server + ":" + c.Tool
}

// PendingServer is a server of the project's own configuration that needs a yes
// before its first start. Its fields are as in the file: values of environment
// variables are not filled in.
type PendingServer struct {
	Name    string
	Command []string          // the program and its arguments, for stdio
	Dir     string            // where it would be started; "" is the workspace
	Env     map[string]string // its environment
	Inherit []string          // variables that it gets from the user's environment
	URL     string            // for HTTP
	Headers map[string]string // sent with each request

	HeadersHelper string            // a shell command that prints more headers
	OAuth         map[string]string // sent at a login
	SSE           bool              // the older transport of the same URL
	NoRoots       bool              // it does not learn the workspace

	// Question and Why are the text of the question about a program of this machine.
	// They are empty for a server that the project names.
	Question, Why string
}

// Equal reports whether both are the same in everything that a question shows.
func (p PendingServer) Equal(o PendingServer) bool {
	return p.Name == o.Name && p.Question == o.Question && p.Why == o.Why && EqualValues(p.Whole(), o.Whole())
}

// Whole is everything an approval would allow, as a JSON object of the fields in
// use, so that nothing can hide in its form.
func (p PendingServer) Whole() map[string]any {
	whole := map[string]any{}
	for name, list := range map[string][]string{"command": p.Command, "inherit": p.Inherit} {
		if len(list) == 0 {
			continue
		}
		words := make([]any, len(list))
		for i, word := range list {
			words[i] = word
		}
		whole[name] = words
	}
	for name, text := range map[string]string{"dir": p.Dir, "url": p.URL, "headers_helper": p.HeadersHelper} {
		if text != "" {
			whole[name] = text
		}
	}
	for name, table := range map[string]map[string]string{"env": p.Env, "headers": p.Headers, "oauth": p.OAuth} {
		if len(table) == 0 {
			continue
		}
		object := map[string]any{}
		for key, value := range table {
			object[key] = value
		}
		whole[name] = object
	}
	if p.SSE {
		whole["type"] = "sse"
	}
	if p.NoRoots {
		whole["roots"] = false
	}
	return whole
}

// HistoryItem is one ended attempt of a step, as the replanner, the
// synthesizer and the result of a run read it.
type HistoryItem struct {
	Index           string         `json:"index"`
	Parent          string         `json:"parent,omitempty"` // the agent step of this call, or ChatParent
	Title           untrusted.Text `json:"title"`
	Tool            string         `json:"tool"`
	Args            map[string]any `json:"args"` // as resolved
	ExpectedOutcome untrusted.Text `json:"expected_outcome"`
	Status          ItemStatus     `json:"status"`
	Attempt         int            `json:"attempt"`
	Result          any            `json:"result"` // JSON value, numbers as json.Number
	Beside
	Error untrusted.Text `json:"error"`
	MS    int64          `json:"ms"` // wall clock, milliseconds
}

// ItemStatus says how an attempt of a step ended.
type ItemStatus string

// How an attempt of a step can end.
const (
	ItemCompleted ItemStatus = "completed"
	ItemFailed    ItemStatus = "failed"
	ItemSkipped   ItemStatus = "skipped"
	ItemInDoubt   ItemStatus = "in_doubt" // started, and may or may not have taken effect
)

// DeniedAtGate is the error of a step whose gate the user denied.
const DeniedAtGate = "denied at the gate"

// MaxResolved is how many bytes a value may have with its references filled in. A
// plan of a few KB can name a large result thousands of times.
const MaxResolved = 16 << 20

// checkRoom fails if a value, with its references filled in, is too large. It builds
// nothing.
func checkRoom(v any, values map[string]any) error {
	left := room{MaxResolved, jsonsize.Most}
	left.take(v, values)
	switch {
	case left.bytes < 0:
		return fmt.Errorf("more than %d MB: pass a file", MaxResolved>>20)
	case left.values < 0:
		return fmt.Errorf("more than %d values: pass a file", jsonsize.Most)
	}
	return nil
}

// room is how much a value may still have.
type room struct{ bytes, values int }

func (r *room) over() bool { return r.bytes < 0 || r.values < 0 }

// take takes the room of a value with its references filled in, and stops when there is
// none left.
func (r *room) take(v any, values map[string]any) {
	r.values--
	switch v := v.(type) {
	case string:
		done := 0
		if values != nil { // a value is not expanded again
			for start, end := nextReference(v, 0); start < end && !r.over(); start, end = nextReference(v, end) {
				value, err := lookUp(readReference(v[start:end]), values)
				if err != nil {
					return // resolve says what is missing
				}
				r.bytes -= start - done
				done = end
				r.take(value, nil)
			}
		}
		r.bytes -= len(v) - done
	case []any:
		for i := 0; i < len(v) && !r.over(); i++ {
			r.bytes--
			r.take(v[i], values)
		}
	case map[string]any:
		for key, item := range v {
			if r.over() {
				break
			}
			r.bytes -= len(key) + 1
			r.values--
			r.take(item, values)
		}
	default:
		r.bytes--
	}
}
