package planning

// Planner turns a goal into a plan, one model call at a time. It calls nobody:
// it says which request comes next and absorbs what came back, so that folding
// the same replies again gives the same plan.
type Planner interface {
	// Next returns the request to put to the model now. It returns the same
	// request until Absorb or Fail is called, and false once Outcome is final.
	Next() (Request, bool)
	// Absorb takes the reply to the request that Next returned.
	Absorb(Reply)
	// Fail says that no whole reply came, and why; reply is what did come before
	// it broke off, the zero value for nothing. Planning goes on as far as it
	// can: without the analysis, without the review, and where it was a plan
	// that did not come, with a repair, which counts as made.
	Fail(reason string, reply Reply)
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
	Plan(Brief) Planner
	// Replan returns the planner of what remains after a failure.
	Replan(Brief, Situation) Planner
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
	Plan   Plan    // with OutcomePlanned; after a replan the merged plan, finished steps included
	Diff   Diff    // of a replan, over the steps that remained
	Text   string  // with OutcomeAnalysed, Markdown
	Reason string  // one sentence, with every kind that ends without a plan
	Faults []Fault // with OutcomeEmpty and OutcomeFailed, what was wrong with the last plan; none where the model proposed no step

	// Warnings are what the user should know of a plan that is run all the same,
	// with OutcomePlanned: steps that say nothing particular, and args that hold
	// what should be written when the step is ready.
	Warnings []Fault
}

// Brief is what every request of a run is made from. Requests made from equal
// briefs open with the same messages, byte for byte, so that a server which
// remembers prompts reads them once.
type Brief struct {
	Goal      string
	Catalogue Catalogue // the tools a plan may name
	Prompting Prompting
	MaxSteps  int      // the most steps a plan may have now; 0 means no bound
	Toolless  []string // profiles that a plan may not name, since the model cannot call tools as their sub-agents have to
}

// Situation is where a run stands when a failure, or the user, calls for a new
// plan.
type Situation struct {
	Attempt     int             // which replan of its run this is, from 1
	Plan        Plan            // as it is now
	History     []HistoryItem   // every ended attempt, oldest first
	Finished    map[string]bool // indices of the steps that are done and stay
	Remaining   []Step          // the steps not done, the failed one among them
	Failed      string          // index of the step that failed; "" where the user's word alone calls for a new plan
	Error       string          // what went wrong; without a failed step, what the user said
	Said        string          // what the user said besides; unlike an error it is to be obeyed
	StepsLeft   int             // step executions left; -1 means no bound
	ReplansLeft int             // replans left after this one; -1 means no bound
}
