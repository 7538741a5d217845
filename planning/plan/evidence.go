package plan

import (
	"strings"

	"replan/internal/untrusted"
	"replan/planning/expression"
)

// Evidence is what is known about one check, or about a step without one.
type Evidence struct {
	Title untrusted.Text     `json:"title"`
	State EvidenceState      `json:"state"`
	Saw   []expression.Sight `json:"saw"`  // the values that the check looked at
	Step  string             `json:"step"` // index; "" for the plan's acceptance

	Reason untrusted.Text `json:"reason,omitempty"` // why the check had no answer, a clause
}

// EvidenceState says how far something is shown to hold.
type EvidenceState string

// The states of evidence. The zero value is of a step that claims nothing: it only
// reads, and nothing checks it.
const (
	StateVerified  EvidenceState = "verified"  // a check held
	StateClaimed   EvidenceState = "claimed"   // a tool or a model says so, and nothing checks it
	StateUnchecked EvidenceState = "unchecked" // there is a check that was not evaluated
	StateRefuted   EvidenceState = "refuted"   // a check did not hold
)

// CountVerified returns how many pieces of evidence are verified.
func CountVerified(evidence []Evidence) int {
	n := 0
	for _, e := range evidence {
		if e.State == StateVerified {
			n++
		}
	}
	return n
}

// SawWords says which values a check looked at: "result.failed is 3"; "" for none.
func SawWords(saw []expression.Sight) string {
	words := make([]string, len(saw))
	for i, s := range saw {
		words[i] = untrusted.Line(s.Path + " is " + CanonicalJSON(s.Value))
	}
	return strings.Join(words, " and ")
}
