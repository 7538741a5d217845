package agent

import "replan/planning"

// Status says how a run ended.
type Status string

// How a run can end.
const (
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCancelled Status = "cancelled"
)

// Reason says why a run ended as it did.
type Reason string

// Why a run can end.
const (
	ReasonGoalMet      Reason = "goal_met"
	ReasonPartial      Reason = "partial" // some steps were skipped
	ReasonDirect       Reason = "direct"  // answered without a plan
	ReasonGaveUp       Reason = "gave_up"
	ReasonNoPlan       Reason = "no_plan"
	ReasonStepFailed   Reason = "step_failed"
	ReasonPlannerError Reason = "planner_error"
	ReasonDenied       Reason = "denied"
	ReasonInDoubt      Reason = "in_doubt"
	ReasonStepBudget   Reason = "step_budget"
	ReasonReplanBudget Reason = "replan_budget"
	ReasonTokenBudget  Reason = "token_budget"
	ReasonTimeBudget   Reason = "time_budget"
	ReasonToolBudget   Reason = "tool_budget"
	ReasonGuard        Reason = "guard"
	ReasonInterrupted  Reason = "interrupted"
	ReasonNoModel      Reason = "no_model" // of a reply in chat: nothing could be started
)

// ExitCode is the exit status of a headless run that ended for this reason.
func (r Reason) ExitCode() int {
	switch r {
	case ReasonGoalMet, ReasonPartial, ReasonDirect:
		return 0
	case ReasonDenied, ReasonInDoubt:
		return 3
	case ReasonStepBudget, ReasonReplanBudget, ReasonTokenBudget, ReasonTimeBudget, ReasonToolBudget, ReasonGuard:
		return 4
	case ReasonNoModel:
		return 5
	case ReasonInterrupted:
		return 130
	default:
		return 1
	}
}

// Result is what a run came to.
type Result struct {
	Status     Status                 `json:"status"`
	Reason     Reason                 `json:"reason"`
	Answer     string                 `json:"answer"`          // Markdown
	Error      string                 `json:"error,omitempty"` // one sentence, where it did not complete
	Plan       *planning.Plan         `json:"plan"`            // as it was at the end; null where there was none
	Variables  map[string]any         `json:"variables"`
	History    []planning.HistoryItem `json:"history"`
	Revisions  []RevisionSummary      `json:"revisions"`
	Usage      Usage                  `json:"usage"`
	DurationMS int64                  `json:"duration_ms"`
}

// RevisionSummary is one replan in a Result.
type RevisionSummary struct {
	Revision int      `json:"revision"`
	Reason   string   `json:"reason"`
	Removed  []string `json:"removed"`
	Added    []string `json:"added"`
	Revised  []string `json:"revised"`
}

// Usage counts what a run has used.
type Usage struct {
	Steps            int `json:"steps"` // step executions, failed ones and replans included
	ToolCalls        int `json:"tool_calls"`
	ModelCalls       int `json:"model_calls"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Replans          int `json:"replans"`
}

// Limits bound a run. 0 means no limit, but for the slots, where it means the
// default.
type Limits struct {
	MaxSteps       int   `json:"max_steps"`       // step executions
	GrowSteps      bool  `json:"grow_steps"`      // MaxSteps rises to one and a half times the first plan's length
	MaxPlanSteps   int   `json:"max_plan_steps"`  // steps a planner may propose at once
	MaxReplans     int   `json:"max_replans"`     // calls of the planner after the first plan
	MaxToolCalls   int   `json:"max_tool_calls"`  //
	MaxTokens      int   `json:"max_tokens"`      // prompt and completion, all calls
	MaxDurationMS  int64 `json:"max_duration_ms"` // wall clock
	StepTimeoutMS  int64 `json:"step_timeout_ms"` // for a step that names none
	MaxConcurrency int   `json:"max_concurrency"` // tool slots
	ModelSlots     int   `json:"model_slots"`
}

// DefaultLimits are the limits of a run where nobody says otherwise.
func DefaultLimits() Limits {
	return Limits{
		MaxSteps: 12, GrowSteps: true, MaxPlanSteps: 15, MaxReplans: 5,
		StepTimeoutMS: 120_000, MaxConcurrency: 4, ModelSlots: 1,
	}
}
