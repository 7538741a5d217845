package session

import (
	"encoding/json"
	"strings"
	"time"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Models lists the models of the server and the available profiles.
type Models struct {
	Models   []prompt.ModelInfo `json:"models"`
	Model    string             `json:"model,omitempty"`   // the one in use
	Planner  string             `json:"planner,omitempty"` // plans in its place; "" if it plans itself
	Think    prompt.ThinkLevel  `json:"think,omitempty"`
	Profiles []ProfileChoice    `json:"profiles,omitempty"`
	Profile  string             `json:"profile,omitempty"` // the one in use
	Problem  untrusted.Text     `json:"problem,omitempty"` // why there are no models, one sentence on what to do
}

// ProfileChoice is a profile that the user can choose.
type ProfileChoice struct {
	Name        string         `json:"name"`
	Description untrusted.Text `json:"description,omitempty"`
}

// Servers lists the tool servers and the tools they offer.
type Servers struct {
	Servers []plan.ServerStatus `json:"servers"`
	Tools   []OfferedTool       `json:"tools"`
}

// OfferedTool is a tool in a list of tools.
type OfferedTool struct {
	Server      string         `json:"server"`
	Name        string         `json:"name"`
	Description untrusted.Text `json:"description,omitempty"` // untrusted text
	ReadOnly    bool           `json:"read_only,omitempty"`
	Destructive bool           `json:"destructive,omitempty"`
	Tokens      int            `json:"tokens,omitempty"`  // that it takes in a model's window where it is offered whole, by estimate
	Changed     bool           `json:"changed,omitempty"` // its server has changed it, so models do not see it until the user accepts that
	Verdict     rule.Verdict   `json:"verdict,omitempty"` // of the gate rules on its calls; "" if it depends on their arguments

	InputSchema json.RawMessage `json:"input_schema,omitempty"` // JSON Schema of its arguments
}

// ServerLog is the end of what a tool server has logged: what it wrote to standard
// error.
type ServerLog struct {
	Server  string           `json:"server"`
	Lines   []untrusted.Text `json:"lines"`             // oldest first; secrets are redacted
	At      int64            `json:"at"`                // the position of the end
	Problem untrusted.Text   `json:"problem,omitempty"` // why there is no log, one sentence
}

// Settings lists the settings in force and where each comes from.
type Settings struct {
	File     string    `json:"file"`              // the user's configuration
	Missing  bool      `json:"missing,omitempty"` // the file does not exist yet
	Settings []Setting `json:"settings"`
}

// Setting is one value that can be configured.
type Setting struct {
	Key     string   `json:"key"`               // in the configuration: section.name
	Value   string   `json:"value"`             // in force, as text; "" for none
	Source  string   `json:"source"`            // flag, environment, user file, this session or default
	Saved   *string  `json:"saved,omitempty"`   // what the user's file says now; nil if it does not name the key
	Literal string   `json:"literal,omitempty"` // the value in TOML; "" if it does not fit one line
	About   string   `json:"about,omitempty"`   // what it does, in a few words
	Choices []string `json:"choices,omitempty"` // the possible values, if they are few
}

// Conversation is an earlier session that can be continued.
type Conversation struct {
	Session   string         `json:"session"`
	Workspace string         `json:"workspace,omitempty"` // of its newest run
	First     untrusted.Text `json:"first"`               // the user's first message
	Last      untrusted.Text `json:"last,omitempty"`      // the user's last message
	Turns     int            `json:"turns"`               // messages of the user
	Runs      int            `json:"runs"`
	Changed   time.Time      `json:"changed"`
	Open      bool           `json:"open,omitempty"` // a process has it open
}

// Completing names a set of things that can be completed.
type Completing string

// The sets of things that can be completed.
const (
	CompleteMentions Completing = "mentions" // files and folders of the workspace, resources of servers
	CompleteFiles    Completing = "files"    // files and folders of the workspace alone
	CompleteCommands Completing = "commands" // lines that begin with a slash
	CompletePlans    Completing = "plans"    // ids of stored plans
	CompleteRuns     Completing = "runs"     // ids of runs
	CompleteModels   Completing = "models"
	CompleteProfiles Completing = "profiles"
)

// After returns the set for an argument that depends on the words before it, which
// [Completing.Words] returns.
func (c Completing) After(words []string) Completing {
	return Completing(strings.Join(append([]string{string(c)}, words...), "\x00"))
}

// Words returns the set without the words before, and these.
func (c Completing) Words() (of Completing, words []string) {
	all := strings.Split(string(c), "\x00")
	return Completing(all[0]), all[1:]
}

// Completion is one proposal for the text at the cursor.
type Completion struct {
	Text   string         `json:"text"`             // the text to insert: a name without its @, a command with all its words
	Detail untrusted.Text `json:"detail,omitempty"` // in a few words
	Folder bool           `json:"folder,omitempty"` // completion continues inside it
	Takes  []Completing   `json:"takes,omitempty"`  // what the first argument of a command may be
	Then   []Completing   `json:"then,omitempty"`   // what each argument after it may be, after the words before
	Usage  string         `json:"usage,omitempty"`  // the arguments of a command, such as ID|FILE
}

// Completions lists the proposals of one set.
type Completions struct {
	Of    Completing   `json:"of"`
	Items []Completion `json:"items,omitempty"`
	More  bool         `json:"more,omitempty"` // Items is not the whole set
}
