package agent

import (
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
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

// attemptOf returns the attempt of a step with the given number, and adds it if
// there is none. The pointer is valid until the next attempt begins.
func (r ledger) attemptOf(s *StepState, number int) *Attempt {
	if s.attempts.newest > 0 {
		if a := &r.Attempts[s.attempts.newest-1]; a.Number == number && a.EndedAt.IsZero() {
			return a
		}
	}
	r.Attempts = append(r.Attempts, Attempt{
		Step: s.Step.Index, Parent: s.Parent, Number: number, Revision: r.Revision, ReadyAt: s.ReadyAt, Status: StepPending,
		DependsOn: decision(r).needs(s),
	})
	s.attempts.newest = len(r.Attempts)
	return &r.Attempts[s.attempts.newest-1]
}

// newestOf returns the newest attempt of a step, or nil before the first.
func (r ledger) newestOf(s *StepState) *Attempt {
	if s.attempts.newest == 0 {
		return nil
	}
	return &r.Attempts[s.attempts.newest-1]
}

// endAttempt records the outcome of an attempt.
func (r ledger) endAttempt(s *StepState, number int) {
	a := r.newestOf(s)
	if a == nil || a.Number != number {
		a = r.attemptOf(s, number)
	}
	a.Status, a.Failure, a.Error, a.MS = s.Status, s.Failure, s.Error, s.MS
	if a.EndedAt.IsZero() {
		a.EndedAt = r.Now
	}
	s.ReadyAt = time.Time{} // the next attempt sets its own
}

// endOrphan ends an attempt whose step the plan no longer has.
func (r ledger) endOrphan(index string, number int, status StepStatus, ms int64) {
	for i := len(r.Attempts) - 1; i >= 0; i-- {
		if a := &r.Attempts[i]; a.Step == index && a.Number == number {
			if a.EndedAt.IsZero() {
				a.EndedAt, a.Status, a.MS = r.Now, status, ms
			}
			return
		}
	}
}

// dropAttempts ends attempts that a new plan replaces before they began.
func (r ledger) dropAttempts() {
	for _, s := range r.Steps {
		if a := r.newestOf(s); a != nil && a.EndedAt.IsZero() && a.StartedAt.IsZero() {
			a.EndedAt, a.Status = r.Now, StepSkipped
		}
	}
}

// loseAttempts ends the attempts that were running when the program ended, at the
// time last. Attempts of sub-agents continue.
func (r ledger) loseAttempts(last time.Time) {
	r.every(func(s *StepState) {
		if a := r.newestOf(s); a != nil && a.Status == StepRunning && a.EndedAt.IsZero() && s.Loop == nil {
			a.EndedAt, a.Status, a.Failure = last, StepInDoubt, event.FailureInterrupted
			s.ReadyAt = time.Time{}
		}
	})
}

// askedGate records the open gate of a step's next attempt.
func (r ledger) askedGate(s *StepState, d event.GateRequested) {
	a := r.attemptOf(s, s.attempts.total+1)
	a.Status = StepWaiting
	a.Asked = append(a.Asked, Asked{About: AskedGate, Why: d.Rule.Why, At: r.Now})
}

// answeredGate records the answer to that gate.
func (r ledger) answeredGate(s *StepState, d event.GateResolved) {
	a := r.newestOf(s)
	if a == nil || len(a.Asked) == 0 {
		return
	}
	a.Status = StepPending
	q := &a.Asked[len(a.Asked)-1]
	q.AnsweredAt, q.Decision, q.Scope, q.By = r.Now, string(d.Decision), d.Scope, d.By
}

// decided records how a step continues that failed or is in doubt.
func (r ledger) decided(s *StepState, about AskedAbout, decision, by string) {
	if a := r.newestOf(s); a != nil {
		a.Asked = append(a.Asked, Asked{About: about, At: a.EndedAt, AnsweredAt: r.Now, Decision: decision, By: by})
	}
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

// Sources returns the origins of a step's arguments, sorted by name.
func (r *Run) Sources(s *StepState) []Source {
	if s.inner.loop != nil {
		return r.modelSources(s.Step.Args, r.provenance(s))
	}
	args, by := s.args(), AuthorPlan
	if s.author.args != nil {
		by = AuthorUser
	}
	var out []Source
	for _, arg := range slices.Sorted(maps.Keys(args)) {
		source := Source{Arg: s.argName(arg), Written: args[arg], By: by}
		if s.author.edits == 0 { // text the user enters at a gate is no reference
			for _, ref := range plan.References(args[arg]) {
				source.From = append(source.From, r.originOf(ref))
			}
		}
		if s.author.args == nil {
			for _, p := range s.author.read {
				source.From = append(source.From, Origin{Step: p.Step, Tool: p.Tool, Read: true})
			}
		}
		out = append(out, source)
	}
	if len(s.fill.args) > 0 {
		var read []rule.Provenance
		for _, p := range r.provenance(s) {
			if p.Written && p.Arg != "" {
				read = append(read, p)
			}
		}
		out = append(out, r.modelSources(s.fill.args, read)...)
	}
	slices.SortStableFunc(out, func(a, b Source) int { return plan.CompareIndices(a.Arg, b.Arg) })
	return out
}

// modelSources returns the sources of arguments that a model wrote on request.
func (r *Run) modelSources(args map[string]any, read []rule.Provenance) []Source {
	var out []Source
	for _, arg := range slices.Sorted(maps.Keys(args)) {
		source := Source{Arg: arg, By: AuthorModel}
		for _, p := range read {
			if p.Arg == arg || p.Arg == "" {
				source.From = append(source.From, Origin{Step: p.Step, Tool: p.Tool, Read: true})
			}
		}
		out = append(out, source)
	}
	return out
}

// originOf returns what a reference refers to.
func (r *Run) originOf(ref plan.Reference) Origin {
	for _, s := range r.Steps {
		if s.Step.ResultVariable == ref.Name && ref.Name != "" {
			return Origin{Reference: ref.String(), Step: s.Step.Index, Tool: s.Step.Tool}
		}
	}
	return Origin{Reference: ref.String(), Variable: ref.Name}
}
