package agent

import "fmt"

// Limits bound a run. 0 means no limit, but for the slots, where it means the
// default.
type Limits struct {
	MaxSteps          int   `json:"max_steps"`                     // step executions
	GrowSteps         bool  `json:"grow_steps"`                    // MaxSteps rises to one and a half times the first plan's length
	MaxPlanSteps      int   `json:"max_plan_steps"`                // steps a planner may propose at once
	MaxReplans        int   `json:"max_replans"`                   // calls of the planner after the first plan
	MaxToolCalls      int   `json:"max_tool_calls"`                // of every tool
	MaxDiscoveryCalls int   `json:"max_discovery_calls,omitempty"` // of tools that are read-only
	MaxExecutionCalls int   `json:"max_execution_calls,omitempty"` // of all others
	MaxCallsPerTool   int   `json:"max_calls_per_tool,omitempty"`  // of any one tool
	MaxRepeats        int   `json:"max_repeats"`                   // the same call, or the same failing result, in successive revisions
	MaxTokens         int   `json:"max_tokens"`                    // prompt and completion, all calls
	MaxDurationMS     int64 `json:"max_duration_ms"`               // wall clock while the run is going on
	StepTimeoutMS     int64 `json:"step_timeout_ms"`               // for a step that names none
	MaxConcurrency    int   `json:"max_concurrency"`               // tool slots
	ModelSlots        int   `json:"model_slots"`
}

// DefaultLimits are the limits of a run where nobody says otherwise, the
// preset "default".
func DefaultLimits() Limits {
	return Limits{
		MaxSteps: 12, GrowSteps: true, MaxPlanSteps: 15, MaxReplans: 5, MaxRepeats: 3,
		StepTimeoutMS: 120_000, MaxConcurrency: 4, ModelSlots: 1,
	}
}

// StrictLimits are the limits of the preset "strict", for a model or tools that
// are not trusted far.
func StrictLimits() Limits {
	return Limits{
		MaxSteps: 12, MaxPlanSteps: 10, MaxReplans: 2, MaxRepeats: 2,
		MaxToolCalls: 15, MaxDiscoveryCalls: 8, MaxExecutionCalls: 12, MaxCallsPerTool: 6,
		MaxTokens: 100_000, MaxDurationMS: 15 * 60_000,
		StepTimeoutMS: 60_000, MaxConcurrency: 2, ModelSlots: 1,
	}
}

// Preset returns the limits of a preset by its name.
func Preset(name string) (Limits, error) {
	switch name {
	case "", "default":
		return DefaultLimits(), nil
	case "strict":
		return StrictLimits(), nil
	default:
		return Limits{}, fmt.Errorf("there is no preset of limits called %q: say default or strict", name)
	}
}

// SessionLimits bound all runs of one session together. 0 means no limit.
type SessionLimits struct {
	MaxTokens     int   `json:"max_tokens"` // prompt and completion
	MaxToolCalls  int   `json:"max_tool_calls"`
	MaxDurationMS int64 `json:"max_duration_ms"` // wall clock while runs are going on
}

// Lease bounds the limits of one run by what earlier runs of the session, which
// used and took so much, have left. It returns the guard whose budget nothing
// is left of, "" where there is something.
func (s SessionLimits) Lease(l Limits, used Usage, took int64) (leased Limits, spent string) {
	for _, b := range []struct {
		guard       string
		limit, used int64
		of          func(left int64)
	}{
		{GuardTokens, int64(s.MaxTokens), int64(used.PromptTokens + used.CompletionTokens), func(left int64) { l.MaxTokens = int(tighter(int64(l.MaxTokens), left)) }},
		{GuardToolCalls, int64(s.MaxToolCalls), int64(used.ToolCalls), func(left int64) { l.MaxToolCalls = int(tighter(int64(l.MaxToolCalls), left)) }},
		{GuardTime, s.MaxDurationMS, took, func(left int64) { l.MaxDurationMS = tighter(l.MaxDurationMS, left) }},
	} {
		if b.limit == 0 {
			continue
		}
		if b.used >= b.limit {
			return l, b.guard
		}
		b.of(b.limit - b.used)
	}
	return l, ""
}

// tighter is the lower of two limits, of which the first may be none.
func tighter(limit, left int64) int64 {
	if limit == 0 {
		return left
	}
	return min(limit, left)
}
