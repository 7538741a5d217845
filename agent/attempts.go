package agent

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
)

// Attempt is one try of a step, from when it could start until it ended. A run
// keeps all attempts in the order in which they began, including those of steps
// that a revision removed.
type Attempt struct {
	Step     string
	Parent   string // of a call made by a model, as in StepState
	Number   int    // from 1, across all revisions
	Revision int    // of the plan it was made for; 0 while the plan was streaming in

	DependsOn []string  // the steps it waited for, those that its arguments refer to included
	ReadyAt   time.Time // when all dependencies were done
	StartedAt time.Time // zero if it never started
	EndedAt   time.Time // zero if it has not ended
	MS        int64     // duration of the call itself, if it returned
	Status    StepStatus
	Failure   event.FailureKind
	Error     untrusted.Text
	RetryAt   time.Time  // of the next attempt, if retried automatically
	Passed    *rule.Rule // the rule that let a call with effects pass without a gate
	Asked     []Asked    // questions to the user about it, in order
}

// Asked is a question about an attempt: its gate, or how to continue after it.
type Asked struct {
	About      AskedAbout
	Why        untrusted.Text // the reason for the gate
	At         time.Time
	AnsweredAt time.Time   // zero while the question is open
	Decision   string      // a Decision, FailureDecision or DoubtDecision
	Scope      event.Scope // of a gate's answer
	By         string      // the user, or the option that answered
}

// AskedAbout is the subject of a question.
type AskedAbout string

// Subjects of a question.
const (
	AskedGate    AskedAbout = "gate"    // whether the call may be made
	AskedFailure AskedAbout = "failure" // how to continue after it failed
	AskedDoubt   AskedAbout = "doubt"   // whether it took effect
)

// AttemptsOf returns the attempts of a step, in order.
func (r *Run) AttemptsOf(index string) []Attempt {
	var out []Attempt
	for i := range r.Attempts {
		if r.Attempts[i].Step == index {
			out = append(out, r.Attempts[i])
		}
	}
	return out
}

// Source is the origin of the value of one argument of a call.
type Source struct {
	Arg     string
	Written any // as written by plan, user or model, with references; nil if the plan leaves it out
	By      Author
	From    []Origin
}

// Author is the writer of an argument.
type Author string

// Authors of an argument.
const (
	AuthorPlan  Author = "plan"
	AuthorUser  Author = "user"  // at a gate, or after a failure
	AuthorModel Author = "model" // when the step was ready, or as a call of the model itself
)

// Origin is one input from which the value of an argument was made.
type Origin struct {
	Reference string // as written; "" if there is none
	Variable  string // of the plan; "" for a result
	Step      string // that produced the result
	Tool      string
	Read      bool // a model had read it when writing the argument
}
