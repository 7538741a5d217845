package runner

import (
	"replan/agent"
	"replan/agent/event"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// Command is what the screen or the command line asks of a session.
type Command interface{ command() }

// Submit sends what the user typed. While a run goes on it is queued. A line
// that begins with a slash is a command, see [Config.Slash]. What the line names by
// an @ goes with it; where that cannot be read, the line comes back as
// session.Returned. A line that begins with a blank is not remembered.
type Submit struct{ Text string }

// Unqueue takes out of the queue what waits in it. With Back it is given back, as
// session.Returned.
type Unqueue struct {
	ID   int // see session.QueuedJob
	Back bool
}

// Create has a goal planned, and the plan stored rather than run.
type Create struct{ Goal string }

// Execute carries out a plan as it is. While a run goes on it is queued.
type Execute struct {
	Plan       plan.Plan
	OnFailure  plan.OnFailure // where neither step nor plan says; "" is abort
	Synthesize bool           // have an answer written at the end
	Strict     bool           // args are not fitted to the types that tools ask for
}

// Resume takes up a run that was interrupted or failed, by its whole id. While a
// run goes on it is queued.
type Resume struct{ Run string }

// Resolve answers an open gate, by the run (or session) and the gate's id. An
// answer for always saves the rule that the gate shows.
type Resolve struct {
	Run      string
	Gate     string
	Decision event.Decision
	Scope    event.Scope
}

// Edit has other arguments take the place of those at an open gate, which opens
// again for the call as it is then. Those that do not fit the tool are refused.
type Edit struct {
	Run  string
	Gate string
	Args map[string]any // whole, and without references
}

// Review answers a plan that is held: it runs as it was changed, or is refused.
// What does not make a valid plan is not taken, and the plan waits on.
type Review struct {
	Run    string
	Answer agent.ReviewAnswer
}

// Hold says whether the plans of the runs that come are held to be looked over.
type Hold struct{ On bool }

// Settle says what is to become of a step that is in doubt.
type Settle struct {
	Run      string
	Step     string
	Decision event.DoubtDecision
}

// Decide says how the run goes on after a step that failed. Where the run has
// ended with it, the run is resumed first.
type Decide struct {
	Run      string
	Step     string
	Decision event.FailureDecision
	Args     map[string]any // with a retry: in place of the plan's; nil keeps those
}

// Cancel stops one running step; the others go on.
type Cancel struct {
	Run  string
	Step string
}

// Stop stops the run that goes on: its model call, its tools and their
// children. The run can be resumed.
type Stop struct{}

// Steer speaks to the run that goes on: a model at work hears it with its next
// turn, else what remains of the plan is planned anew. Where nothing goes on that
// could hear it, it is submitted.
type Steer struct{ Text string }

// Choose changes what the session works by, from the next run on; what is nil
// stays as it is.
type Choose struct {
	Model   *string // "" is the server's first that can use tools
	Think   *prompt.ThinkLevel
	Profile *string // "" is none
}

// Warm has the model loaded, since something will be asked soon. Where it is
// still loaded from a short while ago nothing is done.
type Warm struct{}

// Compact has the oldest turns of the conversation summed up, or with Undo puts
// them back.
type Compact struct{ Undo bool }

// Undo puts back what a run and the runs inside it changed, by its whole id.
// [Session.PreviewUndo] says what that would do; a refusal comes as
// session.UndoRefused.
type Undo struct{ Run string }

// Look asks anew for what the session works with: the model, its server, and the
// tool servers that had failed. What is found comes as session.Status.
type Look struct{}

// Restart ends a tool server and starts it anew. Calls of it that are under way
// fail.
type Restart struct{ Server string }

func (Look) command()    {}
func (Restart) command() {}
func (Undo) command()    {}
func (Unqueue) command() {}
func (Submit) command()  {}
func (Create) command()  {}
func (Execute) command() {}
func (Resume) command()  {}
func (Resolve) command() {}
func (Edit) command()    {}
func (Review) command()  {}
func (Hold) command()    {}
func (Settle) command()  {}
func (Decide) command()  {}
func (Cancel) command()  {}
func (Stop) command()    {}
func (Steer) command()   {}
func (Choose) command()  {}
func (Warm) command()    {}
func (Compact) command() {}
