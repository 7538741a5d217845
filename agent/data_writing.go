package agent

// SessionReturned gives back what the user sent: it was not taken, or it was taken
// out of the queue. Passing.
type SessionReturned struct {
	Text   string `json:"text"`             // as it was typed
	Reason string `json:"reason,omitempty"` // why it was not taken, one sentence on what to do; "" where the user took it back
}

// SessionHistory is what the user has sent before, in other sessions too, oldest
// first. Passing.
type SessionHistory struct {
	Here      []string `json:"here,omitempty"`      // in this workspace
	Elsewhere []string `json:"elsewhere,omitempty"` // in other ones
}

// Completing says what is to be completed.
type Completing string

// What can be completed.
const (
	CompleteMentions Completing = "mentions" // files and folders of the workspace, resources of servers
	CompleteFiles    Completing = "files"    // the files and folders alone
	CompleteCommands Completing = "commands" // what a line may say that begins with a slash
	CompletePlans    Completing = "plans"    // the ids of plans that are kept
	CompleteRuns     Completing = "runs"     // the ids of runs
	CompleteModels   Completing = "models"
	CompleteProfiles Completing = "profiles"
)

// Completion is one thing that can stand where the user is typing.
type Completion struct {
	Text   string `json:"text"`             // what is to be typed: a name without its @, a command with all its words
	Detail string `json:"detail,omitempty"` // in a few words
	Folder bool   `json:"folder,omitempty"` // it goes on behind it
	// Takes is what the argument of a command may be, of what can be completed.
	Takes []Completing `json:"takes,omitempty"`
	Usage string       `json:"usage,omitempty"` // what stands behind a command, such as ID|FILE
}

// SessionCompletions is what can be completed of one kind. Passing.
type SessionCompletions struct {
	Of      Completing   `json:"of"`
	Items   []Completion `json:"items,omitempty"`
	More    bool         `json:"more,omitempty"`    // than are listed
	Problem string       `json:"problem,omitempty"` // why there are none, or not all
}

// QueuedJob is something that waits until the session gets to it.
type QueuedJob struct {
	ID   int    `json:"id"`             // by which it can be taken out
	Text string `json:"text,omitempty"` // as it was typed; "" where it was not
}

// Kind of each event's data.
func (SessionReturned) Kind() Kind    { return KindSessionReturned }
func (SessionHistory) Kind() Kind     { return KindSessionHistory }
func (SessionCompletions) Kind() Kind { return KindSessionCompletions }
