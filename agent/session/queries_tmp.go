package session

import "replan/agent"

// Runs lists the runs there are, newest first.
type Runs struct {
	Runs []agent.Summary `json:"runs"`
}

// Conversations lists the conversations, newest first.
type Conversations struct {
	Talks []Conversation `json:"talks"`
}

// Journal is all that happened in a run.
type Journal struct {
	Run     string        `json:"run"`
	Events  []agent.Event `json:"events,omitempty"`
	Problem string        `json:"problem,omitempty"`
}

// UndoAnswer says what undoing a run would do.
type UndoAnswer struct{ agent.Undo }

// Kinds of the answers.
const (
	KindRuns          agent.Kind = "session.runs"
	KindModels        agent.Kind = "session.models"
	KindServers       agent.Kind = "session.servers"
	KindSettings      agent.Kind = "session.settings"
	KindConversations agent.Kind = "session.talks"
	KindJournal       agent.Kind = "session.journal"
	KindCompletions   agent.Kind = "session.completions"
)

// Kind of the answers.
func (Runs) Kind() agent.Kind          { return KindRuns }
func (Models) Kind() agent.Kind        { return KindModels }
func (Servers) Kind() agent.Kind       { return KindServers }
func (Settings) Kind() agent.Kind      { return KindSettings }
func (Conversations) Kind() agent.Kind { return KindConversations }
func (Journal) Kind() agent.Kind       { return KindJournal }
func (Completions) Kind() agent.Kind   { return KindCompletions }
func (UndoAnswer) Kind() agent.Kind    { return KindUndo }
