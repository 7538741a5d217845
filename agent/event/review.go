package event

import (
	"fmt"
	"strings"

	"replan/planning/plan"
)

// PlanReviewed says what came of a plan that was held to be looked over: it runs,
// as it was or as the user changed it, or it is refused and the run ends.
type PlanReviewed struct {
	Revision int            `json:"revision"` // of the plan that was looked over; it keeps its number
	Decision ReviewDecision `json:"decision"`
	By       string         `json:"by"`             // user, or that nobody was there to be asked
	Plan     *plan.Plan     `json:"plan,omitempty"` // as it is carried out, where it was changed
	Edited   []string       `json:"edited"`         // indices of the steps with another title or other args
	Moved    []Move         `json:"moved"`
	Removed  []string       `json:"removed"` // indices
	Approved []Approval     `json:"approved"`
}

// ReviewDecision is what becomes of a plan that was looked over.
type ReviewDecision string

// What can become of a plan that was looked over.
const (
	ReviewRun    ReviewDecision = "run"
	ReviewRefuse ReviewDecision = "refuse"
)

// Move says that a step was moved behind another: it waits for that one now.
type Move struct {
	Step  string `json:"step"`
	After string `json:"after"`
}

// Approval is the gate of one call, opened before it is reached.
type Approval struct {
	Step string         `json:"step"`
	Tool string         `json:"tool"` // server:tool
	Args map[string]any `json:"args"` // that it holds for; any others ask
}

// Kind of each event's data.
func (PlanReviewed) Kind() Kind { return KindPlanReviewed }

// String says what was changed in a few words, "" where nothing was.
func (c ReviewChanges) String() string {
	var words []string
	say := func(n int, what string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, what))
		}
	}
	say(len(c.Edited), "edited")
	say(len(c.Moved), "moved")
	say(len(c.Removed), "out")
	gates := "gates approved"
	if len(c.Approved) == 1 {
		gates = "gate approved"
	}
	say(len(c.Approved), gates)
	return strings.Join(words, " · ")
}

// Changes is what the user changed of a plan that was looked over.
func (d PlanReviewed) Changes() ReviewChanges {
	return ReviewChanges{Edited: d.Edited, Moved: d.Moved, Removed: d.Removed, Approved: d.Approved}
}

// ReviewChanges is what was changed of a plan.
type ReviewChanges struct {
	Edited   []string
	Moved    []Move
	Removed  []string
	Approved []Approval
}
