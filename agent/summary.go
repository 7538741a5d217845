package agent

import (
	"strings"
	"time"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// Summary describes a run in one line of a list.
type Summary struct {
	Run       string         `json:"run"`
	Plan      string         `json:"plan"` // id of the stored plan that it ran; "" for a goal or a file without one
	Goal      untrusted.Text `json:"goal"`
	Title     untrusted.Text `json:"title,omitempty"` // of the plan
	Status    event.Status   `json:"status"`          // StatusUnfinished if it has not ended
	Reason    event.Reason   `json:"reason"`
	Started   time.Time      `json:"started"`
	Steps     int            `json:"steps"` // of the current plan
	Done      int            `json:"done"`  // number of completed steps
	Replans   int            `json:"replans"`
	Workspace string         `json:"workspace"`
	Session   string         `json:"session,omitempty"`
	Outer     string         `json:"outer,omitempty"`     // the run whose model requested this one, and with which it is resumed
	Resumable bool           `json:"resumable"`           // something is left to do
	PlanOnly  bool           `json:"plan_only,omitempty"` // the run only makes a plan
	Undone    bool           `json:"undone,omitempty"`    // its changes are undone
	Restored  int            `json:"restored,omitempty"`  // number of files that the undo restored
	Declined  bool           `json:"declined,omitempty"`  // it ended because the user said no to a call
	Why       untrusted.Text `json:"why,omitempty"`       // why it waits, or why it failed before it began
}

// Statuses of a run that has not ended.
const (
	StatusUnfinished event.Status = "unfinished" // its program ended, or its state is unknown
	StatusRunning    event.Status = "running"    // a process is executing it
	StatusWaiting    event.Status = "waiting"    // for a worker
)

// ShortID returns the part of a run id after its date, which distinguishes runs of
// the same day.
func ShortID(run string) string {
	if strings.Count(run, "-") > 1 {
		return run[strings.LastIndexByte(run, '-')+1:]
	}
	return run
}

// Snapshot is the state of a run so far.
type Snapshot struct {
	event.Result
	CompletedSteps []string   `json:"completed_steps"`
	InDoubt        []string   `json:"in_doubt"`
	Declined       []Declined `json:"declined,omitempty"` // steps whose calls the user said no to
}

// Declined is a step to whose call the user said no.
type Declined struct {
	Step   string         `json:"step"`
	Reason untrusted.Text `json:"reason,omitempty"` // in the user's words
}
