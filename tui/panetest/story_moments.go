package panetest

import (
	"strings"
	"time"

	"replan/agent/event"
	"replan/agent/rule"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Crowded tells that five calls wait at once, three of them similar; one tool was allowed
// for the run before.
func (s *Story) Crowded() *Story { return s.Asked().After(100).Run(Crowd(StoryGoal)...) }

// Abreast tells that calls of independent steps wait at gates, in the given order.
func (s *Story) Abreast(gates ...string) *Story {
	return s.Asked().After(100).Run(Abreast(StoryGoal, gates...)...)
}

// Halted tells that an agent step was running when the run ended, with a call that was
// requested and never made.
func (s *Story) Halted(result event.Result) *Story {
	s.Exploring().Run(event.StepCompleted{Index: "2.3", Attempt: 1, MS: 400, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: SampleRequest(prompt.PurposeAgent, "2")})
	third := SampleReply("I read the rest.", 1900, 60)
	third.Calls = []reply.ToolUse{toolUse("fs_read", map[string]any{"path": "auth/refresh.go"})}
	s.After(800).Run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: third, PromptTokens: 1900, CompletionTokens: 60, MS: 800})
	if result.Status == event.StatusCanceled {
		return s.Run(event.RunPaused{Reason: "user"}, event.RunCompleted{Result: result})
	}
	return s.Run(event.GuardBlocked{Guard: "tool_calls", Step: "2.4", Reason: result.Error}, event.RunCompleted{Result: result})
}

// Referring is a story of a plan from a file, whose steps use results of others. A step is
// tried twice, and a call waits at its gate.
func (s *Story) Referring() *Story {
	step := func(index, title, tool string, args map[string]any, deps ...string) plan.Step {
		return plan.Step{Index: index, Title: untrusted.Text(title), Executor: plan.ExecutorTool, Tool: tool, Args: args, DependsOn: deps}
	}
	count := step("1", "Count the open tickets", "tickets.count", map[string]any{"label": "bug"})
	count.ResultVariable, count.Retries = "open", 1
	notes := step("2", "Read the notes", "fs.read", map[string]any{"path": "${dir}/NOTES.md"})
	notes.ResultVariable = "notes"
	ticket := step("3", "Open a ticket", "tickets.open", map[string]any{
		"title": "${open.total} bugs are open", "body": "${notes}", "labels": []any{"bug"}, "assignee": "nobody",
	}, "1", "2")
	ticket.ExpectedOutcome = "the number of the new ticket"
	p := plan.Plan{ID: "tickets", Title: "Open a ticket", Variables: map[string]any{"dir": "docs"}, Steps: []plan.Step{count, notes, ticket}}
	tools := plan.Catalog{
		{Name: "tickets.count", Server: "tickets", ReadOnly: true, Annotated: true},
		{Name: "tickets.open", Server: "tickets"},
		{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true},
	}
	begin := func(step plan.Step, n int, args map[string]any) event.StepStarted {
		return event.StepStarted{Index: step.Index, Attempt: n, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: args, DependsOn: step.DependsOn}
	}
	s.Greeted().After(100).Run(event.RunStarted{
		Goal: "/plan run tickets", Workspace: "/src/auth-service", Session: StorySession, Limits: event.DefaultLimits(), Plan: &p, Catalog: tools,
		Rules: []rule.Rule{{Tool: "*", When: rule.WhenReadOnly, Verdict: rule.VerdictRun}},
	}, event.PlanCreated{Plan: p, Revision: 1})
	s.After(20).Run(begin(count, 1, count.Args), begin(notes, 1, map[string]any{"path": "docs/NOTES.md"}))
	s.After(300).Run(event.StepCompleted{Index: "2", Attempt: 1, MS: 300, Result: "# Notes\n\nThe token helper is *old*.\n"})
	s.After(200).Run(event.StepFailed{Index: "1", Attempt: 1, Error: "the server is busy", Failure: event.FailureTool, MS: 500},
		event.StepRetry{Index: "1", Attempt: 1, Error: "the server is busy", At: s.Now.Add(500 * time.Millisecond)})
	s.After(500).Run(event.TimerFired{ID: "retry/1/2"}, begin(count, 2, count.Args))
	s.After(400).Run(event.StepCompleted{Index: "1", Attempt: 2, MS: 400, Result: map[string]any{"total": 3}})
	args := map[string]any{"title": "3 bugs are open", "body": "# Notes\n\nThe token helper is *old*.\n", "labels": []any{"bug"}, "assignee": "nobody"}
	return s.After(50).Run(event.GateRequested{
		Gate: "3.1.1", Step: "3", Title: ticket.Title, Tool: "tickets.open", Server: "tickets", Args: args,
		Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "nothing is known of what it changes"},
	})
}

