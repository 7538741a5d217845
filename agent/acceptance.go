package agent

import "replan/agent/event"

// Acceptance is the evaluation of the acceptance of the current plan.
type Acceptance struct {
	Accepted []event.CheckCompleted // checks that are evaluated, in order

	acceptances int // how often it began
}

// beginAcceptance has the acceptance evaluated, from its first check.
func (a *Acceptance) beginAcceptance() {
	a.Accepted = nil
	a.acceptances++
}

// accept records a check.
func (a *Acceptance) accept(d event.CheckCompleted) { a.Accepted = append(a.Accepted, d) }

// accepted returns the checks that are evaluated, in order.
func (a *Acceptance) accepted() []event.CheckCompleted { return a.Accepted }

// acceptanceOf returns the acceptance of a revision of the plan as what is checked.
func (a *Acceptance) acceptanceOf(b boardView) checkSubject {
	return checkSubject{checks: b.current().Acceptance, done: a.Accepted, number: b.revision(), round: a.acceptances}
}
