package event

import (
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/plan"
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
	State   plan.EvidenceState `json:"state"`            // verified, refuted or unchecked
	Saw     []expression.Sight `json:"saw"`              // the values that the expression looked at
	Reason  untrusted.Text     `json:"reason,omitempty"` // why it could not be evaluated, a clause
	MS      int64              `json:"ms"`               // of the call
}
