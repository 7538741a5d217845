package event

import (
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/fit"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// RunResumed reports that a run continues after its program, or the run itself,
// had ended. It carries the settings that hold from here on. Limits may have been
// raised, and tools added or removed.
type RunResumed struct {
	From     uint64           `json:"from"` // the last event before
	Session  string           `json:"session,omitempty"`
	Model    string           `json:"model"`                    // "" if there is none
	Tools    bool             `json:"model_tools,omitempty"`    // the model can call tools
	Window   int              `json:"context_window,omitempty"` // of the model, in tokens; 0 if unknown
	Vision   bool             `json:"vision,omitempty"`         // the model sees pictures
	Small    bool             `json:"small,omitempty"`          // the model has few parameters, see prompt.Prompting
	Loops    prompt.Loops     `json:"loops,omitempty"`          // of the model, see prompt.Prompting
	Measured *fit.Record      `json:"measured,omitempty"`       // see prompt.Prompting
	Speed    float64          `json:"read_speed,omitempty"`     // of the model, see prompt.Prompting; 0 if unknown
	Models   *prompt.Models   `json:"models,omitempty"`         // that plan from now on; nil leaves them unchanged
	Limits   Limits           `json:"limits"`
	Rules    []rule.Rule      `json:"rules"` // gate rules, see rule.Rule; the user's permissions for the run stay before them
	Catalog  plan.Catalog     `json:"catalogue"`
	Priors   map[string]int64 `json:"priors"`
	Review   bool             `json:"review,omitempty"` // hold the rest of the plan, and every new one, for review; false leaves the setting unchanged
	Attended bool             `json:"attended,omitempty"`

	RequireVerified bool          `json:"require_verified,omitempty"` // from now on, as in RunStarted
	WritesCalls     bool          `json:"writes_calls,omitempty"`     // the loops of the model get a format in place of tools, see prompt.Prompting
	InDoubt         DoubtDecision `json:"in_doubt,omitempty"`
}

// RunSpawned identifies the run that a plan tool call is about to start, so that
// a resume continues that run and starts no other.
type RunSpawned struct {
	Index   string `json:"index"` // of the call
	Attempt int    `json:"attempt"`
	Run     string `json:"run"`
}

// JournalDamaged replaces the last line of a journal if that line was written
// completely but has changed since. Its content is lost. It may have been the
// start of any step that could start there.
type JournalDamaged struct {
	Line int `json:"line"` // from 1
}

// DoubtResolved reports the decision about a step in doubt.
type DoubtResolved struct {
	Step     string        `json:"step"`
	Decision DoubtDecision `json:"decision"`
	By       string        `json:"by"` // the user, the option that answered, or a note that no user was present
}

// DoubtDecision is a decision about a step in doubt.
type DoubtDecision string

// Decisions about a step in doubt.
const (
	DoubtDone  DoubtDecision = "done"  // it took effect: continue with an empty result
	DoubtRerun DoubtDecision = "rerun" // it did not take effect, or may do so twice: run it again
	DoubtAbort DoubtDecision = "abort" // end the run; the doubt stays for the next resume
)

// FailureResolved reports how the run continues after a failed step, if the user
// was present to decide.
type FailureResolved struct {
	Step     string          `json:"step"`
	Decision FailureDecision `json:"decision"`
	Args     map[string]any  `json:"args,omitempty"` // for a retry: replaces the plan's args
	By       string          `json:"by"`
}

// FailureDecision is a decision about a failed step.
type FailureDecision string

// Decisions about a failed step.
const (
	FailureRetry  FailureDecision = "retry"  // a new attempt, optionally with other args
	FailureSkip   FailureDecision = "skip"   // continue without the step and its dependents
	FailureReplan FailureDecision = "replan" // continue with a new plan for the rest
	FailureAbort  FailureDecision = "abort"  // end the run
)

// GuardWarned reports, once, that a guard which counts per tool or call is at 80
// % of its limit.
type GuardWarned struct {
	Guard  string         `json:"guard"`
	Step   string         `json:"step,omitempty"`
	Reason untrusted.Text `json:"reason"`
	Used   int64          `json:"used"`
	Limit  int64          `json:"limit"`
}

// Kind of each event's data.
func (RunResumed) Kind() Kind      { return KindRunResumed }
func (RunSpawned) Kind() Kind      { return KindRunSpawned }
func (JournalDamaged) Kind() Kind  { return KindJournalDamaged }
func (DoubtResolved) Kind() Kind   { return KindDoubtResolved }
func (FailureResolved) Kind() Kind { return KindFailureResolved }
func (GuardWarned) Kind() Kind     { return KindGuardWarned }
