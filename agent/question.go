package agent

import (
	"slices"

	"replan/agent/event"
	"replan/internal/untrusted"
)

// OpenQuestions are what a run asks the user besides gates.
type OpenQuestions struct {
	Elicitations []event.ElicitationRequested // open questions of servers, oldest first

	open []*StepState // steps that wait for the user's decision, oldest first
	lost []*StepState // steps that were running when the program ended, whose doubt is not recorded
}

// Question is a step that waits for the user's decision. It is in doubt, or it
// failed and a user is present to decide how the run continues. While a question
// is open, nothing new starts.
type Question struct {
	Step     string // index
	Doubt    bool   // answered by doubt.resolved, otherwise by failure.resolved
	Title    untrusted.Text
	Tool     string
	Args     map[string]any // as resolved for the attempt, or as in the plan
	Reason   untrusted.Text // the error, or why there is doubt
	Denied   bool           // denied at its gate or by a rule: nothing was done
	Declined bool           // the user said no to it
	Replan   bool           // the rest can be replanned
}

// asks reports whether a step waits for the user's decision.
func (q *OpenQuestions) asks() bool { return len(q.open) > 0 }

// waiting returns the steps that wait for the user's decision, oldest first.
func (q *OpenQuestions) waiting() []*StepState { return slices.Clone(q.open) }

// undecided returns the views of the steps that wait for the user's decision, oldest first.
func (q *OpenQuestions) undecided() []stepView { return viewsOf(q.open) }

// unrecorded returns the views of the steps whose doubt is not recorded.
func (q *OpenQuestions) unrecorded() []stepView { return viewsOf(q.lost) }

// add opens the question about a step.
func (q *OpenQuestions) add(s *StepState) { q.open = append(q.open, s) }

// remove closes the question about a step.
func (q *OpenQuestions) remove(s *StepState) {
	q.open = slices.DeleteFunc(q.open, func(o *StepState) bool { return o == s })
}

// closeAll closes all questions about steps.
func (q *OpenQuestions) closeAll() { q.open = nil }

// lose records a step that was running when the program ended.
func (q *OpenQuestions) lose(s *StepState) { q.lost = append(q.lost, s) }

// found records that the doubt about a lost step is recorded.
func (q *OpenQuestions) found(index string, attempt int) {
	q.lost = slices.DeleteFunc(q.lost, func(l *StepState) bool { return l.Step.Index == index && l.Attempt == attempt })
}

// forgetLost drops the lost steps.
func (q *OpenQuestions) forgetLost() { q.lost = nil }

// elicit opens the question of a server.
func (q *OpenQuestions) elicit(d event.ElicitationRequested) {
	q.Elicitations = append(q.Elicitations, d)
}

// settle closes the question of a server.
func (q *OpenQuestions) settle(id string) {
	q.dropElicitations(func(e event.ElicitationRequested) bool { return e.ID == id })
}

// dropElicitations closes the questions of servers that are out of date.
func (q *OpenQuestions) dropElicitations(outOfDate func(event.ElicitationRequested) bool) {
	q.Elicitations = slices.DeleteFunc(q.Elicitations, outOfDate)
}
