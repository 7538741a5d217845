package event

import "replan/planning/plan"

// ElicitationRequested reports that a server asks the user a question in the middle
// of a call. The step continues with the answer; its time does not run until then.
type ElicitationRequested struct {
	ID      string `json:"id"` // unique within a run
	Step    string `json:"step"`
	Attempt int    `json:"attempt"`
	plan.Elicitation
}

// ElicitationResolved reports how a question of a server was answered. The answer
// itself is not recorded.
type ElicitationResolved struct {
	ID      string                 `json:"id"`
	Step    string                 `json:"step"`
	Attempt int                    `json:"attempt"`
	Action  plan.ElicitationAction `json:"action"`
	By      string                 `json:"by"` // user, or why no one answered
}

// Kind returns the kind of the event.
func (ElicitationRequested) Kind() Kind { return KindElicitationRequested }

// Kind returns the kind of the event.
func (ElicitationResolved) Kind() Kind { return KindElicitationResolved }

// Resolved returns the end of the question.
func (e ElicitationRequested) Resolved(action plan.ElicitationAction, by string) ElicitationResolved {
	return ElicitationResolved{ID: e.ID, Step: e.Step, Attempt: e.Attempt, Action: action, By: by}
}
