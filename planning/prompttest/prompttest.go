package prompttest

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
)

// Brief returns the brief of a goal with a small catalog.
func Brief() prompt.Brief {
	return prompt.Brief{Goal: "Rename authenticate to verify_user", Catalog: plantest.Tools(), MaxSteps: 5}
}

// Full returns a brief with everything that a prompt can hold.
func Full() prompt.Brief {
	b := Brief()
	b.Prompting.Instructions = "Run `go test ./...` before you commit.\n```\nnot a fence\n```"
	b.Prompting.ModelTools, b.Prompting.PlanTools, b.Prompting.PhaseTimeout = true, true, 2*time.Minute
	b.Prompting.Profiles = []prompt.Profile{{Name: "explorer", Description: "reads its way through code"}}
	b.Catalog = append(b.Catalog,
		plan.Tool{Name: "memory.read", Server: "workspace", Description: "Read the memory.", ReadOnly: true, InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		plan.Tool{Name: "memory.write", Server: "workspace", Description: "Remember a fact.", InputSchema: json.RawMessage(`{"type":"object","properties":{"fact":{"type":"string"}},"required":["fact"]}`)})
	b.Prompting.Conversation = []prompt.Message{{Role: prompt.RoleUser, Content: "Hello"}, {Role: prompt.RoleAssistant, Content: "Hello. What shall we do?"}}
	return b
}

// Crowd returns a brief with a thousand tools more, which are more than its window
// has room to name.
func Crowd(b prompt.Brief) prompt.Brief { return CrowdOf(b, 1000, 8192) }

// CrowdOf returns a brief with so many tools more in a window of that size.
func CrowdOf(b prompt.Brief, tools, window int) prompt.Brief {
	b.Catalog = slices.Clone(b.Catalog)
	for i := range tools {
		b.Catalog = append(b.Catalog, plan.Tool{
			Name: fmt.Sprintf("spare_%04d", i), Server: "depot", Description: "Fetch a spare part.",
			InputSchema: []byte(`{"type":"object","properties":{"part":{"type":"string"}},"required":["part"]}`),
		})
	}
	b.Prompting.ContextWindow = window
	return b
}

// Situation returns a run whose third of four steps failed.
func Situation() prompt.Situation {
	p := plan.Plan{ID: "fix", Title: "Fix", Goal: "Make the tests pass", Steps: []plan.Step{
		{Index: "1", Title: "Read", Executor: "tool", Tool: "fs.read", Args: map[string]any{"path": "a.go"}, ResultVariable: "source", ExpectedOutcome: "the source"},
		{Index: "2", Title: "Run tests", Executor: "tool", Tool: "test.run", Args: map[string]any{}, ExpectedOutcome: "the failure"},
		{Index: "3", Title: "Patch", Executor: "tool", Tool: "fs.patch", Args: map[string]any{"path": "a.go", "edits": []any{map[string]any{"old": "x", "new": "y"}}}, DependsOn: []string{"1", "2"}, Timeout: time.Minute, Gate: true},
		{Index: "4", Title: "Test again", Executor: "tool", Tool: "test.run", Args: map[string]any{"target": "./..."}, DependsOn: []string{"3"}, ExpectedOutcome: "all pass"},
	}}
	return prompt.Situation{
		Plan: p,
		History: []plan.HistoryItem{
			{Index: "1", Title: "Read", Tool: "fs.read", Status: plan.ItemCompleted, Attempt: 1, Result: "package a", ExpectedOutcome: "the source"},
			{Index: "2", Title: "Run tests", Tool: "test.run", Status: plan.ItemCompleted, Attempt: 1, Result: map[string]any{"passed": false}},
			{Index: "3", Title: "Patch", Tool: "fs.patch", Status: plan.ItemFailed, Attempt: 1, Error: "x was not found in a.go"},
		},
		Finished: map[string]bool{"1": true, "2": true}, Remaining: p.Steps[2:],
		Failed: "3", Error: "x was not found in a.go", StepsLeft: 4, ReplansLeft: 2,
	}
}
