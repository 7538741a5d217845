package event

import (
	"slices"

	"replan/planning/intent"
)

// PlannerKind says who plans a goal.
type PlannerKind string

// Who can plan a goal. The zero value, of journals that do not say, is
// PlannerPhases.
const (
	PlannerAuto   PlannerKind = "auto"   // the words, where they are clear and need no model; else a model, and without one the words
	PlannerPhases PlannerKind = "phases" // a model, in three phases
	PlannerRouter PlannerKind = "router" // the words alone
	PlannerNone   PlannerKind = "none"   // nobody: a model answers
)

// PlannerKinds lists who can plan a goal, by name.
func PlannerKinds() []string {
	return []string{string(PlannerAuto), string(PlannerPhases), string(PlannerRouter), string(PlannerNone)}
}

// ByWords reports whether the words of a goal may plan it.
func (k PlannerKind) ByWords() bool { return k == PlannerAuto || k == PlannerRouter }

// ParsePlannerKind reads a kind by its name; ok is false where there is none.
func ParsePlannerKind(name string) (kind PlannerKind, ok bool) {
	return PlannerKind(name), slices.Contains(PlannerKinds(), name)
}

// Routing is how a goal may be planned by its words.
type Routing struct {
	Planner PlannerKind   `json:"planner,omitempty"` // who plans
	Policy  intent.Policy `json:"policy,omitzero"`
	Facts   intent.Facts  `json:"facts,omitzero"` // what is known of the workspace about the names in the goal
}

// RouteMatched says that the words of the goal make the plan, without a model.
type RouteMatched struct {
	Intent     intent.Intent `json:"intent"`     // what the words ask for
	Confidence float64       `json:"confidence"` // the intent's, 0 to 1
	Chain      []string      `json:"chain"`      // the tools in their order, and by a word what a model is to do
}
