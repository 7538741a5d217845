package runner

import (
	"path/filepath"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
)

// Store persists what outlives a session: journals, plans and tool durations. It
// must be safe for concurrent use.
type Store interface {
	// CreateJournal creates the journal of a run or session; kind is "run" or
	// "session".
	CreateJournal(kind, id string) (Journal, error)
	// ReopenRun opens the journal of a run for appending and returns its events
	// so far. The error wraps fs.ErrNotExist if there is no such run, and
	// event.ErrNoEvents if its journal holds no events.
	ReopenRun(id string) (Journal, []event.Event, error)
	// ReadRun returns all events of a run, even one that another process carries
	// out.
	ReadRun(id string) ([]event.Event, error)
	// RunSummaries returns a summary of each run, newest first.
	RunSummaries() ([]agent.Summary, error)
	// Conversations returns all conversations, newest first.
	Conversations() ([]session.Conversation, error)
	// SavePlan stores a new plan and returns it with its id.
	SavePlan(plan.Plan) (plan.Plan, error)
	// LoadPlan returns the stored plan with the given id or id prefix.
	LoadPlan(id string) (plan.Plan, error)
	// MedianDurations returns the median call duration of each tool in ms, by
	// qualified name.
	MedianDurations() (map[string]int64, error)
	// AddDurations records the durations of further calls of each tool, in ms.
	AddDurations(samples map[string][]int64) error
	// RecallTools returns the tools of a catalog with what earlier runs in a
	// folder have shown of them. An error comes with the tools as they are.
	RecallTools(folder string, c plan.Catalog) (plan.Catalog, error)
	// NoteCalls records the calls of a run in a folder that returned results.
	NoteCalls(folder string, c plan.Catalog, calls []plan.HistoryItem) error
}

// SameFolder reports whether two absolute paths lead to the same folder after
// resolving links. A path that does not exist equals only itself.
func SameFolder(a, b string) bool { return a == b || realPath(a) == realPath(b) }

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
