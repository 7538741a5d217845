package event

import (
	"replan/internal/untrusted"
	"replan/planning/expression"
)

// CheckCompleted reports what a check of a step, or of the plan's acceptance, found.
type CheckCompleted struct {
	Index   string             `json:"index,omitempty"`  // of the step; "" for the acceptance
	Attempt int                `json:"attempt"`          // of the step; for the acceptance, the revision of the plan
	Check   int                `json:"check"`            // its position in the list, from 1
	Title   untrusted.Text     `json:"title"`            // of the check, or its expression
	Expect  string             `json:"expect"`           // the expression
	Tool    string             `json:"tool,omitempty"`   // that was called for it
	Args    map[string]any     `json:"args,omitempty"`   // as resolved
	State   EvidenceState      `json:"state"`            // verified, refuted or unchecked
	Saw     []expression.Sight `json:"saw"`              // the values that the expression looked at
	Reason  untrusted.Text     `json:"reason,omitempty"` // why it could not be evaluated, a clause
	MS      int64              `json:"ms"`               // of the call
}

// EvidenceState says how far something is shown to hold.
type EvidenceState string

// The states of evidence.
const (
	StateVerified  EvidenceState = "verified"  // a check held
	StateClaimed   EvidenceState = "claimed"   // a tool or a model says so, and nothing checks it
	StateUnchecked EvidenceState = "unchecked" // there is a check that was not evaluated
	StateRefuted   EvidenceState = "refuted"   // a check did not hold
)

// Evidence is what is known about one check, or about a step without one.
type Evidence struct {
	Title untrusted.Text     `json:"title"`
	State EvidenceState      `json:"state"`
	Saw   []expression.Sight `json:"saw"`
	Step  string             `json:"step"` // index; "" for the plan's acceptance
}
