package agent

import "fmt"

// The guards, each a budget of the run.
const (
	GuardSteps     = "steps"
	GuardReplans   = "replans"
	GuardTokens    = "tokens"
	GuardTime      = "time"
	GuardToolCalls = "tool_calls"
)

// budget is what a guard allows and how much of it is used.
type budget struct {
	guard       string
	used, limit int64
	words       string // what is counted
}

// budgets returns every budget of the run; a limit of 0 means there is none.
func (r *Run) budgets() []budget {
	return []budget{
		{GuardSteps, int64(r.Usage.Steps), int64(r.maxSteps()), "step executions"},
		{GuardReplans, int64(r.Usage.Replans), int64(r.Limits.MaxReplans), "replans"},
		{GuardTokens, int64(r.Usage.PromptTokens + r.Usage.CompletionTokens), int64(r.Limits.MaxTokens), "tokens"},
		{GuardTime, r.Now.Sub(r.StartedAt).Milliseconds(), r.Limits.MaxDurationMS, "ms"},
		{GuardToolCalls, int64(r.Usage.ToolCalls), int64(r.Limits.MaxToolCalls), "tool calls"},
	}
}

// spent returns the action that ends the run where the guard's budget is used
// up, nil where something is left.
func (r *Run) spent(guard string) *Action {
	for _, b := range r.budgets() {
		if b.guard == guard && b.limit > 0 && b.used >= b.limit {
			return &Action{Record: GuardBlocked{
				Guard: b.guard, Used: b.used, Limit: b.limit,
				Reason: fmt.Sprintf("all %d %s of this run are used up", b.limit, b.words),
			}}
		}
	}
	return nil
}

// stopped returns the action that ends the run where a budget is used up, and
// nothing where the rest of it is promised to steps that are about to start.
func (r *Run) stopped(guard string) []Action {
	if blocked := r.spent(guard); blocked != nil {
		return []Action{*blocked}
	}
	return nil
}
