package plan

// ToolCall is one call of a tool, with everything it needs.
type ToolCall struct {
	Tool   Tool
	Args   map[string]any    // as resolved, no references
	Hashes map[string]string // path → SHA-256 (hex) that the call was approved against; nil means unchecked
	Run    string            // that makes the call; "" is none
	// Diff is what the call was approved with; "" means that nothing was shown. A
	// file may have changed since by a call of the same run, where the diff is still
	// the same.
	Diff string
	// Hold has a built-in tool refuse what would remove most of a file, which
	// nobody has seen: see [ToolError.Removes].
	Hold bool
	// Process is told of each process group that works for the call: the process
	// that leads it, and when that was started as the system tells it; nil where
	// nobody listens. It may be called until the call has returned.
	Process func(pid int, start string)
	// Output takes output of the tool as it comes; nil where nobody listens.
	// It is called from one goroutine, never after the call has returned.
	Output func(chunk string)
	// Progress takes what the tool says of its progress, total 0 meaning
	// unknown; nil where nobody listens. Called as Output is.
	Progress func(done, total float64, message string)
}

// ToolPreview is what a call would do.
type ToolPreview struct {
	Diff    string            // unified diff of the files it would change
	Hashes  map[string]string // path → SHA-256 (hex) of what the diff was made against
	Removes string            // "removes 180 of 214 lines of a.go" where most of a file goes
}

// ToolError is a failure that the tool itself reported: the call ended, and
// the tool says that it did not do its work. Any other error of a call means
// that nobody knows what it did.
type ToolError struct {
	Tool    string
	Message string
	Result  any // what the tool sent along, may be nil
	// Outdated says why what was approved is no longer what the call would do,
	// where that is why it was refused.
	Outdated string
	// Removes says what the call would remove, in the words of
	// [ToolPreview.Removes], where that is why it was refused.
	Removes string
}

func (e *ToolError) Error() string { return e.Message }

// ServerStatus is the health of one tool server.
type ServerStatus struct {
	Name  string      `json:"name"`
	State ServerState `json:"state"`
	Tools int         `json:"tools,omitempty"` // on offer
	Error string      `json:"error,omitempty"` // why it is not ready, one sentence

	Source    string `json:"source,omitempty"`     // who configured it: built-in, command line, user configuration or project
	Transport string `json:"transport,omitempty"`  // built-in, stdio or http
	Reached   string `json:"reached,omitempty"`    // its command line or its url, as its file writes them
	StartMS   int64  `json:"start_ms,omitempty"`   // from its start until it had listed its tools
	LastError string `json:"last_error,omitempty"` // the last that went wrong, also where it is ready again
}

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

// PendingServer is a server of the project's own configuration that needs a
// yes before it is started for the first time, as its file writes it: values
// of environment variables are not put in.
type PendingServer struct {
	Name    string
	Command []string          // the program and its arguments, for stdio
	Dir     string            // where it would be started; "" is the workspace
	Env     map[string]string // what its environment would be given
	URL     string            // for HTTP
	Headers map[string]string // what would be sent with each request
}

// Whole is all that a yes would allow, as a JSON object of the fields that are
// set, so that nothing can hide in how it is written.
func (p PendingServer) Whole() map[string]any {
	whole := map[string]any{}
	if len(p.Command) > 0 {
		command := make([]any, len(p.Command))
		for i, word := range p.Command {
			command[i] = word
		}
		whole["command"] = command
	}
	for name, text := range map[string]string{"dir": p.Dir, "url": p.URL} {
		if text != "" {
			whole[name] = text
		}
	}
	for name, table := range map[string]map[string]string{"env": p.Env, "headers": p.Headers} {
		if len(table) == 0 {
			continue
		}
		object := map[string]any{}
		for key, value := range table {
			object[key] = value
		}
		whole[name] = object
	}
	return whole
}
