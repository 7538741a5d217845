package agent

import (
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// recorder records the attempts of steps, and what became of them.
type recorder struct {
	ledger *Ledger
	clock  *Clock
	board  *Board
	steps  *roster
}

// attemptOf returns the attempt of a step with the given number, and adds it if
// there is none. The pointer is valid until the next attempt begins.
func (r *recorder) attemptOf(s *StepState, number int) *Attempt {
	if a := r.newestOf(s); a != nil {
		if a.Number == number && a.EndedAt.IsZero() {
			return a
		}
	}
	at := r.ledger.begun(Attempt{
		Step: s.Step.Index, Parent: s.Parent, Number: number, Revision: r.board.Revision, ReadyAt: s.ReadyAt, Status: StepPending,
		DependsOn: r.board.needs(s),
	})
	s.attempted(at)
	return r.ledger.attempt(at)
}

// begin records the start of an attempt, and the rule that let it pass without a gate.
func (r *recorder) begin(s *StepState, passed *rule.Rule) {
	a := r.attemptOf(s, s.Attempt)
	a.Status, a.StartedAt, a.Passed = StepRunning, r.clock.Now, passed
	s.attemptEnds()
}

// skip ends an attempt that has not begun, since its step is gone.
func (r *recorder) skip(s *StepState) {
	if a := r.newestOf(s); a != nil && a.EndedAt.IsZero() {
		a.EndedAt, a.Status = r.clock.Now, StepSkipped
	}
}

// retryAt records when the next attempt begins.
func (r *recorder) retryAt(s *StepState, at time.Time) {
	if a := r.newestOf(s); a != nil {
		a.RetryAt = at
	}
}

// takenOver records that a step has taken over the attempts of a draft, which may have had
// another index.
func (r *recorder) takenOver(s *StepState) {
	if a := r.newestOf(s); a != nil {
		a.Step = s.Step.Index
	}
}

// newestOf returns the newest attempt of a step, or nil before the first.
func (r *recorder) newestOf(s *StepState) *Attempt {
	at, ok := s.newestAttempt()
	if !ok {
		return nil
	}
	return r.ledger.attempt(at)
}

// endAttempt records the outcome of an attempt.
func (r *recorder) endAttempt(s *StepState, number int) {
	a := r.newestOf(s)
	if a == nil || a.Number != number {
		a = r.attemptOf(s, number)
	}
	a.Status, a.Failure, a.Error, a.MS = s.Status, s.Failure, s.Error, s.MS
	if a.EndedAt.IsZero() {
		a.EndedAt = r.clock.Now
	}
	s.attemptEnds()
}

// endOrphan ends an attempt whose step the plan no longer has.
func (r *recorder) endOrphan(index string, number int, status StepStatus, ms int64) {
	if a := r.ledger.attemptOf(index, number); a != nil && a.EndedAt.IsZero() {
		a.EndedAt, a.Status, a.MS = r.clock.Now, status, ms
	}
}

// dropAttempts ends attempts that a new plan replaces before they began.
func (r *recorder) dropAttempts() {
	for _, s := range r.board.Steps {
		if a := r.newestOf(s); a != nil && a.EndedAt.IsZero() && a.StartedAt.IsZero() {
			a.EndedAt, a.Status = r.clock.Now, StepSkipped
		}
	}
}

// loseAttempts ends the attempts that were running when the program ended, at the
// time last. Attempts of sub-agents continue.
func (r *recorder) loseAttempts(last time.Time) {
	r.steps.every(func(s *StepState) {
		if a := r.newestOf(s); a != nil && a.Status == StepRunning && a.EndedAt.IsZero() && s.Loop == nil {
			a.EndedAt, a.Status, a.Failure = last, StepInDoubt, event.FailureInterrupted
			s.attemptEnds()
		}
	})
}

// askedGate records the open gate of a step's next attempt.
func (r *recorder) askedGate(s *StepState, d event.GateRequested) {
	a := r.attemptOf(s, s.nextAttempt())
	a.Status = StepWaiting
	a.Asked = append(a.Asked, Asked{About: AskedGate, Why: d.Rule.Why, At: r.clock.Now})
}

// answeredGate records the answer to that gate.
func (r *recorder) answeredGate(s *StepState, d event.GateResolved) {
	a := r.newestOf(s)
	if a == nil || len(a.Asked) == 0 {
		return
	}
	a.Status = StepPending
	q := &a.Asked[len(a.Asked)-1]
	q.AnsweredAt, q.Decision, q.Scope, q.By, q.Reason = r.clock.Now, string(d.Decision), d.Scope, d.By, d.Reason
}

// decided records how a step continues that failed or is in doubt.
func (r *recorder) decided(s *StepState, about AskedAbout, decision, by string) {
	if a := r.newestOf(s); a != nil {
		a.Asked = append(a.Asked, Asked{About: about, At: a.EndedAt, AnsweredAt: r.clock.Now, Decision: decision, By: by})
	}
}

// record adds the ended attempt to the history.
func (r *recorder) record(s *StepState, status plan.ItemStatus) {
	item := plan.HistoryItem{
		Index: s.Step.Index, Parent: s.Parent, Title: s.Step.Title, Tool: s.Step.Tool, Args: s.Args,
		ExpectedOutcome: s.Step.ExpectedOutcome, Status: status, Attempt: s.Attempt, Error: s.Error, MS: s.MS, Beside: s.Beside,
	}
	if status == plan.ItemCompleted {
		item.Result = s.Result
	}
	r.ledger.add(item)
}

// takeBack removes an attempt that continues from the history.
func (r *recorder) takeBack(s *StepState, number int) { r.ledger.remove(s.Step.Index, number) }

// amend records what the checks say about the last attempt of a step.
func (r *recorder) amend(s *StepState, status plan.ItemStatus) {
	r.endAttempt(s, s.Attempt)
	r.ledger.amend(s.Step.Index, s.Attempt, func(item *plan.HistoryItem) {
		if item.Status, item.Error = status, s.Error; status == plan.ItemCompleted {
			item.Result = s.Result
		}
	})
}

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

	Reason untrusted.Text // of a denial, in the user's words
}

// Declined reports whether the user said no to the call.
func (a Asked) Declined() bool {
	return a.About == AskedGate && event.GateResolved{Decision: event.Decision(a.Decision), By: a.By}.Declined()
}

// AskedAbout is the subject of a question.
type AskedAbout string

// Subjects of a question.
const (
	AskedGate    AskedAbout = "gate"    // whether the call may be made
	AskedFailure AskedAbout = "failure" // how to continue after it failed
	AskedDoubt   AskedAbout = "doubt"   // whether it took effect
)
