package session

import (
	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
)

// Command is a request of the screen or the command line to a session.
type Command interface{ command() }

// Submit sends the typed text. It is queued while a run is in progress. A
// line that begins with a slash is a command. Mentions by an @ are attached; if one
// cannot be read, the line comes back as Returned. A line that begins with a
// blank is not remembered.
type Submit struct{ Text string }

// Unqueue removes a waiting job from the queue. With Back it is returned as
// Returned.
type Unqueue struct {
	ID   int // see QueuedJob
	Back bool
}

// Create has a goal planned and stores the plan instead of running it. With Run
// the plan is not stored but runs at once, and no answer is written at the end.
type Create struct {
	Goal string
	Run  bool
}

// Execute runs a plan as it is. It is queued while a run is in progress.
type Execute struct {
	Plan       plan.Plan
	OnFailure  plan.OnFailure // default for steps if the plan has none; "" is abort
	Synthesize bool           // write an answer at the end
	Strict     bool           // do not fit args to the schemas of tools
}

// Resume resumes an interrupted or failed run by its full id. It is queued while
// a run is in progress.
type Resume struct{ Run string }

// Resolve answers an open gate, by the id of the run or session and of the gate.
// An answer of always also saves the rule that the gate shows.
type Resolve struct {
	Run      string
	Gate     string
	Call     string // of the gate as it was shown; "" is the one that is open
	Decision event.Decision
	Scope    event.Scope
	By       string // what answered in place of the user; "" is the user
	Reason   string // why not, in the user's words; only for a denial, "" gives none
}

// Edit replaces the arguments at an open gate, which opens again for the changed
// call. Arguments that do not fit the tool are refused.
type Edit struct {
	Run  string
	Gate string
	Call string         // as in Resolve
	Args map[string]any // complete, without references
	By   string         // as in Resolve
}

// AnswerElicitation answers a question that a server asks in the middle of a call.
// Accepting the question for a page opens the page.
type AnswerElicitation struct {
	Run     string
	ID      string
	Action  plan.ElicitationAction
	Content map[string]any // of an accepted form, by field
	By      string         // as in Resolve
}

// Review answers a held plan: run it as changed, or refuse it. If the changes
// make the plan invalid, they are rejected and the plan stays held.
type Review struct {
	Run    string
	Answer agent.ReviewAnswer
	By     string // as in Resolve
}

// Hold sets whether later plans are held for review.
type Hold struct{ On bool }

// ResolveDoubt decides about a step in doubt.
type ResolveDoubt struct {
	Run      string
	Step     string
	Decision event.DoubtDecision
	By       string // as in Resolve
}

// ResolveFailure says how the run continues after a failed step. If the run has
// ended with that step, it is resumed first.
type ResolveFailure struct {
	Run      string
	Step     string
	Decision event.FailureDecision
	Args     map[string]any // for a retry, replaces the plan's; nil keeps those
	By       string         // as in Resolve
}

// Cancel stops one running step with its items; the others continue. If an item is
// stopped, no other item of its step begins.
type Cancel struct {
	Run  string
	Step string
	By   string // as in Resolve
}

// Stop stops the current run: its model call, its tools and their children. The
// run can be resumed.
type Stop struct {
	By string // as in Resolve
}

// Steer sends a remark to the current run. A model at work sees it in its next
// turn; otherwise the rest of the plan is replanned. If no run can take it, it is
// submitted as a goal.
type Steer struct {
	Text string
	By   string // as in Resolve
}

// AskSideQuestion asks a side question: about the current or last run, while that goes on. A model may call
// only tools that read for it. SideProgress tells how far it is, and [event.ChatSide] is its
// end. One is answered at a time; the others wait.
type AskSideQuestion struct{ Question string }

// CancelSideQuestion cancels the side question that is being answered. The run goes on.
type CancelSideQuestion struct{}

// SideCommand is the word that makes a typed line a side question.
const SideCommand = "/ask"

// Choose changes the session's selection from the next run on. The outcome is
// published as Chosen.
type Choose Choice

