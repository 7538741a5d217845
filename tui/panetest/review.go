package panetest

import (
	"encoding/json"
	"fmt"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/planning/plan"
)

// ReviewSteps are steps, each for one thing that a review handles.
func ReviewSteps() []plan.Step {
	return []plan.Step{
		{Index: "1", Title: "Read the handler", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/handler.go"}, ResultVariable: "handler"},
		{Index: "2", Title: "Write the notes", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": "notes.md", "text": "# Notes\n\nall of them\n"}, ExpectedOutcome: "notes.md is there"},
		{Index: "3", Title: "Keep a copy of the handler", Executor: plan.ExecutorTool, Tool: "fs.write", Args: map[string]any{"path": "copy.go", "text": "${handler}"}},
		{Index: "4", Title: "Push it", Executor: plan.ExecutorTool, Tool: "vcs.push", Args: map[string]any{}, DependsOn: []string{"2", "3"}},
		{Index: "5", Title: "Sum up what was done", Executor: plan.ExecutorSelf, DependsOn: []string{"4"}},
	}
}

// ReviewEvents are the first events of a run whose plan of these steps waits for review.
func ReviewEvents(steps []plan.Step) []event.Data {
	schema := func(required string) json.RawMessage {
		return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"path":{"type":"string"},"text":{"type":"string"}},"required":[%s]}`, required))
	}
	p := plan.Plan{Title: "Tidy up", Goal: "tidy up", Steps: steps}
	return []event.Data{event.RunStarted{
		Goal: "tidy up", Workspace: "/src/auth-service", Session: "s-1", Model: "qwen3:8b", Limits: event.DefaultLimits(), Review: true, Plan: &p,
		Catalog: plan.Catalog{
			{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true, InputSchema: schema(`"path"`)},
			{Name: "fs.write", Server: "workspace", Annotated: true, Destructive: true, Trusted: true, InputSchema: schema(`"path","text"`)},
			{Name: "vcs.push", Server: "workspace", Annotated: true, Destructive: true, Trusted: true, InputSchema: json.RawMessage(`{"type":"object"}`)},
		},
		Rules: []rule.Rule{
			{Tool: "vcs.push", Verdict: rule.VerdictBlock, Source: rule.SourceFlag, Why: "--deny says so"},
			{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun, Source: rule.SourceBuiltIn},
			{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "it can change or delete data"},
		},
	}, event.PlanCreated{Plan: p, Revision: 1}}
}
