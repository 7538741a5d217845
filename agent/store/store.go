package store

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"

	"replan/agent/event"
	"replan/agent/store/journal"
	"replan/agent/store/plans"
	"replan/planning/plan"
)

// Dirs are the folders in which replan keeps things.
type Dirs struct {
	Config, Data, State string
}

// FindDirs returns the folders: home for everything where it is given, else
// those of the XDG base directory specification.
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

// All returns the folders, which no tool of the workspace may touch.
func (d Dirs) All() []string { return []string{d.Config, d.Data, d.State} }

// ConfigFile is the path of the user's configuration.
func (d Dirs) ConfigFile() string { return filepath.Join(d.Config, "config.toml") }

// Logs is the folder of the program's log files.
func (d Dirs) Logs() string { return filepath.Join(d.State, "logs") }

// Crashes is the folder of crash reports.
func (d Dirs) Crashes() string { return filepath.Join(d.State, "crashes") }

// Outputs is the folder into which tools spill output that is too long.
func (d Dirs) Outputs() string { return filepath.Join(d.State, "outputs") }

// Memory is the file of the memory tools.
func (d Dirs) Memory() string { return filepath.Join(d.Data, "memory.md") }

// Trust is the file that remembers which servers of projects may start.
func (d Dirs) Trust() string { return filepath.Join(d.Data, "trust.json") }

// Store is everything below the folders of one user. Several processes may use
// the same folders, and several goroutines the same Store.
type Store struct {
	Dirs     Dirs
	Runs     journal.Folder // the journals of runs
	Sessions journal.Folder // the journals of conversations
	Plans    plans.Store
	History  *History // what the user has typed

	durations *Durations
}

// New names the files of a store. Nothing is read or written yet.
func New(dirs Dirs) *Store {
	return &Store{
		Dirs:      dirs,
		Runs:      journal.Folder{Dir: filepath.Join(dirs.State, "runs")},
		Sessions:  journal.Folder{Dir: filepath.Join(dirs.State, "sessions")},
		Plans:     plans.Store{Dir: filepath.Join(dirs.Data, "plans")},
		History:   OpenHistory(filepath.Join(dirs.State, "history.json")),
		durations: OpenDurations(filepath.Join(dirs.State, "durations.json")),
	}
}

// Journal is where the events of a run or a conversation are written.
type Journal = interface {
	Append(events ...event.Event) error
	Close() error
}

// CreateJournal starts the journal of a run or of a conversation; kind is "run"
// or "session".
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

// ReopenRun opens the journal of a run to go on with it, and returns its events.
func (s *Store) ReopenRun(id string) (Journal, []event.Event, error) {
	j, events, err := s.Runs.Open(id)
	if err != nil {
		return nil, nil, err
	}
	return j, events, nil
}

// ReadRun returns the events of a run, which may still be written.
func (s *Store) ReadRun(id string) ([]event.Event, error) { return s.Runs.Read(id) }

// SavePlan stores a plan under an id that no plan has yet.
func (s *Store) SavePlan(p plan.Plan) (plan.Plan, error) {
	p.ID = ""
	return s.Plans.Save(p, time.Now())
}

// LoadPlan returns the plan whose id is, or begins with, prefix.
func (s *Store) LoadPlan(prefix string) (plan.Plan, error) {
	id, err := s.FindPlan(prefix)
	if err != nil {
		return plan.Plan{}, err
	}
	return s.Plans.Load(id)
}

// MedianDurations returns how long each tool took, in ms; see
// [Durations.Medians].
func (s *Store) MedianDurations() (map[string]int64, error) { return s.durations.Medians() }

// AddDurations notes how long tools took, in ms; see [Durations.Add].
func (s *Store) AddDurations(samples map[string][]int64) error { return s.durations.Add(samples) }

// Dry is the store of a dry run: it reads what there is and writes nothing.
type Dry struct {
	*Store
	NoResume error // why a dry run resumes no run
}

// CreateJournal returns a journal that keeps nothing: nothing happens in a dry
// run that could be resumed.
func (Dry) CreateJournal(string, string) (Journal, error) { return discard{}, nil }

// ReopenRun fails with NoResume.
func (d Dry) ReopenRun(string) (Journal, []event.Event, error) { return nil, nil, d.NoResume }

// discard is a journal that keeps nothing.
type discard struct{}

func (discard) Append(...event.Event) error { return nil }
func (discard) Close() error                { return nil }
