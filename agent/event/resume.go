package event

import (
	"replan/agent/rule"
	"replan/planning/plan"
)

// RunResumed says that a run whose program had ended, or that had ended itself,
// is taken up again. It carries what decides what the run may do from here on:
// its limits may have been raised, and tools may have come or gone.
type RunResumed struct {
	From      uint64           `json:"from"` // the last event before
	Session   string           `json:"session,omitempty"`
	Model     string           `json:"model"`                    // "" means that there is none
	Tools     bool             `json:"model_tools,omitempty"`    // it can call tools
	Window    int              `json:"context_window,omitempty"` // of the model, in tokens; 0 is unknown
	Limits    Limits           `json:"limits"`
	Rules     []rule.Rule      `json:"rules"` // gate rules, first match wins; what the user allowed for the run stays before them
	Catalogue plan.Catalogue   `json:"catalogue"`
	Priors    map[string]int64 `json:"priors"`
	Review    bool             `json:"review,omitempty"` // what is left of the plan is held, and every new one; without it, that stays as it was
	Attended  bool             `json:"attended,omitempty"`
	InDoubt   DoubtDecision    `json:"in_doubt,omitempty"`
}

// RunSpawned says which run a call of a plan tool is about to start, so that a
// resume takes that one up rather than start another.
type RunSpawned struct {
	Index   string `json:"index"` // of the call
	Attempt int    `json:"attempt"`
	Run     string `json:"run"`
}

// JournalDamaged stands in the place of the last line of a journal that was
// written whole and is not what was written any more. What it said is lost: it
// may have been the start of any step that could start there.
type JournalDamaged struct {
	Line int `json:"line"` // from 1
}

// DoubtResolved says what is to become of a step that is in doubt.
type DoubtResolved struct {
	Step     string        `json:"step"`
	Decision DoubtDecision `json:"decision"`
	By       string        `json:"by"` // user, the option that answered, or that nobody was there to be asked
}

// DoubtDecision says what is to become of a step that is in doubt.
type DoubtDecision string

// What can become of a step that is in doubt.
const (
	DoubtDone  DoubtDecision = "done"  // it took effect: go on, with nothing as its result
	DoubtRerun DoubtDecision = "rerun" // it did not, or may take effect twice: run it again
	DoubtAbort DoubtDecision = "abort" // end the run; the doubt stays for the next resume
)

// FailureResolved says how the run goes on after a step that failed, where the
// user was there to be asked.
type FailureResolved struct {
	Step     string          `json:"step"`
	Decision FailureDecision `json:"decision"`
	Args     map[string]any  `json:"args,omitempty"` // with a retry: in place of the plan's
	By       string          `json:"by"`
}

// FailureDecision says how the run goes on after a step that failed.
type FailureDecision string

// How a run can go on after a step that failed.
const (
	FailureRetry  FailureDecision = "retry"  // a new attempt, with other args where some are given
	FailureSkip   FailureDecision = "skip"   // without it and what depends on it
	FailureReplan FailureDecision = "replan" // with a new plan of what remains
	FailureAbort  FailureDecision = "abort"  // not at all
)

// GuardWarned says, once, that a guard which counts by tool or call is at 80 %
// of its limit.
type GuardWarned struct {
	Guard  string `json:"guard"`
	Step   string `json:"step,omitempty"`
	Reason string `json:"reason"`
	Used   int64  `json:"used"`
	Limit  int64  `json:"limit"`
}

// Kind of each event's data.
func (RunResumed) Kind() Kind      { return KindRunResumed }
func (RunSpawned) Kind() Kind      { return KindRunSpawned }
func (JournalDamaged) Kind() Kind  { return KindJournalDamaged }
func (DoubtResolved) Kind() Kind   { return KindDoubtResolved }
func (FailureResolved) Kind() Kind { return KindFailureResolved }
func (GuardWarned) Kind() Kind     { return KindGuardWarned }
