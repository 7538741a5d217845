package planning

import (
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Planner turns a goal into a plan, one model call at a time. It makes no calls
// itself: it returns the next request and absorbs the reply. The same replies
// therefore give the same plan.
type Planner interface {
	// Next returns the request to send to the model now. It returns the same
	// request until Absorb or Fail is called, and false once Outcome is final.
	Next() (prompt.Request, bool)
	// Absorb takes the reply to the request that Next returned.
	Absorb(reply.Reply)
	// Fail reports a missing reply, with the reason; reply is the part received
	// before it broke off, or the zero value. Planning continues if possible:
	// without the analysis, without the review, and for a missing plan with a
	// repair, which counts toward MaxRepairs.
	Fail(reason string, reply reply.Reply)
	// Outcome returns the result of planning; its kind is OutcomePending before
	// the end.
	Outcome() Outcome
	// Skipped returns the phases skipped so far, in order. They include phases
	// with an unusable reply, after which planning continues as if they had been
	// skipped.
	Skipped() []SkippedPhase
}

// Looker is a planner that wants calls carried out before it asks a model. A [Planner]
// may also implement Looker.
type Looker interface {
	// Looks returns the read-only steps whose results the planner waits for. It
	// returns none once Looked has been called, and Next is called only then.
	Looks() []plan.Step
	// Looked takes the results of the steps that were done, in the order of their ends.
	Looked([]plan.HistoryItem)
}

// Planners makes the planners of a run. Replaying a run calls it again with equal
// arguments and must get equal planners, so an implementation keeps no state
// between calls.
type Planners interface {
	// Plan returns the planner of the first plan.
	Plan(prompt.Brief) Planner
	// Replan returns the planner of the remaining work after a failure.
	Replan(prompt.Brief, prompt.Situation) Planner
}

// SkippedPhase is a planning phase that was skipped.
type SkippedPhase struct {
	Phase  int    // 1 to 3
	Reason string // a few words
}

// OutcomeKind is the kind of result that planning ended with.
type OutcomeKind string

// Kinds of planning results.
const (
	OutcomePending  OutcomeKind = ""         // not yet
	OutcomeDirect   OutcomeKind = "direct"   // answer the goal without a plan
	OutcomePlanned  OutcomeKind = "planned"  // Plan is valid
	OutcomeAnalyzed OutcomeKind = "analysed" // phase 3 is disabled; Text is the analysis
	OutcomeEmpty    OutcomeKind = "empty"    // there is no plan: the model proposed no step, or no valid one after the repairs
	OutcomeGaveUp   OutcomeKind = "gave_up"  // a replan proposed no step
	OutcomeRefused  OutcomeKind = "refused"  // a replan repeated the steps that had failed
	OutcomeSilent   OutcomeKind = "silent"   // every request for the first plan failed: the model is unavailable or too slow
	OutcomeFailed   OutcomeKind = "failed"   // a replan stayed invalid after its repairs, a first plan stayed too long, or nothing could be asked
)

// Outcome is the result of planning.
type Outcome struct {
	Kind   OutcomeKind
	Plan   plan.Plan    // with OutcomePlanned; after a replan the merged plan, including finished steps
	Diff   plan.Diff    // of a replan, for the remaining steps
	Text   string       // with OutcomeAnalyzed, Markdown
	Reason string       // one sentence, for every kind without a plan
	Faults []plan.Fault // with OutcomeEmpty and OutcomeFailed, the faults of the last plan; none if the model proposed no step

	// Warnings are for the user of a plan that runs anyway, with
	// OutcomePlanned: steps without particulars, and args better written when the
	// step is ready.
	Warnings []plan.Fault
}
