package event

import (
	"slices"

	"replan/planning/intent"
)

// PlannerKind selects who plans a goal.
type PlannerKind string

// Planners of a goal. The zero value, from journals without this field, means
// PlannerPhases.
const (
	PlannerAuto   PlannerKind = "auto"   // the words if they are clear and need no model, else a model; the words if there is no model
	PlannerPhases PlannerKind = "phases" // a model, in three phases
	PlannerRouter PlannerKind = "router" // the words alone
	PlannerNone   PlannerKind = "none"   // no planner: a model answers directly
)

// PlannerKinds returns the names of all planner kinds.
func PlannerKinds() []string {
	return []string{string(PlannerAuto), string(PlannerPhases), string(PlannerRouter), string(PlannerNone)}
}

// ByWords reports whether the words of a goal may plan it.
func (k PlannerKind) ByWords() bool { return k == PlannerAuto || k == PlannerRouter }

// ParsePlannerKind returns the kind with this name; ok is false if there is none.
func ParsePlannerKind(name string) (kind PlannerKind, ok bool) {
	return PlannerKind(name), slices.Contains(PlannerKinds(), name)
}

// Routing configures how the words of a goal may plan it.
type Routing struct {
	Planner PlannerKind   `json:"planner,omitempty"` // who plans
	Policy  intent.Policy `json:"policy,omitzero"`
	Facts   intent.Facts  `json:"facts,omitzero"` // about the names in the goal, from the workspace
}

// RouteMatched reports that the words of the goal make the plan, without a model.
type RouteMatched struct {
	Intent     intent.Intent `json:"intent"`     // what the words ask for
	Confidence float64       `json:"confidence"` // in the intent, 0 to 1
	Chain      []string      `json:"chain"`      // the tools in their order, and by a word what a model is to do
}
