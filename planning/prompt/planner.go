package prompt

import (
	"errors"

	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Brief is the common source of all requests of a run. Requests of equal briefs
// begin with the same messages, byte for byte, so that a server with a prompt
// cache reads them only once.
type Brief struct {
	Goal      string
	Catalog   plan.Catalog // tools a plan may name
	Withheld  plan.Catalog // tools it may not name, since their servers have changed them
	Prompting Prompting
	Looks     []plan.Step        // calls that look at what the goal names, before a model plans; the plan begins with them
	Looked    []plan.HistoryItem // those of them that are done
	// LooksSuffice means that the looks are the whole plan: the goal asks about nothing else.
	LooksSuffice bool
	MaxSteps     int      // maximum number of steps in a plan now; 0 means no bound
	Found        []string // names of the tools that the model has found in this loop, the newest first; they are offered
	Toolless     []string // profiles that a plan may not name, since the models of their sub-agents cannot call tools, or not choose their calls
}

// Situation is the state of a run when a failure, or the user, requires a new
// plan.
type Situation struct {
	Attempt     int                // number of the replan in its run, from 1
	Plan        plan.Plan          // the current plan
	History     []plan.HistoryItem // every ended attempt, oldest first
	Finished    map[string]bool    // indices of the completed steps, which stay
	Remaining   []plan.Step        // unfinished steps, including the failed one
	Failed      string             // index of the failed step; "" if only the user's remark requires a new plan
	Error       string             // the error; without a failed step, the user's words
	Remarks     string             // other remarks of the user; unlike an error, the model must follow them
	StepsLeft   int                // step executions left; -1 means no bound
	ReplansLeft int                // replans left after this one; -1 means no bound
}

// ModelTrouble is the cause of a missing model, for code that helps the user
// instead of repeating the sentence.
type ModelTrouble struct {
	Kind   TroubleKind      `json:"kind"`
	Host   untrusted.Text   `json:"host,omitempty"`   // of the model server
	Model  untrusted.Text   `json:"model,omitempty"`  // the requested model; "" for any
	Models []untrusted.Text `json:"models,omitempty"` // available on the server instead
	Start  bool             `json:"start,omitempty"`  // the server can be started on this machine
	Pull   untrusted.Text   `json:"pull,omitempty"`   // the model to pull: the requested one, or one that fits the machine; "" if a pull does not help
}

// TroubleKind is a kind of trouble with a model.
type TroubleKind string

// Kinds of trouble.
const (
	TroubleUnreachable TroubleKind = "unreachable" // no server answers
	TroubleNoModels    TroubleKind = "no_models"   // the server has no models
	TroubleMissing     TroubleKind = "missing"     // the server lacks the requested model
	TroubleUnfit       TroubleKind = "unfit"       // its models cannot chat, or cannot use tools
	TroubleOther       TroubleKind = "other"       // the sentence has the details
)

// TroubleOf returns the trouble if err wraps ErrNoModel, else the zero value.
func TroubleOf(err error) ModelTrouble {
	if !errors.Is(err, ErrNoModel) {
		return ModelTrouble{}
	}
	var carrier interface{ Trouble() ModelTrouble }
	if errors.As(err, &carrier) {
		return carrier.Trouble()
	}
	return ModelTrouble{Kind: TroubleOther}
}
