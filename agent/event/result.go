package event

import (
	"replan/internal/untrusted"
	"replan/planning/plan"
)

// Status is the outcome of a run.
type Status string

// Statuses of an ended run.
const (
	StatusCompleted Status = "completed"
	StatusFailed    Status = "failed"
	StatusCanceled  Status = "cancelled"
)

// Reason is the reason why a run ended.
type Reason string

// Reasons for the end of a run.
const (
	ReasonGoalMet         Reason = "goal_met"
	ReasonPartial         Reason = "partial"       // some steps were skipped, there were no tests to run, or the answer is missing
	ReasonDirect          Reason = "direct"        // answered without a plan
	ReasonNothingFound    Reason = "nothing_found" // everything ran, but found nothing that was asked for
	ReasonNothingToCommit Reason = "nothing_to_commit"
	ReasonGaveUp          Reason = "gave_up"
	ReasonNoPlan          Reason = "no_plan"
	ReasonStepFailed      Reason = "step_failed"
	ReasonRefuted         Reason = "refuted"    // a check of the plan's acceptance does not hold
	ReasonUnverified      Reason = "unverified" // with RequireVerified: not everything was shown to hold
	ReasonPlannerError    Reason = "planner_error"
	ReasonDenied          Reason = "denied"
	ReasonInDoubt         Reason = "in_doubt"
	ReasonStepBudget      Reason = "step_budget"
	ReasonReplanBudget    Reason = "replan_budget"
	ReasonTokenBudget     Reason = "token_budget"
	ReasonTimeBudget      Reason = "time_budget"
	ReasonToolBudget      Reason = "tool_budget"
	ReasonGuard           Reason = "guard"
	ReasonInterrupted     Reason = "interrupted"
	ReasonNoModel         Reason = "no_model"        // of a reply in chat: nothing could be started
	ReasonInvalidGoal     Reason = "invalid_goal"    // of a reply in chat: no model could follow the goal as written
	ReasonNoArgs          Reason = "args_from_model" // of a reply in chat: a plan lacks args, and there is no model to fill them in
	ReasonNotOpened       Reason = "not_opened"      // of a reply in chat: the run is unknown, damaged or another's
	ReasonWorkersFailed   Reason = "workers_failed"  // of a reply in chat: no worker could open the run, or it lost too many
)

// Nothing reports whether everything ran, but there was nothing to answer with or to
// do.
func (r Reason) Nothing() bool { return r == ReasonNothingFound || r == ReasonNothingToCommit }

// ExitCode returns the exit status of a headless run that ended for this reason.
func (r Reason) ExitCode() int {
	switch r {
	case ReasonGoalMet, ReasonPartial, ReasonDirect, ReasonNothingFound, ReasonNothingToCommit:
		return 0
	case ReasonNotOpened, ReasonInvalidGoal, ReasonNoArgs:
		return 2
	case ReasonDenied, ReasonInDoubt:
		return 3
	case ReasonStepBudget, ReasonReplanBudget, ReasonTokenBudget, ReasonTimeBudget, ReasonToolBudget, ReasonGuard:
		return 4
	case ReasonNoModel:
		return 5
	case ReasonWorkersFailed:
		return 6
	case ReasonInterrupted:
		return 130
	default:
		return 1
	}
}

// Result is the outcome of a run.
type Result struct {
	Run        string             `json:"run"` // its id
	Status     Status             `json:"status"`
	Reason     Reason             `json:"reason"`
	Answer     untrusted.Text     `json:"answer"`               // Markdown
	Error      untrusted.Text     `json:"error,omitempty"`      // one sentence, if the run did not complete
	Unanswered untrusted.Text     `json:"unanswered,omitempty"` // of a completed run: why the model wrote no answer, or not all of it; a resume asks for it again
	Plan       *plan.Plan         `json:"plan"`                 // at the end; null if there was none
	Variables  map[string]any     `json:"variables"`
	History    []plan.HistoryItem `json:"history"`
	Revisions  []RevisionSummary  `json:"revisions"`
	Usage      Usage              `json:"usage"`
	Evidence   []plan.Evidence    `json:"evidence"` // of each check, and of each step that nothing checks although it may have effects or is a model's work
	Verified   int                `json:"verified"` // number of those in StateVerified
	Of         int                `json:"of"`       // number of all
	DurationMS int64              `json:"duration_ms"`
}

// RevisionSummary is one replan in a Result.
type RevisionSummary struct {
	Revision int            `json:"revision"`
	Reason   untrusted.Text `json:"reason"`
	Removed  []string       `json:"removed"`
	Added    []string       `json:"added"`
	Revised  []string       `json:"revised"`
}

// Usage counts the resources that a run has used.
type Usage struct {
	Steps            int `json:"steps"` // step executions, including failed ones and replans
	ToolCalls        int `json:"tool_calls"`
	DiscoveryCalls   int `json:"discovery_calls,omitempty"` // of those, calls of read-only tools
	ModelCalls       int `json:"model_calls"`
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	Replans          int `json:"replans"`
}

// Tokens returns the prompt and completion tokens of all model calls.
func (u Usage) Tokens() int64 { return int64(u.PromptTokens) + int64(u.CompletionTokens) }

// Plus returns the sum of both usages.
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

// Since returns the usage in addition to earlier.
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
