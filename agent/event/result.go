package event

import "replan/planning/plan"

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
	ReasonPartial      Reason = "partial"       // some steps were skipped
	ReasonDirect       Reason = "direct"        // answered without a plan
	ReasonNothingFound Reason = "nothing_found" // all was done, and there is nothing of what was asked for
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
	ReasonNoModel      Reason = "no_model"        // of a reply in chat: nothing could be started
	ReasonNoArgs       Reason = "args_from_model" // of a reply in chat: a plan lacks args, and there is no model to fill them in
	ReasonNotOpened    Reason = "not_opened"      // of a reply in chat: the run is unknown, damaged or another's
)

// ExitCode is the exit status of a headless run that ended for this reason.
func (r Reason) ExitCode() int {
	switch r {
	case ReasonGoalMet, ReasonPartial, ReasonDirect, ReasonNothingFound:
		return 0
	case ReasonNotOpened, ReasonNoArgs:
		return 2
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
	Status     Status             `json:"status"`
	Reason     Reason             `json:"reason"`
	Answer     string             `json:"answer"`               // Markdown
	Error      string             `json:"error,omitempty"`      // one sentence, where it did not complete
	Unanswered string             `json:"unanswered,omitempty"` // of a completed run: why the model wrote no answer, or not all of it; a resume asks for it again
	Plan       *plan.Plan         `json:"plan"`                 // as it was at the end; null where there was none
	Variables  map[string]any     `json:"variables"`
	History    []plan.HistoryItem `json:"history"`
	Revisions  []RevisionSummary  `json:"revisions"`
	Usage      Usage              `json:"usage"`
	DurationMS int64              `json:"duration_ms"`
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
	DiscoveryCalls   int `json:"discovery_calls,omitempty"` // of those, calls of read-only tools
	ModelCalls       int `json:"model_calls"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Replans          int `json:"replans"`
}

// Tokens is the tokens of all model calls, prompt and completion.
func (u Usage) Tokens() int64 { return int64(u.PromptTokens) + int64(u.CompletionTokens) }

// Plus is what has been used with more.
func (u Usage) Plus(more Usage) Usage {
	u.Steps += more.Steps
	u.ToolCalls += more.ToolCalls
	u.DiscoveryCalls += more.DiscoveryCalls
	u.ModelCalls += more.ModelCalls
	u.PromptTokens += more.PromptTokens
	u.CompletionTokens += more.CompletionTokens
	u.Replans += more.Replans
	return u
}

// Since is what has been used beyond earlier.
func (u Usage) Since(earlier Usage) Usage {
	u.Steps -= earlier.Steps
	u.ToolCalls -= earlier.ToolCalls
	u.DiscoveryCalls -= earlier.DiscoveryCalls
	u.ModelCalls -= earlier.ModelCalls
	u.PromptTokens -= earlier.PromptTokens
	u.CompletionTokens -= earlier.CompletionTokens
	u.Replans -= earlier.Replans
	return u
}
