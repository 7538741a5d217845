package event

// Guards, one per limit of the run.
const (
	GuardSteps     = "steps"
	GuardReplans   = "replans"
	GuardTokens    = "tokens"
	GuardTime      = "time"
	GuardToolCalls = "tool_calls"
	GuardDiscovery = "discovery_calls" // of read-only tools
	GuardExecution = "execution_calls" // of all others
	GuardPerTool   = "calls_per_tool"
	GuardRunaway   = "runaway"
)
