package store

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/agent/store/plans"
	"replan/internal/wholefile"
	"replan/planning/plan"
)

// Dirs are the folders that replan stores its files in.
type Dirs struct {
	Config, Data, State string
}

// FindDirs returns the folders: all of them in home if set, else those of the XDG
// base directory specification.
func FindDirs(home string) (Dirs, error) {
	if home == "" {
		return Dirs{
			Config: filepath.Join(xdg.ConfigHome, "replan"),
			Data:   filepath.Join(xdg.DataHome, "replan"),
			State:  filepath.Join(xdg.StateHome, "replan"),
		}, nil
	}
	abs, err := filepath.Abs(home)
	if err != nil {
		return Dirs{}, fmt.Errorf("the data folder %q cannot be used: %w", home, err)
	}
	return Dirs{Config: abs, Data: abs, State: abs}, nil
}

// All returns all folders; no tool of the workspace may touch them.
func (d Dirs) All() []string { return []string{d.Config, d.Data, d.State} }

// Copies returns the folder of the copies of workspaces that runs work in. It lies
// beside the others, since programs may change files there.
func (d Dirs) Copies() string { return d.Data + "-copies" }

// ConfigFile returns the path of the user's configuration.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.toml") }

// MCPServers returns the path of the user's own file of MCP servers.
func (d Dirs) MCPServers() string { return filepath.Join(d.Config, "mcp.json") }

// Logs returns the folder of the log files.
func (d Dirs) Logs() string { return filepath.Join(d.State, "logs") }

// OllamaLog returns the file with the output of an Ollama server that replan started.
func (d Dirs) OllamaLog() string { return filepath.Join(d.Logs(), "ollama.log") }

// Crashes returns the folder of crash reports.
func (d Dirs) Crashes() string { return filepath.Join(d.State, "crashes") }

// Outputs returns the folder to which tools write output that is too long.
func (d Dirs) Outputs() string { return filepath.Join(d.State, "outputs") }

// Pasted returns the folder of the pictures that the user pasted. A run keeps its own copy.
func (d Dirs) Pasted() string { return filepath.Join(d.State, "pasted") }

// Memory returns the file of the memory tools.
func (d Dirs) Memory() string { return filepath.Join(d.Data, "memory.md") }

// Recents returns the file of what was chosen in the palette.
func (d Dirs) Recents() string { return filepath.Join(d.State, "recents.txt") }

// Servers returns the file of what was learned about model servers.
func (d Dirs) Servers() string { return filepath.Join(d.State, "servers.json") }

// Handshakes returns the file of the handshakes that MCP servers need.
func (d Dirs) Handshakes() string { return filepath.Join(d.State, "mcp-handshakes.json") }

// Findings returns the file of what replan fit found of models.
func (d Dirs) Findings() string { return filepath.Join(d.State, "findings.json") }

// Attempts returns the file of what replan fit measured so far.
func (d Dirs) Attempts() string { return filepath.Join(d.State, "fit-attempts.json") }

// Trust returns the file that records which servers of projects may start.
func (d Dirs) Trust() string { return filepath.Join(d.Data, "trust.json") }

// Logins returns the folder of the logins to MCP servers.
func (d Dirs) Logins() string { return filepath.Join(d.Data, "logins") }

// Pins returns the folder of what servers said of their tools at first use.
func (d Dirs) Pins() string { return filepath.Join(d.Data, "pins") }

// DisabledServers returns the file that records which servers are disabled in which
// workspace.
func (d Dirs) DisabledServers() string { return filepath.Join(d.Data, "mcp-disabled.json") }

// Store gives access to all files of one user. It is safe for concurrent use, and
// several processes may use the same folders.
type Store struct {
	Dirs     Dirs
	Runs     journal.Folder // the journals of runs
	Sessions journal.Folder // the journals of conversations
	Plans    plans.Store
	History  *History // what the user typed

	undoRecords func(run string) bool // nil if every run counts as not undone
	durations   *Durations
	summaries   *wholefile.JSON[summariesFile]
}

// New returns the store for dirs. It reads and writes nothing yet.
func New(dirs Dirs) *Store {
	return &Store{
		Dirs:      dirs,
		Runs:      journal.Folder{Dir: filepath.Join(dirs.State, "runs")},
		Sessions:  journal.Folder{Dir: filepath.Join(dirs.State, "sessions")},
		Plans:     plans.Store{Dir: filepath.Join(dirs.Data, "plans")},
		History:   OpenHistory(filepath.Join(dirs.State, "history.json")),
		durations: OpenDurations(filepath.Join(dirs.State, "durations.json")),
		summaries: openSummaries(filepath.Join(dirs.State, "summaries.json")),
	}
}

// UseUndoRecords has the store ask whether all file changes of a run are undone, by the records
// of its tools. The journal lacks an undo that was killed.
func (s *Store) UseUndoRecords(undone func(run string) bool) { s.undoRecords = undone }

