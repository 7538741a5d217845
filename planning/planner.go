package planning

import (
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Planner turns a goal into a plan, one model call at a time. It calls nobody:
// it says which request comes next and absorbs what came back, so that folding
// the same replies again gives the same plan.
type Planner interface {
	// Next returns the request to put to the model now. It returns the same
	// request until Absorb or Fail is called, and false once Outcome is final.
	Next() (prompt.Request, bool)
	// Absorb takes the reply to the request that Next returned.
	Absorb(reply.Reply)
	// Fail says that no whole reply came, and why; reply is what did come before
	// it broke off, the zero value for nothing. Planning goes on as far as it
	// can: without the analysis, without the review, and where it was a plan
	// that did not come, with a repair, which counts as made.
	Fail(reason string, reply reply.Reply)
	// Outcome is what planning came to; its kind is OutcomePending before that.
	Outcome() Outcome
	// Skipped lists the phases left out so far, in order. One whose reply could
	// not be used is among them: planning goes on as if it had been left out.
	Skipped() []SkippedPhase
}

// Planners makes the planners of a run. A run that is folded again asks again
// with equal arguments and must get equal planners, so that an implementation
// keeps nothing from one call to the next.
type Planners interface {
	// Plan returns the planner of the first plan.
	Plan(prompt.Brief) Planner
	// Replan returns the planner of what remains after a failure.
	Replan(prompt.Brief, prompt.Situation) Planner
}

// SkippedPhase is a phase of planning that was left out.
type SkippedPhase struct {
	Phase  int    // 1 to 3
	Reason string // a few words
}

// OutcomeKind says how planning ended.
type OutcomeKind string

// How planning can end.
const (
	OutcomePending  OutcomeKind = ""         // not yet
	OutcomeDirect   OutcomeKind = "direct"   // no plan is needed: answer the goal
	OutcomePlanned  OutcomeKind = "planned"  // Plan is valid
	OutcomeAnalysed OutcomeKind = "analysed" // phase 3 is switched off; Text is the analysis
	OutcomeEmpty    OutcomeKind = "empty"    // there is no plan: the model proposed no step, or none that is valid after the repairs
	OutcomeGaveUp   OutcomeKind = "gave_up"  // a replan proposed no step
	OutcomeRefused  OutcomeKind = "refused"  // a replan repeated the steps that had failed
	OutcomeSilent   OutcomeKind = "silent"   // no reply came to any request for the first plan: there is no model to be had, or it takes too long
	OutcomeFailed   OutcomeKind = "failed"   // a replan came to no valid plan after the repairs, a first plan stayed too long, or nothing could be asked
)

// Outcome is what planning came to.
type Outcome struct {
	Kind   OutcomeKind
	Plan   plan.Plan    // with OutcomePlanned; after a replan the merged plan, finished steps included
	Diff   plan.Diff    // of a replan, over the steps that remained
	Text   string       // with OutcomeAnalysed, Markdown
	Reason string       // one sentence, with every kind that ends without a plan
	Faults []plan.Fault // with OutcomeEmpty and OutcomeFailed, what was wrong with the last plan; none where the model proposed no step

	// Warnings are what the user should know of a plan that is run all the same,
	// with OutcomePlanned: steps that say nothing particular, and args that hold
	// what should be written when the step is ready.
	Warnings []plan.Fault
}
