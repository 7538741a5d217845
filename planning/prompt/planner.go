package prompt

import "replan/planning/plan"

// Brief is the common source of all requests of a run. Requests of equal briefs
// begin with the same messages, byte for byte, so that a server with a prompt
// cache reads them once.
type Brief struct {
	Goal      string
	Catalogue plan.Catalogue // the tools a plan may name
	Prompting Prompting
	MaxSteps  int      // the most steps a plan may have now; 0 means no bound
	Toolless  []string // profiles that a plan may not name, since the model cannot call tools as their sub-agents have to
}

// Situation is where a run stands when a failure, or the user, calls for a new
// plan.
type Situation struct {
	Attempt     int                // which replan of its run this is, from 1
	Plan        plan.Plan          // as it is now
	History     []plan.HistoryItem // every ended attempt, oldest first
	Finished    map[string]bool    // indices of the steps that are done and stay
	Remaining   []plan.Step        // the steps not done, the failed one among them
	Failed      string             // index of the step that failed; "" where the user's word alone calls for a new plan
	Error       string             // the error; without a failed step, the user's words
	Said        string             // other words of the user; unlike an error they are to be obeyed
	StepsLeft   int                // step executions left; -1 means no bound
	ReplansLeft int                // replans left after this one; -1 means no bound
}