// Journal stores the events of a run or a conversation.
type Journal = interface {
	Append(events ...event.Event) error
	Close() error
}

// CreateJournal creates the journal of a run or conversation; kind is "run" or
// "session".
func (s *Store) CreateJournal(kind, id string) (Journal, error) {
	folder := s.Sessions
	if kind == "run" {
		folder = s.Runs
	}
	j, err := folder.Create(id)
	if err != nil {
		return nil, err
	}
	return j, nil
}

// ReopenRun opens the journal of a run for appending and returns its events. They
// name an undo that was killed before it was recorded.
func (s *Store) ReopenRun(id string) (Journal, []event.Event, error) {
	if s.undone(id) {
		if err := s.recordUndo(id); err != nil {
			return nil, nil, err
		}
	}
	j, events, err := s.Runs.Open(id)
	if err != nil {
		return nil, nil, err
	}
	if len(events) > 0 && events[0].Run != id {
		_ = j.Close() // nothing was written to it
		return nil, nil, fmt.Errorf("the journal of the run %s is a copy of that of %s, whose approvals and effects are its own: resume that run", id, events[0].Run)
	}
	return j, events, nil
}

// ReadRun returns the events of a run, which may still be in progress. They name an
// undo that was killed before it was recorded.
func (s *Store) ReadRun(id string) ([]event.Event, error) {
	events, err := s.Runs.Read(id)
	if err == nil && !event.Undone(events) && s.undone(id) {
		last := events[len(events)-1]
		events = append(events, event.Event{Seq: last.Seq + 1, Time: last.Time, Run: last.Run, Data: event.RunUndone{}})
	}
	return events, err
}

// FoldRun returns the state of a run from its journal; see [journal.Folder.Fold]. It
// records an undo that was killed before it was recorded.
func (s *Store) FoldRun(id string) (agent.Run, error) {
	run, err := s.Runs.Fold(id)
	if err != nil || run.Undone != nil || !s.undone(id) {
		return run, err
	}
	_ = s.recordUndo(id) // if it cannot be recorded, the next reader tries again
	return run, run.Apply(event.Event{Seq: run.Seq + 1, Time: run.Now, Run: run.ID, Data: event.RunUndone{}})
}

// undone reports whether all changes of a run are undone.
func (s *Store) undone(id string) bool { return s.undoRecords != nil && s.undoRecords(id) }

// recordUndo records in the journal of a run that it is undone.
func (s *Store) recordUndo(id string) error {
	held, err := s.Runs.Hold(id)
	if err != nil {
		return err
	}
	return errors.Join(held.Amend(event.RunUndone{}, time.Now()), held.Release())
}

// SavePlan stores a plan under an unused id.
func (s *Store) SavePlan(p plan.Plan) (plan.Plan, error) {
	p.ID = ""
	return s.Plans.Save(p, time.Now())
}

// LoadPlan returns the plan with the given id or id prefix.
func (s *Store) LoadPlan(prefix string) (plan.Plan, error) {
	id, err := s.FindPlan(prefix)
	if err != nil {
		return plan.Plan{}, err
	}
	return s.Plans.Load(id)
}

// MedianDurations returns the median duration of each tool, in ms; see
// [Durations.Medians].
func (s *Store) MedianDurations() (map[string]int64, error) { return s.durations.Medians() }

// AddDurations records durations of tools, in ms; see [Durations.Add].
func (s *Store) AddDurations(samples map[string][]int64) error { return s.durations.Add(samples) }

// RecallTools returns the tools of a catalog with what earlier runs in a folder have shown
// of them. That is how often they were used, and the shape of their results. An error
// comes with the tools as they are.
func (s *Store) RecallTools(folder string, c plan.Catalog) (plan.Catalog, error) {
	return openExperience(s.Dirs, folder).recall(c)
}

// NoteCalls records the calls of a run in a folder that returned results; the
// catalog describes their tools.
func (s *Store) NoteCalls(folder string, c plan.Catalog, calls []plan.HistoryItem) error {
	return openExperience(s.Dirs, folder).add(c, calls)
}

// Dry is the store of a dry run: it reads but never writes.
type Dry struct {
	*Store
	NoResume error // why a dry run cannot resume a run
}

// CreateJournal returns a journal that stores nothing, since a dry run does
// nothing that could be resumed.
func (Dry) CreateJournal(string, string) (Journal, error) { return discard{}, nil }

// ReopenRun returns NoResume.
func (d Dry) ReopenRun(string) (Journal, []event.Event, error) { return nil, nil, d.NoResume }

// discard is a journal that stores nothing.
type discard struct{}

func (discard) Append(...event.Event) error { return nil }
func (discard) Close() error                { return nil }

// Changes collects a run and the runs that it started, from the readable parts of
// their journals.
func (s *Store) Changes(run string) (*Changes, error) {
	c := &Changes{journals: s.Runs}
	return c, c.follow(run)
}
