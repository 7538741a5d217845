package runner

import (
	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
)

// Store keeps what outlives a session: journals, plans and how long tools took.
// It is used from several goroutines at once.
type Store interface {
	// CreateJournal starts the journal of a run or of the session; kind is "run"
	// or "session".
	CreateJournal(kind, id string) (Journal, error)
	// ReopenRun opens the journal of a run to go on with it, and returns what has
	// happened in it.
	ReopenRun(id string) (Journal, []event.Event, error)
	// ReadRun returns all that happened in a run, whoever carries it out.
	ReadRun(id string) ([]event.Event, error)
	// RunSummaries returns a line for each run, newest first.
	RunSummaries() ([]agent.Summary, error)
	// Conversations returns the conversations there are, newest first.
	Conversations() ([]session.Conversation, error)
	// SavePlan stores a plan that was created and returns it with its id.
	SavePlan(plan.Plan) (plan.Plan, error)
	// LoadPlan returns a stored plan by its id or a prefix of it.
	LoadPlan(id string) (plan.Plan, error)
	// MedianDurations returns how long the calls of each tool took, in ms, by its
	// qualified name.
	MedianDurations() (map[string]int64, error)
	// AddDurations notes how long further calls of each tool took, in ms.
	AddDurations(samples map[string][]int64) error
}
