package event

// The guards, each a bound of the run.
const (
	GuardSteps     = "steps"
	GuardReplans   = "replans"
	GuardTokens    = "tokens"
	GuardTime      = "time"
	GuardToolCalls = "tool_calls"
	GuardDiscovery = "discovery_calls" // of tools that are read-only
	GuardExecution = "execution_calls" // of all others
	GuardPerTool   = "calls_per_tool"
	GuardRunaway   = "runaway"
)