// Pull downloads a model to the model server, one at a time. The progress and the
// end are published as PullProgress. If the session has no model, it looks again.
type Pull struct{ Model string }

// CancelPull cancels the download of a model. A later one continues it.
type CancelPull struct{}

// StartModelServer starts the model server on this machine. It outlives the session. Its start
// and what came of it are published as ModelServerStart. The session then looks again for a
// model.
type StartModelServer struct{}

// CancelStart stops a model server that was started and does not answer yet.
type CancelStart struct{}

// Remove deletes a model from the model server, unless a run uses it. The outcome
// is published as Removed.
type Remove struct{ Model string }

// SaveSetting saves a setting in the user's configuration for later starts, by its key
// such as screen.theme. The session itself does not change; the outcome is
// published as SettingSaved. [Choose] and [Hold] are kept without it.
type SaveSetting struct {
	Key   string
	Value *string // nil removes the key
}

// Warm loads the model ahead of an expected request, and has its server read what all
// requests begin with. It does nothing that was done before.
type Warm struct{}

// Compact summarizes the oldest turns of the conversation, or with Undo restores
// them.
type Compact struct{ Undo bool }

// Undo reverts the changes of a run and its inner runs, by its full id, or with Redo
// takes its last undo back. [Queries.PreviewUndo] and [Queries.PreviewRedo] preview it;
// a refusal is published as UndoRefused.
type Undo struct {
	Run  string
	Redo bool
}

// ShowChanges publishes again what runs changed in a copy of the workspace, as
// ChangesOffered.
type ShowChanges struct{}

// SettleChanges takes the chosen changes of the copy and drops the others, or lets them wait. The outcome
// is published as ChangesSettled.
type SettleChanges struct{ Choice event.ChangesChoice }

// Recheck checks again what the session works with: the model, its server, the
// configuration of tool servers and those that failed. The results are published
// as Status.
type Recheck struct{}

// SkipServers starts the job in preparation without the servers that it waits for.
type SkipServers struct{}

// Restart restarts a tool server. Its calls in progress fail.
type Restart struct{ Server string }

// AskAboutChanges asks the user about what a tool server has changed: a gate for each
// text, which shows the change. A yes accepts it.
type AskAboutChanges struct{ Server string }

// Revoke takes back the permission of one of the project's tool servers, which stops.
type Revoke struct{ Server string }

// Login logs in to a tool server in the user's browser, one at a time. The address
// and the end are published as LoginProgress. The server then restarts.
type Login struct{ Server string }

// CancelLogin cancels the login under way.
type CancelLogin struct{}

// Disable stops a tool server and keeps it from starting: for good, or until the
// program ends.
type Disable struct {
	Server  string
	ForGood bool
}

// Enable starts a disabled tool server, for good.
type Enable struct{ Server string }

func (AskSideQuestion) command()    {}
func (CancelSideQuestion) command() {}
func (Disable) command()            {}
func (Enable) command()             {}
func (SaveSetting) command()        {}
func (AnswerElicitation) command()  {}
func (SkipServers) command()        {}
func (Login) command()              {}
func (CancelLogin) command()        {}
func (Pull) command()               {}
func (CancelPull) command()         {}
func (Remove) command()             {}
func (StartModelServer) command()   {}
func (CancelStart) command()        {}
func (Recheck) command()            {}
func (Restart) command()            {}
func (Undo) command()               {}
func (ShowChanges) command()        {}
func (SettleChanges) command()      {}
func (Unqueue) command()            {}
func (Submit) command()             {}
func (Create) command()             {}
func (Execute) command()            {}
func (Resume) command()             {}
func (Resolve) command()            {}
func (Edit) command()               {}
func (Review) command()             {}
func (Hold) command()               {}
func (ResolveDoubt) command()       {}
func (ResolveFailure) command()     {}
func (Cancel) command()             {}
func (Stop) command()               {}
func (Steer) command()              {}
func (Choose) command()             {}
func (Warm) command()               {}
func (Compact) command()            {}
func (AskAboutChanges) command()    {}
func (Revoke) command()             {}
