package agent

import (
	"maps"
	"slices"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// Attempt is one try of a step, from when it could be made until it ended. A run
// keeps them all in the order in which they began, those of steps that a
// revision took out among them.
type Attempt struct {
	Step     string
	Parent   string // of a call that a model makes, as in StepState
	Number   int    // from 1, over all revisions
	Revision int    // of the plan that it was made for; 0 while that streamed in

	ReadyAt   time.Time // what the step depends on was done
	StartedAt time.Time // zero where it did not come to that
	EndedAt   time.Time // zero where it has not
	MS        int64     // for how long the call itself took, where it came back
	Status    StepStatus
	Failure   event.FailureKind
	Error     string
	RetryAt   time.Time  // of the next one, where it is tried again by itself
	Passed    *rule.Rule // that let a call with effects pass without a gate
	Asked     []Asked    // what the user was asked about it, in its order
}

// Asked is a question about an attempt: its gate, or how to go on after it.
type Asked struct {
	About      AskedAbout
	Why        string // the gate asks
	At         time.Time
	AnsweredAt time.Time   // zero while it is open
	Decision   string      // a Decision, FailureDecision or DoubtDecision
	Scope      event.Scope // of a gate's answer
	By         string      // user, or the option that answered
}

// AskedAbout says what a question is about.
type AskedAbout string

// What a question can be about.
const (
	AskedGate    AskedAbout = "gate"    // whether the call may be made
	AskedFailure AskedAbout = "failure" // how to go on after it failed
	AskedDoubt   AskedAbout = "doubt"   // what became of it
)

// Break is a time in which the run did not go on: from its end to its resume.
type Break struct{ From, To time.Time }

// AttemptsOf returns the attempts of a step in their order.
func (r *Run) AttemptsOf(index string) []Attempt {
	var out []Attempt
	for i := range r.Attempts {
		if r.Attempts[i].Step == index {
			out = append(out, r.Attempts[i])
		}
	}
	return out
}

// attemptOf is the attempt of a step with that number, which begins with this
// where there is none yet. It is valid until the next one begins.
func (r ledger) attemptOf(s *StepState, number int) *Attempt {
	if s.attempts.newest > 0 {
		if a := &r.Attempts[s.attempts.newest-1]; a.Number == number && a.EndedAt.IsZero() {
			return a
		}
	}
	r.Attempts = append(r.Attempts, Attempt{
		Step: s.Step.Index, Parent: s.Parent, Number: number, Revision: r.Revision, ReadyAt: s.ReadyAt, Status: StepPending,
	})
	s.attempts.newest = len(r.Attempts)
	return &r.Attempts[s.attempts.newest-1]
}

// newestOf is the newest attempt of a step, nil before the first.
func (r ledger) newestOf(s *StepState) *Attempt {
	if s.attempts.newest == 0 {
		return nil
	}
	return &r.Attempts[s.attempts.newest-1]
}

// endAttempt notes what an attempt came to.
func (r ledger) endAttempt(s *StepState, number int) {
	a := r.newestOf(s)
	if a == nil || a.Number != number {
		a = r.attemptOf(s, number)
	}
	a.Status, a.Failure, a.Error, a.MS = s.Status, s.Failure, s.Error, s.MS
	if a.EndedAt.IsZero() {
		a.EndedAt = r.Now
	}
	s.ReadyAt = time.Time{} // the next one is ready when it is
}

// endOrphan does so where the plan has moved on since.
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

// dropAttempts ends those that a new plan takes the place of before they began.
func (r ledger) dropAttempts() {
	for _, s := range r.Steps {
		if a := r.newestOf(s); a != nil && a.EndedAt.IsZero() && a.StartedAt.IsZero() {
			a.EndedAt, a.Status = r.Now, StepSkipped
		}
	}
}

// loseAttempts ends those that were under way when the program ended, which was
// at that time. A sub-agent's goes on.
func (r ledger) loseAttempts(last time.Time) {
	r.every(func(s *StepState) {
		if a := r.newestOf(s); a != nil && a.Status == StepRunning && a.EndedAt.IsZero() && s.Loop == nil {
			a.EndedAt, a.Status, a.Failure = last, StepInDoubt, event.FailureInterrupted
			s.ReadyAt = time.Time{}
		}
	})
}

// askedGate notes that the gate of a step's next attempt is open.
func (r ledger) askedGate(s *StepState, d event.GateRequested) {
	a := r.attemptOf(s, s.attempts.total+1)
	a.Status = StepWaiting
	a.Asked = append(a.Asked, Asked{About: AskedGate, Why: d.Rule.Why, At: r.Now})
}

// answeredGate notes the answer to it.
func (r ledger) answeredGate(s *StepState, d event.GateResolved) {
	a := r.newestOf(s)
	if a == nil || len(a.Asked) == 0 {
		return
	}
	a.Status = StepPending
	q := &a.Asked[len(a.Asked)-1]
	q.AnsweredAt, q.Decision, q.Scope, q.By = r.Now, string(d.Decision), d.Scope, d.By
}

// decided notes how a step goes on that failed, or that is in doubt.
func (r ledger) decided(s *StepState, about AskedAbout, decision, by string) {
	if a := r.newestOf(s); a != nil {
		a.Asked = append(a.Asked, Asked{About: about, At: a.EndedAt, AnsweredAt: r.Now, Decision: decision, By: by})
	}
}

// Source says where the value of one argument of a call comes from.
type Source struct {
	Arg     string
	Written any // as plan, user or model have it: with references; nil where the plan leaves it out
	By      Author
	From    []Origin
}

// Author says who wrote an argument.
type Author string

// The authors of an argument.
const (
	AuthorPlan  Author = "plan"
	AuthorUser  Author = "user"  // at a gate, or after a failure
	AuthorModel Author = "model" // when the step was ready, or as a call of its own
)

// Origin is one thing that the value of an argument was made from.
type Origin struct {
	Reference string // as it is written, "" where there is none
	Variable  string // of the plan, "" where it is a result
	Step      string // whose result it is
	Tool      string
	Read      bool // a model had read it when it wrote the argument
}

// Sources says where the values of a step's arguments come from, by name.
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
		source := Source{Arg: arg, Written: args[arg], By: by}
		if s.author.edits == 0 { // what the user writes at a gate is no reference
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

// modelSources are those of arguments that a model wrote when it was asked for
// them.
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

// originOf finds what a reference refers to.
func (r *Run) originOf(ref plan.Reference) Origin {
	for _, s := range r.Steps {
		if s.Step.ResultVariable == ref.Name && ref.Name != "" {
			return Origin{Reference: ref.String(), Step: s.Step.Index, Tool: s.Step.Tool}
		}
	}
	return Origin{Reference: ref.String(), Variable: ref.Name}
}
