package event

import (
	"encoding/json"
	"time"

	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/expression"
	"replan/planning/pace"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// RunStarted starts a run. It carries everything that decides what the run may
// do, so that applying the events needs nothing else.
type RunStarted struct {
	Goal      untrusted.Text   `json:"goal"`
	Workspace string           `json:"workspace"`        // absolute path of the run's folder
	Copied    bool             `json:"copied,omitempty"` // the run works in a copy of the folder, until its changes are taken
	Session   string           `json:"session,omitempty"`
	Outer     string           `json:"outer,omitempty"` // the run whose model requested this one
	Model     string           `json:"model"`           // "" if there is none
	Limits    Limits           `json:"limits"`
	Rules     []rule.Rule      `json:"rules"` // gate rules, see rule.Rule
	Catalog   plan.Catalog     `json:"catalogue"`
	Priors    map[string]int64 `json:"priors"`    // median duration seen per tool, ms
	Prompting prompt.Prompting `json:"prompting"` // input for planning: instructions, conversation, phases

	// Read is the untrusted text that the models of the run know from before. It is from
	// the conversation, or from the run whose model requested this one.
	Read []rule.Provenance `json:"read,omitempty"`

	Plan            *plan.Plan     `json:"plan,omitempty"`             // executed as it is; nil plans the goal
	OnFailure       plan.OnFailure `json:"on_failure,omitempty"`       // where neither step nor plan says: replan for a goal, abort for a plan; given with a goal, it overrides the plan of the planner
	PlanOnly        bool           `json:"plan_only,omitempty"`        // the run ends after planning
	SkipSynthesis   bool           `json:"skip_synthesis,omitempty"`   // do not write an answer at the end
	Strict          bool           `json:"strict,omitempty"`           // do not fit args to the schemas of tools; also if Prompting is strict
	DryRun          bool           `json:"dry_run,omitempty"`          // resolve and report steps without calling anything
	RequireVerified bool           `json:"require_verified,omitempty"` // a run with less than verified evidence has failed
	Review          bool           `json:"review,omitempty"`           // hold every plan of the run for review before its steps start
	Attended        bool           `json:"attended,omitempty"`         // a user is present to decide about steps that failed or are in doubt
	InDoubt         DoubtDecision  `json:"in_doubt,omitempty"`         // automatic decision for steps in doubt; "" asks, or aborts if no user is present

	Routing Routing `json:"routing,omitzero"` // who plans the goal, and how its words may plan it
	Dirty   int     `json:"dirty,omitempty"`  // workspace files with uncommitted changes; 0 without git
}

// RunPaused reports that the user stopped the run: nothing new starts.
type RunPaused struct {
	Reason untrusted.Text `json:"reason"`
}

// RunCompleted ends a run; the JSON form of its data is the Result itself.
type RunCompleted struct {
	Result
}

// PhaseStarted reports that the model was asked for a planning phase.
type PhaseStarted struct {
	Phase   int            `json:"phase"` // 1 to 3
	Label   string         `json:"label"` // analysis, review, plan
	Request prompt.Request `json:"request"`
}

// PhaseDelta is a streamed piece of a phase's text. Passing.
type PhaseDelta struct {
	Phase    int    `json:"phase"`
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// PhaseCompleted carries the complete reply of a phase, so that planning can
// resume after it.
type PhaseCompleted struct {
	Phase  int         `json:"phase"`
	Label  string      `json:"label"`
	Reply  reply.Reply `json:"reply"`
	Tokens int         `json:"tokens"` // prompt and completion
	MS     int64       `json:"ms"`
}

// PhaseSkipped reports why a phase was skipped.
type PhaseSkipped struct {
	Phase  int            `json:"phase"`
	Label  string         `json:"label"`
	Reason untrusted.Text `json:"reason"`
}

// PhaseFailed reports that the model gave no reply in a phase.
type PhaseFailed struct {
	Phase  int            `json:"phase"`
	Label  string         `json:"label"`
	Reason untrusted.Text `json:"reason"`

	Failure FailureKind `json:"failure,omitempty"`
	Reply   reply.Reply `json:"reply"` // possibly incomplete
}

// PlanDrafting is one complete step, parsed while the plan was still streaming
// in.
type PlanDrafting struct {
	Step plan.Step `json:"step"`
}

// PlanCreated carries the plan that the run executes.
type PlanCreated struct {
	Plan     plan.Plan `json:"plan"`
	Revision int       `json:"revision"` // 1
}

// PlanEmpty reports that the planner proposed no steps.
type PlanEmpty struct {
	Reason untrusted.Text `json:"reason"`
}

// PlanDiff reports how a replan changed the remaining steps. It carries the
// current plan, including finished steps.
type PlanDiff struct {
	Revision int            `json:"revision"` // from 2
	Reason   untrusted.Text `json:"reason"`   // the failure that led to it
	Removed  []string       `json:"removed"`  // indices
	Added    []string       `json:"added"`
	Revised  []string       `json:"revised"` // same index, different tool or args
	Plan     plan.Plan      `json:"plan"`
}

// Attempt identifies one try of one step.
type Attempt struct {
	Index  string // of the step
	Number int    // from 1
}

// StepStarted reports that an attempt of a step is about to begin. It is on disk
// before anything is called.
type StepStarted struct {
	Index           string          `json:"index"`
	Parent          string          `json:"parent,omitempty"` // the agent step that makes this call, or prompt.ChatParent
	Attempt         int             `json:"attempt"`          // from 1, across all revisions
	Title           untrusted.Text  `json:"title"`
	Executor        plan.Executor   `json:"executor"`
	Tool            string          `json:"tool,omitempty"`
	DependsOn       []string        `json:"depends_on"` // by name and by reference
	ExpectedOutcome untrusted.Text  `json:"expected_outcome,omitempty"`
	Args            map[string]any  `json:"args"`              // as resolved
	Coerced         []plan.Coercion `json:"coerced,omitempty"` // args that were fitted to the schema of the tool
	Draft           bool            `json:"draft,omitempty"`   // started while the plan was streaming in
	Request         *prompt.Request `json:"request,omitempty"` // set if the model answers the step in text

	Rule       *rule.Rule        `json:"rule,omitempty"`       // the rule that let a call with effects pass without a gate
	Provenance []rule.Provenance `json:"provenance,omitempty"` // of the text in such a call
}

// StepProgress is the progress that a running tool reports. Passing.
type StepProgress struct {
	Index   string         `json:"index"`
	Done    float64        `json:"done"`
	Total   float64        `json:"total,omitempty"` // 0 if unknown
	Message untrusted.Text `json:"message,omitempty"`
}

// StepProcess identifies the process group of a tool call that may have effects.
// If the program is killed, a resume can end what still runs.
type StepProcess struct {
	Index   string `json:"index"`
	Attempt int    `json:"attempt"`
	PID     int    `json:"pid"`
	Start   string `json:"start"` // start time of the process as reported by the system; "" if unknown
}

// StepOutput is a piece of a running step's output. Passing.
type StepOutput struct {
	Index string `json:"index"`
	Chunk string `json:"chunk"`
}

// StepCompleted reports that an attempt of a step succeeded, apart from its checks.
// A step with effects whose completion is in the journal never runs again by
// itself, even if a check refutes it.
type StepCompleted struct {
	Index   string `json:"index"`
	Attempt int    `json:"attempt"`
	Result  any    `json:"result"`
	plan.Beside
	MS     int64        `json:"ms"`
	Tokens int          `json:"tokens,omitempty"` // prompt and completion, if a model executed the step
	Reply  *reply.Reply `json:"reply,omitempty"`  // if a model executed the step
	Run    string       `json:"run,omitempty"`    // started by a plan tool
	Usage  *Usage       `json:"usage,omitempty"`  // of that run; counts in this run too

	// Only in a dry run, which has no step.started event:
	Title     untrusted.Text  `json:"title,omitempty"`
	Executor  plan.Executor   `json:"executor,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	DependsOn []string        `json:"depends_on,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"` // nothing was called, the result is a placeholder
	Args      map[string]any  `json:"args,omitempty"`    // resolved, with placeholders for results
	Coerced   []plan.Coercion `json:"coerced,omitempty"`
	Gate      *rule.Rule      `json:"gate,omitempty"` // the rule that would ask, or deny
}

// StepFailed reports how an attempt of a step failed.
type StepFailed struct {
	Index   string         `json:"index"`
	Attempt int            `json:"attempt"`
	Error   untrusted.Text `json:"error"`
	Failure FailureKind    `json:"kind"`
	Gate    string         `json:"gate,omitempty"`    // the gate that could not be shown, because the call does not apply
	Removes string         `json:"removes,omitempty"` // nothing was done: most of a file would be removed, so its gate opens now
	// Outdated means that nothing was done, because the call would no longer do
	// what its gate showed. The gate opens again.
	Outdated untrusted.Text `json:"outdated,omitempty"`
	// Paths is where paths of the call lead through links, by argument. Rules judge the
	// call again with them, since nothing was done.
	Paths map[string]string `json:"paths,omitempty"`
	MS    int64             `json:"ms"`
	Run   string            `json:"run,omitempty"`   // started by a plan tool
	Usage *Usage            `json:"usage,omitempty"` // of that run; counts in this run too

	Reply *reply.Reply `json:"reply,omitempty"` // of a step that the model answers in text; possibly incomplete

	Attachments []plan.Attachment `json:"attachments,omitempty"` // content of the tool's error that is no text
}

// FailureKind classifies a failure by its consequences for the run.
type FailureKind string

// Kinds of failures. The first five follow the step's on_failure; the others end
// the run and never replan.
const (
	FailureTool        FailureKind = "tool"        // reported by the tool
	FailureTimeout     FailureKind = "timeout"     // the time limit was exceeded
	FailureArgs        FailureKind = "args"        // its arguments could not be resolved
	FailureModel       FailureKind = "model"       // the model gave no usable reply
	FailureCheck       FailureKind = "check"       // its work is done, and a check of it was refuted
	FailureTooLong     FailureKind = "too_long"    // of a planning request: it does not fit the model's context window
	FailureDenied      FailureKind = "denied"      // its gate was denied
	FailureGuard       FailureKind = "guard"       // a guard stopped it
	FailureBudget      FailureKind = "budget"      // a budget was used up
	FailureInterrupted FailureKind = "interrupted" // the user stopped the run
	FailureInDoubt     FailureKind = "in_doubt"    // a step of the run that a plan tool started may or may not have taken effect
)

// Replannable reports whether a failure of this kind follows on_failure.
func (k FailureKind) Replannable() bool {
	switch k {
	case FailureTool, FailureTimeout, FailureArgs, FailureModel, FailureCheck:
		return true
	default:
		return false
	}
}

// StepRetry reports that a failed read-only step will be retried.
type StepRetry struct {
	Index   string         `json:"index"`
	Attempt int            `json:"attempt"` // the attempt that failed
	Error   untrusted.Text `json:"error"`
	At      time.Time      `json:"at"` // earliest time of the next attempt
}

// StepExpanded reports that a step with for_each begins an attempt, with its items. Those
// are steps of its own: 3.1, 3.2 and so on of step 3.
type StepExpanded struct {
	Index   string         `json:"index"`
	Attempt int            `json:"attempt"`
	Title   untrusted.Text `json:"title"`
	Items   []any          `json:"items"` // in order
}

// NotTaken is the reason of a step that its condition takes out, or whose input is the
// result of such a step.
const NotTaken untrusted.Text = "not_taken"

// StepSkipped reports that a step will not run because another did not succeed, or
// because it is not taken.
type StepSkipped struct {
	Index  string             `json:"index"`
	Reason untrusted.Text     `json:"reason"`
	Saw    []expression.Sight `json:"saw,omitempty"` // the values that its condition looked at
}

// StepInDoubt reports that a step with effects started, and that its outcome is
// unknown.
type StepInDoubt struct {
	Index   string         `json:"index"`
	Attempt int            `json:"attempt"`
	Reason  untrusted.Text `json:"reason"`
	MS      int64          `json:"ms"`
}

// GuardBlocked reports that a guard ended the run.
type GuardBlocked struct {
	Guard  string         `json:"guard"`
	Step   string         `json:"step,omitempty"`
	Reason untrusted.Text `json:"reason"`
	Used   int64          `json:"used"`
	Limit  int64          `json:"limit"`
}

// BudgetWarned reports, once, that a budget is at 80 % of its limit.
type BudgetWarned struct {
	Guard string `json:"guard"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit"`
}

// ReplanStarted reports a request to the planner about a failed step.
type ReplanStarted struct {
	Attempt   int            `json:"attempt"` // from 1
	Step      string         `json:"step"`    // the failed step; "" if none failed
	Error     untrusted.Text `json:"error"`
	Request   untrusted.Text `json:"said,omitempty"` // the user's request, in addition or instead
	Remaining []string       `json:"remaining"`      // indices, including the failed step
}

// ReplanDelta is a streamed piece of the reply to a replan. Passing.
type ReplanDelta struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// ReplanRefused reports why the planner's answer was refused. It counts as a
// replan.
type ReplanRefused struct {
	Attempt int            `json:"attempt"`
	Reason  untrusted.Text `json:"reason"`
}

// ModelRequested reports a model request outside the three phases.
type ModelRequested struct {
	Purpose prompt.Purpose `json:"purpose"`
	Step    string         `json:"step,omitempty"`
	Attempt int            `json:"attempt,omitempty"` // of the agent step whose loop asks; 0 outside loops
	Request prompt.Request `json:"request"`
}

// ModelReading reports that a model is loaded and reads the prompt of a request, and
// how long that should take. Passing.
type ModelReading struct {
	Purpose  prompt.Purpose `json:"purpose"`
	Step     string         `json:"step,omitempty"`
	Attempt  int            `json:"attempt,omitempty"`
	Forecast pace.Forecast  `json:"forecast"`
}

// ModelReplied is the reply to ModelRequested; Error is set if none came.
type ModelReplied struct {
	Purpose          prompt.Purpose `json:"purpose"`
	Step             string         `json:"step,omitempty"`
	Attempt          int            `json:"attempt,omitempty"` // as in ModelRequested
	Reply            reply.Reply    `json:"reply"`
	Error            untrusted.Text `json:"error,omitempty"`
	Failure          FailureKind    `json:"kind,omitempty"` // with Error: timeout, interrupted, model or too_long
	PromptTokens     int            `json:"prompt_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	ContextWindow    int            `json:"context_window,omitempty"`
	MS               int64          `json:"ms"`
}

// SynthesisStarted reports that the model is writing the answer.
type SynthesisStarted struct {
	Direct  bool           `json:"direct,omitempty"` // without a plan
	Request prompt.Request `json:"request"`
}

// SynthesisDelta is a streamed piece of the answer. Passing.
type SynthesisDelta struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// SynthesisCompleted is the answer; Error says why it is incomplete.
type SynthesisCompleted struct {
	Text  untrusted.Text `json:"text"`
	Reply reply.Reply    `json:"reply"`
	Error untrusted.Text `json:"error,omitempty"`
}

// ChatUser is a message of the user, in the session's journal.
type ChatUser struct {
	Text     untrusted.Text   `json:"text"`
	Mentions []prompt.Mention `json:"mentions,omitempty"` // items named with @ in the text, as they were at the time
}

// ChatReply is the answer to a message, in the session's journal.
type ChatReply struct {
	Text    untrusted.Text `json:"text"`
	Results untrusted.Text `json:"results,omitempty"` // of the steps, as Markdown, if the run completed without an answer
	Run     string         `json:"run,omitempty"`
	Status  Status         `json:"status,omitempty"`
	Reason  Reason         `json:"reason,omitempty"`
	Usage   *Usage         `json:"usage,omitempty"` // of the run since it was started or resumed
	MS      int64          `json:"ms,omitempty"`    // active time since then
	Asks    bool           `json:"asks,omitempty"`  // the text ends in what can be asked without a model
	Near    []string       `json:"near,omitempty"`  // orders near to a goal that was not understood, the nearest first

	// Read is the untrusted text that the reply of a run may hold. It is nil if an older
	// replan wrote it, which noted none.
	Read []rule.Provenance `json:"read,omitzero"`
}

// Content returns the reply as later turns see it, including its results, so that
// they can refer to them.
func (d ChatReply) Content() untrusted.Text {
	if d.Results == "" {
		return d.Text
	}
	return d.Text + "\n\n" + d.Results
}

// ChatCompacted reports that a summary replaced the oldest turns of the
// conversation, or that those turns are back. The turns themselves stay in the
// journal.
type ChatCompacted struct {
	Undone  bool           `json:"undone,omitempty"`
	Turns   int            `json:"turns"`             // messages that the summary replaces
	Kept    int            `json:"kept"`              // newest messages, which stay unchanged
	Before  int            `json:"before"`            // tokens of the conversation before
	After   int            `json:"after"`             // tokens after
	Summary untrusted.Text `json:"summary,omitempty"` // Markdown
	Reason  untrusted.Text `json:"reason"`            // trigger, in a few words
	ByRule  bool           `json:"by_rule,omitempty"` // no model wrote it: the turns were shortened
	Tokens  int            `json:"tokens,omitempty"`  // its cost, prompt and completion
}

// ChatSide is a side question of the user with its answer, in the session's journal. It is
// no part of the run that it is about, nor of the conversation.
type ChatSide struct {
	ID       int            `json:"id"` // counted from 1 in the session's process
	Question untrusted.Text `json:"question"`
	Text     untrusted.Text `json:"text"` // the answer, as Markdown; without one, what there is of it
	Status   Status         `json:"status"`
	Error    untrusted.Text `json:"error,omitempty"` // why there is no answer, one sentence
	Calls    []SideCall     `json:"calls,omitempty"` // made for the answer, oldest first
	Usage    Usage          `json:"usage"`           // counts for the session, not for the run
	MS       int64          `json:"ms"`
}

// SideCall is a call that was made, or denied, for the answer to a side question.
type SideCall struct {
	Tool  string         `json:"tool"`
	Args  map[string]any `json:"args,omitempty"`
	Error untrusted.Text `json:"error,omitempty"` // why it failed or was denied
	Done  bool           `json:"done,omitempty"`  // it has ended
}

// RunSteered reports a user remark to an active run. A working model gets it with
// its next turn; otherwise the rest of the plan is replanned.
type RunSteered struct {
	Text untrusted.Text `json:"text"`
	By   string         `json:"by,omitempty"` // who sent it in place of the user; "" is the user
}

// TimerFired reports that a time the run waited for has come.
type TimerFired struct {
	ID string `json:"id"`
}

// Note informs the user and changes nothing.
type Note struct {
	Level string         `json:"level"` // info, warn, error
	Text  untrusted.Text `json:"text"`
}

// Unknown is an event of a kind unknown to this program.
type Unknown struct {
	Name Kind
	Raw  json.RawMessage
}

// MarshalJSON returns the data as it was read.
func (u Unknown) MarshalJSON() ([]byte, error) {
	if len(u.Raw) == 0 {
		return []byte("null"), nil // the line had no data at all
	}
	return u.Raw, nil
}

// Kind of each event's data.
func (RunStarted) Kind() Kind         { return KindRunStarted }
func (RunSteered) Kind() Kind         { return KindRunSteered }
func (ChatCompacted) Kind() Kind      { return KindChatCompacted }
func (RunPaused) Kind() Kind          { return KindRunPaused }
func (RunCompleted) Kind() Kind       { return KindRunCompleted }
func (PhaseStarted) Kind() Kind       { return KindPhaseStarted }
func (PhaseDelta) Kind() Kind         { return KindPhaseDelta }
func (PhaseCompleted) Kind() Kind     { return KindPhaseCompleted }
func (PhaseSkipped) Kind() Kind       { return KindPhaseSkipped }
func (PhaseFailed) Kind() Kind        { return KindPhaseFailed }
func (RouteMatched) Kind() Kind       { return KindRouteMatched }
func (PlanDrafting) Kind() Kind       { return KindPlanDrafting }
func (PlanCreated) Kind() Kind        { return KindPlanCreated }
func (PlanEmpty) Kind() Kind          { return KindPlanEmpty }
func (PlanDiff) Kind() Kind           { return KindPlanDiff }
func (StepStarted) Kind() Kind        { return KindStepStarted }
func (StepProgress) Kind() Kind       { return KindStepProgress }
func (StepExpanded) Kind() Kind       { return KindStepExpanded }
func (StepOutput) Kind() Kind         { return KindStepOutput }
func (StepProcess) Kind() Kind        { return KindStepProcess }
func (StepCompleted) Kind() Kind      { return KindStepCompleted }
func (StepFailed) Kind() Kind         { return KindStepFailed }
func (StepRetry) Kind() Kind          { return KindStepRetry }
func (StepSkipped) Kind() Kind        { return KindStepSkipped }
func (CheckCompleted) Kind() Kind     { return KindCheckCompleted }
func (StepInDoubt) Kind() Kind        { return KindStepInDoubt }
func (GateRequested) Kind() Kind      { return KindGateRequested }
func (GateResolved) Kind() Kind       { return KindGateResolved }
func (GuardBlocked) Kind() Kind       { return KindGuardBlocked }
func (BudgetWarned) Kind() Kind       { return KindBudgetWarned }
func (ReplanStarted) Kind() Kind      { return KindReplanStarted }
func (ReplanDelta) Kind() Kind        { return KindReplanDelta }
func (ReplanRefused) Kind() Kind      { return KindReplanRefused }
func (ModelRequested) Kind() Kind     { return KindModelRequested }
func (ModelReading) Kind() Kind       { return KindModelReading }
func (ModelReplied) Kind() Kind       { return KindModelReplied }
func (SynthesisStarted) Kind() Kind   { return KindSynthesisStarted }
func (SynthesisDelta) Kind() Kind     { return KindSynthesisDelta }
func (SynthesisCompleted) Kind() Kind { return KindSynthesisCompleted }
func (ChatUser) Kind() Kind           { return KindChatUser }
func (ChatReply) Kind() Kind          { return KindChatReply }
func (ChatSide) Kind() Kind           { return KindChatSide }
func (TimerFired) Kind() Kind         { return KindTimerFired }
func (Note) Kind() Kind               { return KindNote }

// Kind returns the kind as it was read.
func (u Unknown) Kind() Kind { return u.Name }
