package event

import (
	"encoding/json"
	"time"

	"replan/agent/rule"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// RunStarted opens a run and carries everything that decides what the run may
// do, so that nothing outside the events is needed to fold it.
type RunStarted struct {
	Goal      string           `json:"goal"`
	Workspace string           `json:"workspace"` // absolute path of the folder it works in
	Session   string           `json:"session,omitempty"`
	Outer     string           `json:"outer,omitempty"` // the run whose model asked for this one
	Model     string           `json:"model"`           // "" means that there is none
	Limits    Limits           `json:"limits"`
	Rules     []rule.Rule      `json:"rules"` // gate rules, first match wins
	Catalogue plan.Catalogue   `json:"catalogue"`
	Priors    map[string]int64 `json:"priors"`    // median duration seen per tool, ms
	Prompting prompt.Prompting `json:"prompting"` // what planning is told: instructions, conversation, phases

	Plan          *plan.Plan     `json:"plan,omitempty"`           // to be carried out as it is; without one the goal is planned
	OnFailure     plan.OnFailure `json:"on_failure,omitempty"`     // where neither step nor plan says: replan for a goal, abort for a plan; given with a goal, it goes over the planner's plan
	PlanOnly      bool           `json:"plan_only,omitempty"`      // the run ends once there is a plan
	SkipSynthesis bool           `json:"skip_synthesis,omitempty"` // no answer is written at the end
	Strict        bool           `json:"strict,omitempty"`         // args are not fitted to the types that tools ask for
	DryRun        bool           `json:"dry_run,omitempty"`        // nothing is called: steps are resolved and told
	Review        bool           `json:"review,omitempty"`         // every plan of the run is held to be looked over before its steps start
	Attended      bool           `json:"attended,omitempty"`       // somebody is there to say how a failed step, or one in doubt, goes on
	InDoubt       DoubtDecision  `json:"in_doubt,omitempty"`       // what to do with steps in doubt unasked; "" asks, or aborts where nobody is there

	Routing Routing `json:"routing,omitzero"` // who plans the goal, and how its words do
	Dirty   int     `json:"dirty,omitempty"`  // files of the workspace with changes that are not committed; 0 without git
}

// RunPaused says that the user stopped the run: nothing new starts.
type RunPaused struct {
	Reason string `json:"reason"`
}

// RunCompleted closes a run; the JSON form of its data is the Result itself.
type RunCompleted struct {
	Result
}

// PhaseStarted says that a phase of planning was put to the model.
type PhaseStarted struct {
	Phase   int            `json:"phase"` // 1 to 3
	Label   string         `json:"label"` // analysis, review, plan
	Request prompt.Request `json:"request"`
}

// PhaseDelta is text of a phase as it streams in. Passing.
type PhaseDelta struct {
	Phase    int    `json:"phase"`
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// PhaseCompleted carries the reply of a phase whole, so that planning can be
// resumed in the middle.
type PhaseCompleted struct {
	Phase  int         `json:"phase"`
	Label  string      `json:"label"`
	Reply  reply.Reply `json:"reply"`
	Tokens int         `json:"tokens"` // prompt and completion
	MS     int64       `json:"ms"`
}

// PhaseSkipped says that a phase was left out, and why.
type PhaseSkipped struct {
	Phase  int    `json:"phase"`
	Label  string `json:"label"`
	Reason string `json:"reason"`
}

// PhaseFailed says that the model gave no reply in a phase.
type PhaseFailed struct {
	Phase  int    `json:"phase"`
	Label  string `json:"label"`
	Reason string `json:"reason"`

	Failure FailureKind `json:"failure,omitempty"`
	Reply   reply.Reply `json:"reply"` // as much of it as came
}

// PlanDrafting is one whole step, parsed while the plan was still streaming in.
type PlanDrafting struct {
	Step plan.Step `json:"step"`
}

// PlanCreated says which plan the run carries out.
type PlanCreated struct {
	Plan     plan.Plan `json:"plan"`
	Revision int       `json:"revision"` // 1
}

// PlanEmpty says that the planner proposed no step.
type PlanEmpty struct {
	Reason string `json:"reason"`
}

// PlanDiff says how a replan changed the steps that remained, and carries the
// plan as it is now, finished steps included.
type PlanDiff struct {
	Revision int       `json:"revision"` // from 2
	Reason   string    `json:"reason"`   // the failure that led to it
	Removed  []string  `json:"removed"`  // indices
	Added    []string  `json:"added"`
	Revised  []string  `json:"revised"` // same index, other tool or args
	Plan     plan.Plan `json:"plan"`
}

// Attempt names one try of one step.
type Attempt struct {
	Index  string // the step's
	Number int    // from 1
}

// StepStarted says that an attempt of a step is about to begin. It is on disk
// before anything is called.
type StepStarted struct {
	Index           string          `json:"index"`
	Parent          string          `json:"parent,omitempty"` // the agent step that makes this call, or prompt.ChatParent
	Attempt         int             `json:"attempt"`          // from 1, over all revisions
	Title           string          `json:"title"`
	Executor        plan.Executor   `json:"executor"`
	Tool            string          `json:"tool,omitempty"`
	DependsOn       []string        `json:"depends_on"` // by name and by reference
	ExpectedOutcome string          `json:"expected_outcome,omitempty"`
	Args            map[string]any  `json:"args"`              // as resolved
	Coerced         []plan.Coercion `json:"coerced,omitempty"` // scalars in args that were given the type that the tool asks for
	Draft           bool            `json:"draft,omitempty"`   // started while the plan was streaming in
	Request         *prompt.Request `json:"request,omitempty"` // where the model does the step in its own words

	Rule       *rule.Rule        `json:"rule,omitempty"`       // that let a call with effects pass without a gate
	Provenance []rule.Provenance `json:"provenance,omitempty"` // of the text in such a call
}

// StepProgress is what a running tool says of its progress. Passing.
type StepProgress struct {
	Index   string  `json:"index"`
	Done    float64 `json:"done"`
	Total   float64 `json:"total,omitempty"` // 0 means unknown
	Message string  `json:"message,omitempty"`
}

// StepProcess says which process group works for a tool call that may have
// effects, so that a resume can end what still runs after its program was killed.
type StepProcess struct {
	Index   string `json:"index"`
	Attempt int    `json:"attempt"`
	PID     int    `json:"pid"`
	Start   string `json:"start"` // of that process, as the system tells it; "" where it does not
}

// StepOutput is output of a running step as it comes. Passing.
type StepOutput struct {
	Index string `json:"index"`
	Chunk string `json:"chunk"`
}

// StepCompleted says that an attempt of a step succeeded. A step whose
// completion was journalled never runs again.
type StepCompleted struct {
	Index   string       `json:"index"`
	Attempt int          `json:"attempt"`
	Result  any          `json:"result"`
	MS      int64        `json:"ms"`
	Tokens  int          `json:"tokens,omitempty"` // prompt and completion, where a model did the step
	Reply   *reply.Reply `json:"reply,omitempty"`  // where a model did the step
	Run     string       `json:"run,omitempty"`    // that a plan tool started
	Usage   *Usage       `json:"usage,omitempty"`  // of that run, which counts here too

	// Of a dry run, in which no step.started comes before:
	Title     string          `json:"title,omitempty"`
	Executor  plan.Executor   `json:"executor,omitempty"`
	Tool      string          `json:"tool,omitempty"`
	DependsOn []string        `json:"depends_on,omitempty"`
	DryRun    bool            `json:"dry_run,omitempty"` // nothing was called, the result is a placeholder
	Args      map[string]any  `json:"args,omitempty"`    // as far as they can be resolved
	Coerced   []plan.Coercion `json:"coerced,omitempty"`
	Gate      *rule.Rule      `json:"gate,omitempty"` // the rule that would ask, or deny
}

// StepFailed says that an attempt of a step failed, and how.
type StepFailed struct {
	Index   string      `json:"index"`
	Attempt int         `json:"attempt"`
	Error   string      `json:"error"`
	Failure FailureKind `json:"kind"`
	Gate    string      `json:"gate,omitempty"`    // the gate that could not be shown, because the call does not apply
	Removes string      `json:"removes,omitempty"` // nothing was done: most of a file would go, and its gate opens now
	// Outdated says that nothing was done, because the call would not do any more
	// what its gate showed. The gate opens again.
	Outdated string `json:"outdated,omitempty"`
	MS       int64  `json:"ms"`
	Run      string `json:"run,omitempty"`   // that a plan tool started
	Usage    *Usage `json:"usage,omitempty"` // of that run, which counts here too

	Reply *reply.Reply `json:"reply,omitempty"` // of a step in the model's own words, as far as it came
}

// FailureKind says what a failure means for the run.
type FailureKind string

// The kinds of failures. The first four follow the step's on_failure, the
// others end the run and never replan.
const (
	FailureTool        FailureKind = "tool"        // the tool said so
	FailureTimeout     FailureKind = "timeout"     // it took longer than it may
	FailureArgs        FailureKind = "args"        // its arguments could not be resolved
	FailureModel       FailureKind = "model"       // the model gave no usable reply
	FailureDenied      FailureKind = "denied"      // its gate was denied
	FailureGuard       FailureKind = "guard"       // a guard stopped it
	FailureBudget      FailureKind = "budget"      // a budget was spent
	FailureInterrupted FailureKind = "interrupted" // the user stopped the run
	FailureInDoubt     FailureKind = "in_doubt"    // a step of the run that a plan tool started may or may not have taken effect
)

// Replannable reports whether a failure of this kind follows on_failure.
func (k FailureKind) Replannable() bool {
	switch k {
	case FailureTool, FailureTimeout, FailureArgs, FailureModel:
		return true
	default:
		return false
	}
}

// StepRetry says that a failed read-only step will be tried again.
type StepRetry struct {
	Index   string    `json:"index"`
	Attempt int       `json:"attempt"` // the attempt that failed
	Error   string    `json:"error"`
	At      time.Time `json:"at"` // not before then
}

// StepSkipped says that a step will not run because another did not succeed.
type StepSkipped struct {
	Index  string `json:"index"`
	Reason string `json:"reason"`
}

// StepInDoubt says that an effectful step started and nobody knows whether it
// took effect.
type StepInDoubt struct {
	Index   string `json:"index"`
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
	MS      int64  `json:"ms"`
}

// GuardBlocked says that a guard ended the run.
type GuardBlocked struct {
	Guard  string `json:"guard"`
	Step   string `json:"step,omitempty"`
	Reason string `json:"reason"`
	Used   int64  `json:"used"`
	Limit  int64  `json:"limit"`
}

// BudgetWarned says, once, that a budget is at 80 % of its limit.
type BudgetWarned struct {
	Guard string `json:"guard"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit"`
}

// ReplanStarted says that a failed step is put to the planner.
type ReplanStarted struct {
	Attempt   int      `json:"attempt"` // from 1
	Step      string   `json:"step"`    // the step that failed, "" where none did
	Error     string   `json:"error"`
	Said      string   `json:"said,omitempty"` // what the user wants besides, or instead
	Remaining []string `json:"remaining"`      // indices, the failed one among them
}

// ReplanRefused says that the planner's answer was not taken, and why. It
// counts as a replan.
type ReplanRefused struct {
	Attempt int    `json:"attempt"`
	Reason  string `json:"reason"`
}

// ModelRequested says that a model is asked outside the three phases.
type ModelRequested struct {
	Purpose prompt.Purpose `json:"purpose"`
	Step    string         `json:"step,omitempty"`
	Attempt int            `json:"attempt,omitempty"` // of the agent step whose loop asks; 0 where none does
	Request prompt.Request `json:"request"`
}

// ModelReplied is the answer to ModelRequested; Error is set where none came.
type ModelReplied struct {
	Purpose          prompt.Purpose `json:"purpose"`
	Step             string         `json:"step,omitempty"`
	Attempt          int            `json:"attempt,omitempty"` // as in ModelRequested
	Reply            reply.Reply    `json:"reply"`
	Error            string         `json:"error,omitempty"`
	Failure          FailureKind    `json:"kind,omitempty"` // with Error: timeout, interrupted or model
	PromptTokens     int            `json:"prompt_tokens"`
	CompletionTokens int            `json:"completion_tokens"`
	ContextWindow    int            `json:"context_window,omitempty"`
	MS               int64          `json:"ms"`
}

// SynthesisStarted says that the model is writing the answer.
type SynthesisStarted struct {
	Direct  bool           `json:"direct,omitempty"` // without a plan
	Request prompt.Request `json:"request"`
}

// SynthesisDelta is text of the answer as it streams in. Passing.
type SynthesisDelta struct {
	Text     string `json:"text,omitempty"`
	Thinking string `json:"thinking,omitempty"`
}

// SynthesisCompleted is the answer; Error says why it is not whole.
type SynthesisCompleted struct {
	Text  string      `json:"text"`
	Reply reply.Reply `json:"reply"`
	Error string      `json:"error,omitempty"`
}

// ChatUser is what the user typed, in the session's journal.
type ChatUser struct {
	Text     string           `json:"text"`
	Mentions []prompt.Mention `json:"mentions,omitempty"` // what it names by an @, as it was then
}

// ChatReply is the answer to it, in the session's journal.
type ChatReply struct {
	Text    string `json:"text"`
	Results string `json:"results,omitempty"` // of the steps, as Markdown, where the run completed without an answer
	Run     string `json:"run,omitempty"`
	Status  Status `json:"status,omitempty"`
	Reason  Reason `json:"reason,omitempty"`
	Usage   *Usage `json:"usage,omitempty"` // by the run since it was started or resumed
	MS      int64  `json:"ms,omitempty"`    // for which it went on since then
}

// Said is the reply as it joins the conversation: with the results that it tells
// of, so that later turns can refer to them.
func (d ChatReply) Said() string {
	if d.Results == "" {
		return d.Text
	}
	return d.Text + "\n\n" + d.Results
}

// ChatCompacted says that a summary took the place of the oldest turns of the
// conversation, or that they are back. The turns themselves stay in the journal.
type ChatCompacted struct {
	Undone  bool   `json:"undone,omitempty"`
	Turns   int    `json:"turns"`             // messages that the summary stands for
	Kept    int    `json:"kept"`              // the newest ones, which stay as they are
	Before  int    `json:"before"`            // tokens of the conversation
	After   int    `json:"after"`             // tokens
	Summary string `json:"summary,omitempty"` // Markdown
	Reason  string `json:"reason"`            // why now, a few words
	ByRule  bool   `json:"by_rule,omitempty"` // no model wrote it: the turns were shortened
	Tokens  int    `json:"tokens,omitempty"`  // that it cost, prompt and completion
}

// RunSteered says that the user spoke to a run that goes on: a model at work
// hears it with its next turn, else what remains of the plan is planned anew.
type RunSteered struct {
	Text string `json:"text"`
}

// TimerFired says that a time the run waited for has come.
type TimerFired struct {
	ID string `json:"id"`
}

// Note is something the user should know that changes nothing.
type Note struct {
	Level string `json:"level"` // info, warn, error
	Text  string `json:"text"`
}

// Unknown is an event of a kind that this program does not know.
type Unknown struct {
	Name Kind
	Raw  json.RawMessage
}

// MarshalJSON writes the data as it was read.
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
func (StepOutput) Kind() Kind         { return KindStepOutput }
func (StepProcess) Kind() Kind        { return KindStepProcess }
func (StepCompleted) Kind() Kind      { return KindStepCompleted }
func (StepFailed) Kind() Kind         { return KindStepFailed }
func (StepRetry) Kind() Kind          { return KindStepRetry }
func (StepSkipped) Kind() Kind        { return KindStepSkipped }
func (StepInDoubt) Kind() Kind        { return KindStepInDoubt }
func (GateRequested) Kind() Kind      { return KindGateRequested }
func (GateResolved) Kind() Kind       { return KindGateResolved }
func (GuardBlocked) Kind() Kind       { return KindGuardBlocked }
func (BudgetWarned) Kind() Kind       { return KindBudgetWarned }
func (ReplanStarted) Kind() Kind      { return KindReplanStarted }
func (ReplanRefused) Kind() Kind      { return KindReplanRefused }
func (ModelRequested) Kind() Kind     { return KindModelRequested }
func (ModelReplied) Kind() Kind       { return KindModelReplied }
func (SynthesisStarted) Kind() Kind   { return KindSynthesisStarted }
func (SynthesisDelta) Kind() Kind     { return KindSynthesisDelta }
func (SynthesisCompleted) Kind() Kind { return KindSynthesisCompleted }
func (ChatUser) Kind() Kind           { return KindChatUser }
func (ChatReply) Kind() Kind          { return KindChatReply }
func (TimerFired) Kind() Kind         { return KindTimerFired }
func (Note) Kind() Kind               { return KindNote }

// Kind returns the name as it was read.
func (u Unknown) Kind() Kind { return u.Name }
