package session

import (
	"replan/agent/event"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// The kinds of what a session reports unasked, between the events of its runs.
// All of them pass: they are not journaled, and only the newest counts.
const (
	KindStatus       event.Kind = "session.status"
	KindQueue        event.Kind = "session.queue"
	KindResuming     event.Kind = "session.resuming"
	KindReturned     event.Kind = "session.returned"
	KindHistory      event.Kind = "session.history"
	KindUndo         event.Kind = "session.undo"
	KindChanges      event.Kind = "session.changes"
	KindSettled      event.Kind = "session.settled"
	KindSettingSaved event.Kind = "session.kept"
	KindChosen       event.Kind = "session.chosen"
	KindPull         event.Kind = "session.pull"
	KindRemoved      event.Kind = "session.removed"
	KindModelServer  event.Kind = "session.model_server"
	KindLogin        event.Kind = "session.login"
	KindSide         event.Kind = "session.side"
)

// Status says what the session works with: the model and the health of the
// servers.
type Status struct {
	Workspace     untrusted.Text      `json:"workspace"`
	Model         untrusted.Text      `json:"model,omitempty"`
	ContextWindow int                 `json:"context_window,omitempty"` // tokens
	Problem       untrusted.Text      `json:"problem,omitempty"`        // one sentence that names the problem and the remedy
	Planner       event.PlannerKind   `json:"planner,omitempty"`        // who plans goals
	PlannerModel  untrusted.Text      `json:"planner_model,omitempty"`  // plans in place of Model; "" if that one does
	Tools         int                 `json:"tools"`                    // on offer now
	Servers       []plan.ServerStatus `json:"servers,omitempty"`
	ContextTokens int                 `json:"context_tokens,omitempty"` // the next request opens with: prompt, tools and conversation
	Instructions  untrusted.Text      `json:"instructions,omitempty"`   // the file with the project's instructions, relative to the workspace if it lies inside
	Profile       untrusted.Text      `json:"profile,omitempty"`        // the profile in use
	Think         prompt.ThinkLevel   `json:"think,omitempty"`
	Host          untrusted.Text      `json:"host,omitempty"`   // of the model server
	Trouble       prompt.ModelTrouble `json:"trouble,omitzero"` // the cause of Problem
	Branch        untrusted.Text      `json:"branch,omitempty"` // of the workspace's repository, "" if unknown
	Dirty         bool                `json:"dirty,omitempty"`  // files of the workspace have uncommitted changes
	Review        bool                `json:"review,omitempty"` // plans of the next runs are held for review
}

// Queue lists the job that the session prepares and the jobs that wait for it, or
// for the run in progress, in order.
type Queue struct {
	Doing   string      `json:"doing,omitempty"`   // in a few words; "" is nothing
	Servers []string    `json:"servers,omitempty"` // that Doing waits for
	Waiting []string    `json:"waiting"`
	Jobs    []QueuedJob `json:"jobs,omitempty"` // the same jobs as Waiting, in the same order
}

// QueuedJob waits for its turn in the session's queue.
type QueuedJob struct {
	ID   int    `json:"id"`             // identifies it in runner.Unqueue
	Text string `json:"text,omitempty"` // as the user typed it; "" if it was not typed
}

// Resuming announces that the following events of a run, up to Upto, happened
// before. The session repeats them so that readers can fold them.
type Resuming struct {
	Run  string `json:"run"`
	Upto uint64 `json:"upto"`
}

// Returned gives the user's input back: the session did not accept it, or the
// user took it out of the queue.
type Returned struct {
	Text   string         `json:"text"`             // as it was typed
	Reason untrusted.Text `json:"reason,omitempty"` // why it was not accepted and what to do; "" if the user took it back
}

// History holds earlier messages of the user, of other sessions too, oldest first.
type History struct {
	Here      []string `json:"here,omitempty"`      // in this workspace
	Elsewhere []string `json:"elsewhere,omitempty"` // in other workspaces
}

// UndoRefused says why the session does not undo or redo a run.
type UndoRefused struct {
	event.Undo
}

// ChangesOffered says what runs changed in a copy of the workspace, for the user to
// take or drop.
type ChangesOffered struct {
	event.Changes
}

// ChangesSettled says which changes were taken and which dropped.
type ChangesSettled struct {
	event.SettledChanges
}

// SettingSaved reports that a choice of the user was saved for later starts, or why not.
type SettingSaved struct {
	Key     string         `json:"key"`               // in the configuration: section.name
	Value   string         `json:"value,omitempty"`   // as text
	Removed bool           `json:"removed,omitempty"` // the key was removed, so that the default applies
	File    string         `json:"file,omitempty"`
	Problem untrusted.Text `json:"problem,omitempty"` // why it was not saved, one sentence
}

// Choice is a choice of the user for the session; nil fields stay unchanged.
type Choice struct {
	Model   *string            `json:"model,omitempty"` // "" is the first model of the server that supports tools
	Think   *prompt.ThinkLevel `json:"think,omitempty"`
	Profile *string            `json:"profile,omitempty"` // "" is none
	Planner *string            `json:"planner,omitempty"` // the model that plans; "" is the one that answers
}

// Chosen answers a choice: it applies from the next run on, or Problem says why
// not.
type Chosen struct {
	Choice
	Info    prompt.ModelInfo `json:"info,omitzero"` // of the model in use, if it was looked up
	Problem untrusted.Text   `json:"problem,omitempty"`
}

// PullProgress reports how far the download of a model has come, or its end.
type PullProgress struct {
	Model    string         `json:"model"`
	Step     untrusted.Text `json:"step,omitempty"`  // in the words of the model server
	Done     int64          `json:"done,omitempty"`  // bytes
	Total    int64          `json:"total,omitempty"` // bytes; 0 if unknown
	Rate     int64          `json:"rate,omitempty"`  // bytes a second; 0 if unknown
	Ended    bool           `json:"ended,omitempty"` // completed, unless one of the following says otherwise
	Canceled bool           `json:"cancelled,omitempty"`
	Problem  untrusted.Text `json:"problem,omitempty"` // why it failed and what to do, one sentence
}

// ModelServerStart reports that the model server is being started, or how that ended.
type ModelServerStart struct {
	Ended    bool           `json:"ended,omitempty"` // it answers, unless one of the following says otherwise
	Log      string         `json:"log,omitempty"`   // the file with its output, once it answers
	Canceled bool           `json:"cancelled,omitempty"`
	Problem  untrusted.Text `json:"problem,omitempty"` // why it does not answer and what to do, one sentence
}

// Removed reports that a model was removed from the server, or why not.
type Removed struct {
	Model   string         `json:"model"`
	Problem untrusted.Text `json:"problem,omitempty"`
}

// LoginProgress reports where the user logs in to a tool server, or the end of that.
type LoginProgress struct {
	Server   string         `json:"server"`
	Address  untrusted.Text `json:"address,omitempty"` // to open in a browser; "" if it is not known yet
	Ended    bool           `json:"ended,omitempty"`   // with success, unless one of the following says otherwise
	Canceled bool           `json:"cancelled,omitempty"`
	Problem  untrusted.Text `json:"problem,omitempty"` // why it failed, one sentence
}

// SideProgress tells how far the answer to a side question is. It has no status before the
// end, which is an [event.ChatSide].
type SideProgress struct {
	event.ChatSide
	Waits    bool           `json:"waits,omitempty"`    // another one is answered first
	Thinking bool           `json:"thinking,omitempty"` // the model thinks, and has written nothing yet
	Model    untrusted.Text `json:"model,omitempty"`    // that answers; "" for none yet
}

// Kind is that of the progress of a side question.
func (SideProgress) Kind() event.Kind { return KindSide }

// Kind of what the session reports.
func (Status) Kind() event.Kind           { return KindStatus }
func (Queue) Kind() event.Kind            { return KindQueue }
func (Resuming) Kind() event.Kind         { return KindResuming }
func (Returned) Kind() event.Kind         { return KindReturned }
func (History) Kind() event.Kind          { return KindHistory }
func (UndoRefused) Kind() event.Kind      { return KindUndo }
func (ChangesOffered) Kind() event.Kind   { return KindChanges }
func (ChangesSettled) Kind() event.Kind   { return KindSettled }
func (SettingSaved) Kind() event.Kind     { return KindSettingSaved }
func (Chosen) Kind() event.Kind           { return KindChosen }
func (PullProgress) Kind() event.Kind     { return KindPull }
func (Removed) Kind() event.Kind          { return KindRemoved }
func (ModelServerStart) Kind() event.Kind { return KindModelServer }

// Kind is that of the progress of a login.
func (LoginProgress) Kind() event.Kind { return KindLogin }
