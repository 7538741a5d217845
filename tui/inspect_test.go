package tui_test

import (
	"fmt"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/exp/golden"

	"replan/agent"
	"replan/planning"
	"replan/themes"
	"replan/tui"
)

func TestEveryTabOfTheStepIsDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name string
		st   func(*story) *story
		keys []tea.KeyPressMsg
	}{
		{"args", (*story).referring, letters("1")},
		{"output", (*story).finished, letters("gj2")},
		{"test output", (*story).finished, letters("Gkk2")},
		{"diff", (*story).finished, letters("gjjj3")},
		{"story of a retry", (*story).referring, letters("g4")},
		{"story of a gate", (*story).edited, letters("G4")},
		{"args of an edit", (*story).edited, letters("G1")},
		{"timing", (*story).edited, letters("G5")},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				s := open(t, tui.Options{Theme: themes.Dark, Replay: true}, size.w, size.h).show(c.st(newStory()))
				s.press(tabKey).press(c.keys...).press(tabKey)
				golden.RequireEqual(t, s.text()+"\n")
			})
		}
	}
}

func TestTimelineAndRevisionsAreDrawnWideAndNarrow(t *testing.T) {
	for _, c := range []struct {
		name string
		st   func(*story) *story
		keys []tea.KeyPressMsg
	}{
		{"timeline", (*story).finished, letters("t")},
		{"timeline of a run that goes on", (*story).tested, letters("t")},
		{"revision", (*story).finished, letters("v")},
		{"first plan", (*story).finished, append(letters("v"), leftKey)},
	} {
		for _, size := range []struct{ w, h int }{{200, 50}, {120, 36}, {80, 24}, {40, 12}} {
			t.Run(fmt.Sprintf("%s/%dx%d", c.name, size.w, size.h), func(t *testing.T) {
				s := open(t, tui.Options{Theme: themes.Dark, Replay: true}, size.w, size.h).show(c.st(newStory()))
				s.press(tabKey).press(c.keys...)
				golden.RequireEqual(t, s.text()+"\n")
			})
		}
	}
}

// referring is a story of a plan from a file, whose steps use what others gave: a
// read is tried twice, and the user edits a call at its gate.
func (s *story) referring() *story {
	step := func(index, title, tool string, args map[string]any, deps ...string) planning.Step {
		return planning.Step{Index: index, Title: title, Executor: planning.ExecutorTool, Tool: tool, Args: args, DependsOn: deps}
	}
	count := step("1", "Count the open tickets", "tickets.count", map[string]any{"label": "bug"})
	count.ResultVariable, count.Retries = "open", 1
	notes := step("2", "Read the notes", "fs.read", map[string]any{"path": "${dir}/NOTES.md"})
	notes.ResultVariable = "notes"
	ticket := step("3", "Open a ticket", "tickets.open", map[string]any{
		"title": "${open.total} bugs are open", "body": "${notes}", "labels": []any{"bug"}, "assignee": "nobody",
	}, "1", "2")
	ticket.ExpectedOutcome = "the number of the new ticket"
	plan := planning.Plan{ID: "tickets", Title: "Open a ticket", Variables: map[string]any{"dir": "docs"}, Steps: []planning.Step{count, notes, ticket}}
	tools := planning.Catalogue{
		{Name: "tickets.count", Server: "tickets", ReadOnly: true, Annotated: true},
		{Name: "tickets.open", Server: "tickets"},
		{Name: "fs.read", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true},
	}
	begin := func(step planning.Step, n int, args map[string]any) agent.StepStarted {
		return agent.StepStarted{Index: step.Index, Attempt: n, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: args, DependsOn: step.DependsOn}
	}
	s.greeted().after(100).run(agent.RunStarted{
		Goal: "/plan run tickets", Workspace: "/src/auth-service", Session: storySession, Limits: agent.DefaultLimits(), Plan: &plan, Catalogue: tools,
		Rules: []agent.Rule{{Tool: "*", When: agent.WhenReadOnly, Verdict: agent.VerdictRun}},
	}, agent.PlanCreated{Plan: plan, Revision: 1})
	s.after(20).run(begin(count, 1, count.Args), begin(notes, 1, map[string]any{"path": "docs/NOTES.md"}))
	s.after(300).run(agent.StepCompleted{Index: "2", Attempt: 1, MS: 300, Result: "# Notes\n\nThe token helper is *old*.\n"})
	s.after(200).run(agent.StepFailed{Index: "1", Attempt: 1, Error: "the server is busy", Failure: agent.FailureTool, MS: 500},
		agent.StepRetry{Index: "1", Attempt: 1, Error: "the server is busy", At: s.now.Add(500 * time.Millisecond)})
	s.after(500).run(agent.TimerFired{ID: "retry/1/2"}, begin(count, 2, count.Args))
	s.after(400).run(agent.StepCompleted{Index: "1", Attempt: 2, MS: 400, Result: map[string]any{"total": 3}})
	args := map[string]any{"title": "3 bugs are open", "body": "# Notes\n\nThe token helper is *old*.\n", "labels": []any{"bug"}, "assignee": "nobody"}
	return s.after(50).run(agent.GateRequested{
		Gate: "3.1.1", Step: "3", Title: ticket.Title, Tool: "tickets.open", Server: "tickets", Args: args,
		Rule: agent.Rule{Tool: "*", Verdict: agent.VerdictAsk, Source: agent.SourceBuiltIn, Why: "nothing is known of what it changes"},
	})
}

// edited: the user has edited the call at its gate and let it pass, and it failed.
func (s *story) edited() *story {
	args := map[string]any{"title": "3 bugs are open", "body": "See the notes.", "labels": []any{"bug"}, "assignee": "nobody"}
	s.referring().after(2600).run(agent.GateResolved{Gate: "3.1.1", Decision: agent.Edit, By: "user", Args: args})
	s.after(10).run(agent.GateRequested{
		Gate: "3.1.1e1", Step: "3", Title: "Open a ticket", Tool: "tickets.open", Server: "tickets", Args: args,
		Rule: agent.Rule{Tool: "*", Verdict: agent.VerdictAsk, Source: agent.SourceBuiltIn, Why: "nothing is known of what it changes"},
	})
	s.after(1200).run(agent.GateResolved{Gate: "3.1.1e1", Decision: agent.Allow, Scope: agent.ScopeOnce, By: "user"},
		agent.StepStarted{Index: "3", Attempt: 1, Title: "Open a ticket", Executor: planning.ExecutorTool, Tool: "tickets.open", Args: args})
	return s.after(700).run(agent.StepFailed{Index: "3", Attempt: 1, Error: "the server answered 403", Failure: agent.FailureTool, MS: 700})
}
