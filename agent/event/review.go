package event

import (
	"fmt"
	"strings"

	"replan/planning/plan"
)

// PlanChosen reports that the user took another plan in place of the first one, which
// waits for review. It still waits. Only old journals have it.
type PlanChosen struct {
	Plan plan.Plan `json:"plan"`
	By   string    `json:"by"`
}

// PlanReviewed reports the outcome of a plan review. The plan runs, unchanged or
// as edited by the user, or it is refused and the run ends.
type PlanReviewed struct {
	Revision int            `json:"revision"` // of the reviewed plan, which keeps its number
	Decision ReviewDecision `json:"decision"`
	By       string         `json:"by"`             // the user, or a note that no user was present
	Plan     *plan.Plan     `json:"plan,omitempty"` // the plan to execute, if changed
	Edited   []string       `json:"edited"`         // indices of the steps with another title, call, condition, list, wait or check
	Moved    []Move         `json:"moved"`
	Removed  []string       `json:"removed"` // indices
	Approved []Approval     `json:"approved"`

	Acceptance bool `json:"acceptance,omitempty"` // the acceptance was edited
}

// ReviewDecision is the outcome of a plan review.
type ReviewDecision string

// Outcomes of a plan review.
const (
	ReviewRun    ReviewDecision = "run"
	ReviewRefuse ReviewDecision = "refuse"
)

// Move reports that a step was moved after another, and now waits for it.
type Move struct {
	Step  string `json:"step"`
	After string `json:"after"`
}

// Approval is the early permission for one call at a gate.
type Approval struct {
	Step string         `json:"step"`
	Tool string         `json:"tool"` // server:tool
	Args map[string]any `json:"args"` // permitted args; a call with any others asks
}

// Kind of each event's data.
func (PlanChosen) Kind() Kind   { return KindPlanChosen }
func (PlanReviewed) Kind() Kind { return KindPlanReviewed }

// String returns a short description of the changes, or "" if there are none.
func (c ReviewChanges) String() string {
	var words []string
	add := func(n int, what string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(len(c.Edited), "edited")
	add(len(c.Moved), "moved")
	add(len(c.Removed), "out")
	if c.Acceptance {
		words = append(words, "acceptance edited")
	}
	gates := "gates approved"
	if len(c.Approved) == 1 {
		gates = "gate approved"
	}
	add(len(c.Approved), gates)
	return strings.Join(words, " · ")
}

// Changes returns the changes that the user made in the review.
func (d PlanReviewed) Changes() ReviewChanges {
	return ReviewChanges{Edited: d.Edited, Moved: d.Moved, Removed: d.Removed, Approved: d.Approved, Acceptance: d.Acceptance}
}

// ReviewChanges are the changes to a plan in a review.
type ReviewChanges struct {
	Edited   []string
	Moved    []Move
	Removed  []string
	Approved []Approval

	Acceptance bool
}
