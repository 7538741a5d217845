package panetest

import (
	"encoding/json"

	"replan/agent/rule"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// SettingsInForce returns a few settings.
func SettingsInForce() session.Settings {
	return session.Settings{File: "/home/me/.config/replan/config.toml", Settings: []session.Setting{
		{Key: "model.name", Value: "qwen3:8b", Literal: `"qwen3:8b"`, Source: "user file", Saved: new("qwen3:8b"), About: "the model that answers"},
		{Key: "model.think", Value: "auto", Literal: `"auto"`, Source: "default", Choices: prompt.ThinkLevels(), About: "how hard the model thinks"},
		{Key: "limits.max_steps", Value: "12, grows with the plan", Literal: "12", Source: "default", About: "most step executions of a run"},
		{Key: "planning.eager", Value: "true", Literal: "true", Source: "default", Saved: new("false"), About: "steps that read start while the plan is written"},
		{Key: "screen.theme", Value: "dark", Literal: `"dark"`, Source: "flag --theme", Saved: new("paper"), About: "colors of the screen"},
		{Key: "policy", Value: "2 rules of flags", Source: "flags --allow, --deny", About: "rules on calls"},
	}}
}

// ThreeServers are a server that is ready, one that failed, and one of the project in a state.
func ThreeServers(tickets plan.ServerState) []plan.ServerStatus {
	return []plan.ServerStatus{
		{Name: "workspace", State: plan.ServerReady, Tools: 3, Source: "built-in", Transport: "built-in", StartMS: 120, Calls: 128, MedianMS: 12, LastMS: 34},
		{Name: "search", State: plan.ServerFailed, Error: "did not answer within 20s", LastError: "did not answer within 20s", Source: "user configuration", Transport: "http", URL: "https://search.example.com/mcp", Calls: 12, Failures: 3, MedianMS: 1240, LastMS: 20000},
		{Name: "tickets", State: tickets, Source: "project", Transport: "stdio", Command: []string{"npx", "-y", "@example/tickets-mcp", "--project", "auth tokens"}},
	}
}

// OfferedTools are the tools of those servers.
func OfferedTools() session.Servers {
	return session.Servers{Servers: ThreeServers(plan.ServerWaiting), Tools: []session.OfferedTool{
		{Server: "workspace", Name: "fs.read", Description: "Reads a file of the workspace, whole or by lines.\nMore.", ReadOnly: true, Tokens: 180, Verdict: rule.VerdictRun},
		{Server: "workspace", Name: "fs.patch", Description: "Changes a file by replacing text.", Tokens: 1240, Verdict: rule.VerdictAsk, InputSchema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string","description":"relative to the folder"},"edits":{"type":"array","items":{"type":"object"}},"mode":{"enum":["first","all"]}},"required":["path"]}`)},
		{Server: "workspace", Name: "test.run", Description: "Runs the tests.", Destructive: true},
		{Server: "other", Name: "not.this"},
	}}
}

// LockedServers is a session with a server that needs a login.
func LockedServers() session.Status {
	servers := ThreeServers(plan.ServerWaiting)
	servers[1].NeedsLogin, servers[1].Error, servers[1].LastError = true, "needs a login: run replan mcp login search, or use the login key in the servers view", ""
	return session.Status{Workspace: "/src", Model: "m", Servers: servers}
}

// ChangedServers is a session with a server that has changed two texts, and one of the
// project that the user has allowed.
func ChangedServers() session.Status {
	servers := ThreeServers(plan.ServerReady)
	servers[1].State, servers[1].Note, servers[1].LastError, servers[1].Changes = plan.ServerReady, "its instructions, search have changed; models do not see them until you accept the changes: replan tools accept search", "", 2
	servers[2].Allowed = true
	return session.Status{Workspace: "/src", Model: "m", Servers: servers}
}