// Edited tells that the user edited and allowed the call at its gate, and it failed.
func (s *Story) Edited() *Story {
	args := map[string]any{"title": "3 bugs are open", "body": "See the notes.", "labels": []any{"bug"}, "assignee": "nobody"}
	s.Referring().After(2600).Run(event.GateResolved{Gate: "3.1.1", Decision: event.Edit, By: "user", Args: args})
	s.After(10).Run(event.GateRequested{
		Gate: "3.1.1e1", Step: "3", Title: "Open a ticket", Tool: "tickets.open", Server: "tickets", Args: args,
		Rule: rule.Rule{Tool: "*", Verdict: rule.VerdictAsk, Source: rule.SourceBuiltIn, Why: "nothing is known of what it changes"},
	})
	s.After(1200).Run(event.GateResolved{Gate: "3.1.1e1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.StepStarted{Index: "3", Attempt: 1, Title: "Open a ticket", Executor: plan.ExecutorTool, Tool: "tickets.open", Args: args})
	return s.After(700).Run(event.StepFailed{Index: "3", Attempt: 1, Error: "the server answered 403", Failure: event.FailureTool, MS: 700})
}

// Long tells that the chat has more lines than the screen.
func (s *Story) Long() *Story {
	for i := range 60 {
		s.Session(event.Note{Level: "info", Text: untrusted.Text(strings.Repeat("x", i+1))})
	}
	return s
}

// Results tells that a plan is done whose steps have results of several kinds.
func (s *Story) Results() *Story {
	place := func(path string, line int, text string) map[string]any {
		return map[string]any{"path": path, "line": line, "text": text}
	}
	s.Planned()
	for _, r := range []struct {
		index  string
		result any
	}{
		{"1", strings.Repeat("- faster\n", 9)},
		{"2", map[string]any{"files": 2, "matches": []any{place("NOTES.md", 3, "- faster"), place("docs/a-file-with-a-name-that-is-long/NOTES.md", 14, "- much smaller than it ever was before")}}},
		{"3", map[string]any{"summary": "1 of 3 tests failed", "passed": false, "failures": []any{map[string]any{"name": "TestNotes", "file": "notes_test.go", "line": 7}}}},
		{"4", map[string]any{"ok": true, "posted": "releases"}},
	} {
		s.StartStep(StoryPlanRun, r.index, nil).After(100).Plan(event.StepCompleted{Index: r.index, Attempt: 1, MS: 100, Result: r.result})
	}
	s.Plan(event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 400, Usage: event.Usage{Steps: 4, ToolCalls: 4}}})
	return s.Session(event.ChatReply{
		Run: StoryPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done.",
		Results: "What the steps brought:\n\n**1. Read the release notes**: completed\n\n```\n- faster\n```\n",
	})
}

// Reviewing tells that the plan is complete and waits for review.
func (s *Story) Reviewing() *Story { return s.Reviewed(ReviewEvents(ReviewSteps())) }

// Reviewed tells that a plan waits for review after these events.
func (s *Story) Reviewed(data []event.Data) *Story {
	s.Greeted().After(200).Session(event.ChatUser{Text: "tidy up"})
	return s.After(50).Run(data...)
}
