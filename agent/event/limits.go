package event

import "fmt"

// NothingLeft is the limit of what a run may not do at all, because the run that
// requested it has used up their shared budget.
const NothingLeft = -1

// Limits bound a run. 0 means no limit, except for replans, of which it allows none, and for the
// slots, where it means the default; [NothingLeft] allows nothing.
type Limits struct {
	MaxSteps          int   `json:"max_steps"`                     // step executions
	GrowSteps         bool  `json:"grow_steps"`                    // MaxSteps rises to one and a half times the first plan's length
	MaxPlanSteps      int   `json:"max_plan_steps"`                // steps that a planner may propose at once
	MaxReplans        int   `json:"max_replans"`                   // planner calls after the first plan; 0 is none
	NoReplan          bool  `json:"no_replan,omitempty"`           // a failed step that requires a replan ends the run
	MaxToolCalls      int   `json:"max_tool_calls"`                // of all tools
	MaxDiscoveryCalls int   `json:"max_discovery_calls,omitempty"` // of read-only tools
	MaxExecutionCalls int   `json:"max_execution_calls,omitempty"` // of all others
	MaxCallsPerTool   int   `json:"max_calls_per_tool,omitempty"`  // of any one tool
	MaxRepeats        int   `json:"max_repeats"`                   // the same call, or the same failing result, in successive revisions
	MaxTokens         int   `json:"max_tokens"`                    // prompt and completion, all calls
	MaxDurationMS     int64 `json:"max_duration_ms"`               // wall clock while the run is active
	StepTimeoutMS     int64 `json:"step_timeout_ms"`               // for steps without their own timeout
	MaxConcurrency    int   `json:"max_concurrency"`               // tool slots
	ModelSlots        int   `json:"model_slots"`
}

// DefaultLimits returns the limits of the preset "default", used unless others
// are set.
func DefaultLimits() Limits {
	return Limits{
		MaxSteps: 12, GrowSteps: true, MaxPlanSteps: 15, MaxReplans: 5, MaxRepeats: 3,
		StepTimeoutMS: 120_000, MaxConcurrency: 4, ModelSlots: 1,
	}
}

// StrictLimits returns the limits of the preset "strict", for models or tools
// with little trust.
func StrictLimits() Limits {
	return Limits{
		MaxSteps: 12, MaxPlanSteps: 10, MaxReplans: 2, MaxRepeats: 2,
		MaxToolCalls: 15, MaxDiscoveryCalls: 8, MaxExecutionCalls: 12, MaxCallsPerTool: 6,
		MaxTokens: 100_000, MaxDurationMS: 15 * 60_000,
		StepTimeoutMS: 60_000, MaxConcurrency: 2, ModelSlots: 1,
	}
}

// Preset returns the limits of the named preset.
func Preset(name string) (Limits, error) {
	switch name {
	case "", "default":
		return DefaultLimits(), nil
	case "strict":
		return StrictLimits(), nil
	default:
		return Limits{}, fmt.Errorf("there is no preset of limits %q: use default or strict", name)
	}
}

// RaisedTo returns the limits with each bound raised to the higher of both, where
// no limit is the highest. The concurrency is not a bound and is taken from other.
func (l Limits) RaisedTo(other Limits) Limits {
	if l.MaxSteps != 0 && (other.MaxSteps == 0 || other.MaxSteps > l.MaxSteps) {
		l.MaxSteps, l.GrowSteps = other.MaxSteps, other.GrowSteps
	}
	for _, bound := range []struct {
		to *int
		by int
	}{
		{&l.MaxPlanSteps, other.MaxPlanSteps},
		{&l.MaxToolCalls, other.MaxToolCalls},
		{&l.MaxDiscoveryCalls, other.MaxDiscoveryCalls},
		{&l.MaxExecutionCalls, other.MaxExecutionCalls},
		{&l.MaxCallsPerTool, other.MaxCallsPerTool},
		{&l.MaxRepeats, other.MaxRepeats},
		{&l.MaxTokens, other.MaxTokens},
	} {
		*bound.to = higher(*bound.to, bound.by)
	}
	l.MaxReplans = max(l.MaxReplans, other.MaxReplans)
	l.MaxDurationMS = higher(l.MaxDurationMS, other.MaxDurationMS)
	l.StepTimeoutMS = higher(l.StepTimeoutMS, other.StepTimeoutMS)
	l.MaxConcurrency, l.ModelSlots = other.MaxConcurrency, other.ModelSlots
	return l
}

// After returns the limits of a run that has already used its share and taken
// took ms, where l is the remainder.
func (l Limits) After(used Usage, elapsed int64) Limits {
	for _, b := range []struct {
		limit *int
		used  int
	}{
		{&l.MaxTokens, int(used.Tokens())},
		{&l.MaxToolCalls, used.ToolCalls},
		{&l.MaxDiscoveryCalls, used.DiscoveryCalls},
		{&l.MaxExecutionCalls, used.ToolCalls - used.DiscoveryCalls},
		{&l.MaxReplans, used.Replans},
	} {
		*b.limit = beyond(*b.limit, b.used)
	}
	if !l.GrowSteps {
		l.MaxSteps = beyond(l.MaxSteps, used.Steps)
	}
	l.MaxDurationMS = beyond(l.MaxDurationMS, elapsed)
	return l
}

// beyond adds the remainder of a limit to the amount used; see [rest].
func beyond[T int | int64](left, used T) T {
	switch {
	case left > 0:
		return used + left
	case left == NothingLeft && used > 0:
		return used
	default:
		return left
	}
}

// higher returns the higher of two limits, where 0 means no limit.
func higher[T int | int64](a, b T) T {
	if a == 0 || b == 0 {
		return 0
	}
	return max(a, b)
}

// SessionLimits bound all runs of a session together. 0 means no limit.
type SessionLimits struct {
	MaxTokens     int   `json:"max_tokens"` // prompt and completion
	MaxToolCalls  int   `json:"max_tool_calls"`
	MaxDurationMS int64 `json:"max_duration_ms"` // wall clock while runs are active
}

// Lease lowers the limits of one run to what earlier runs of the session have left. used
// and took are the usage and the ms of those runs. own and ownTook are those of the
// resumed run itself, which do not count here. Lease returns the guard whose budget is
// used up, or "" if there is none.
func (s SessionLimits) Lease(l Limits, used, own Usage, elapsed, ownElapsed int64) (leased Limits, spent string) {
	for _, b := range []struct {
		guard            string
		limit, used, own int64
		to               func(limit int64)
	}{
		{GuardTokens, int64(s.MaxTokens), used.Tokens(), own.Tokens(), func(n int64) { l.MaxTokens = int(tighter(int64(l.MaxTokens), n)) }},
		{GuardToolCalls, int64(s.MaxToolCalls), int64(used.ToolCalls), int64(own.ToolCalls), func(n int64) { l.MaxToolCalls = int(tighter(int64(l.MaxToolCalls), n)) }},
		{GuardTime, s.MaxDurationMS, elapsed, ownElapsed, func(n int64) { l.MaxDurationMS = tighter(l.MaxDurationMS, n) }},
	} {
		if b.limit == 0 {
			continue
		}
		if b.used >= b.limit {
			return l, b.guard
		}
		b.to(b.own + b.limit - b.used)
	}
	return l, ""
}

// tighter returns the lower of two limits, where limit may mean no limit.
func tighter(limit, left int64) int64 {
	if limit == 0 {
		return left
	}
	return min(limit, left)
}
