package panetest

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/keymap"
)

// Story builds the events of one session.
type Story struct {
	Events  []event.Event
	Answers []tea.Msg // to queries, after the events
	Now     time.Time
	Seq     uint64
}

// The session of a story.
const (
	StorySession = "s-1"
)

// NewStory returns a story of which nothing has happened yet.
func NewStory() *Story {
	return &Story{Now: time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC)}
}

// Record adds events of a run, or of the session, at the present time.
func (s *Story) Record(run string, data ...event.Data) *Story {
	for _, d := range data {
		s.Seq++
		s.Events = append(s.Events, event.Event{Seq: s.Seq, Time: s.Now, Run: run, Data: d})
	}
	return s
}

// Run adds events of the run that most tests are about.
func (s *Story) Run(data ...event.Data) *Story { return s.Record(StoryRun, data...) }

// Session adds events of the session itself, and answers to queries.
func (s *Story) Session(data ...any) *Story {
	for _, a := range data {
		if d, ok := a.(event.Data); ok {
			s.Record(StorySession, d)
		} else {
			s.Answers = append(s.Answers, answerOf(a))
		}
	}
	return s
}

// answerOf returns the message for the answer to a query.
func answerOf(a any) tea.Msg {
	switch a := a.(type) {
	case []agent.Summary:
		return keymap.AnswerMsg[[]agent.Summary]{Value: a}
	case []session.Conversation:
		return keymap.AnswerMsg[[]session.Conversation]{Value: a}
	case session.Models:
		return keymap.AnswerMsg[session.Models]{Value: a}
	case session.Servers:
		return keymap.AnswerMsg[session.Servers]{Value: a}
	case session.Settings:
		return keymap.AnswerMsg[session.Settings]{Value: a}
	case session.Completions:
		return keymap.AnswerMsg[session.Completions]{Value: a}
	case event.Undo:
		return keymap.AnswerMsg[event.Undo]{Value: a}
	default:
		return a // a message already
	}
}

// Next returns a story that continues where this one ends.
func (s *Story) Next() *Story { return &Story{Now: s.Now, Seq: s.Seq} }

// After lets milliseconds pass.
func (s *Story) After(ms int) *Story {
	s.Now = s.Now.Add(time.Duration(ms) * time.Millisecond)
	return s
}

// StoryAnswer is the answer of the run.
const StoryAnswer = "The function is now called `verifyUser` everywhere, and **all 14 tests pass**.\n\n" +
	"- `auth/handler.go`: the definition and its caller\n" +
	"- `auth/jwt.go`: the helper that still used the old name, which is why the first test run failed\n\n" +
	"```go\nuser, err := verifyUser(ctx, token)\nif err != nil {\n\treturn err\n}\n```\n\n" +
	"Nothing outside `auth/` refers to it.\n"

// testFailure is the error of the failed tests.
const testFailure = "exit status 1: 1 package failed\n" +
	"# example.com/auth-service/auth\n" +
	"auth/jwt.go:33:15: undefined: authenticate\n" +
	"FAIL\texample.com/auth-service/auth [build failed]"

// Greeted tells that the session has reported its status.
func (s *Story) Greeted() *Story {
	return s.Session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6,
		Servers: []plan.ServerStatus{{Name: "workspace", State: plan.ServerReady, Tools: 6}},
	})
}

// Asked tells that the user sent the goal and the analysis has started.
func (s *Story) Asked() *Story {
	s.Greeted().After(200).Session(event.ChatUser{Text: StoryGoal})
	return s.After(50).Run(event.RunStarted{Goal: StoryGoal, Workspace: "/src/auth-service", Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits()},
		event.PhaseStarted{Phase: 1, Label: "analysis"}).
		After(800).Run(event.PhaseDelta{Phase: 1, Thinking: "The user wants a rename. I should look for every use of the name first, because a helper may still say authenticate."})
}

// Drafting tells that the plan streams in.
func (s *Story) Drafting() *Story {
	s.Asked().After(2300).Run(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 412, MS: 3100},
		event.PhaseStarted{Phase: 2, Label: "review"}).
		After(2000).Run(event.PhaseCompleted{Phase: 2, Label: "review", Tokens: 655, MS: 2000},
		event.PhaseStarted{Phase: 3, Label: "plan"})
	for _, step := range RenameSteps()[:4] {
		s.After(350).Run(event.PlanDrafting{Step: step})
	}
	return s
}

// Begin starts a step of the plan.
func (s *Story) Begin(index string) *Story {
	for _, step := range RenameSteps() {
		if step.Index == index {
			return s.Run(event.StepStarted{Index: index, Attempt: 1, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: step.Args, DependsOn: step.DependsOn, ExpectedOutcome: step.ExpectedOutcome})
		}
	}
	return s
}

// Branching tells that two reads run at once.
func (s *Story) Branching() *Story {
	s.Drafting()
	for _, step := range RenameSteps()[4:] {
		s.After(350).Run(event.PlanDrafting{Step: step})
	}
	s.After(200).Run(event.PhaseCompleted{Phase: 3, Label: "plan", Tokens: 1204, MS: 2300, Reply: reply.Reply{PromptTokens: 3100, CompletionTokens: 290, ContextWindow: 32768}},
		event.PlanCreated{Plan: plan.Plan{ID: "rename", Title: "Rename authenticate", Goal: StoryGoal, Steps: RenameSteps(), OnFailure: plan.OnFailureReplan}, Revision: 1})
	s.Begin("1").After(120).Run(event.StepCompleted{Index: "1", Attempt: 1, MS: 120, Result: map[string]any{"total": 4, "matches": []any{"auth/handler.go:15", "auth/handler.go:26", "auth/handler.go:27", "auth/jwt.go:33"}}})
	return s.Begin("2").Begin("3").After(400)
}

// Gated tells that the patch waits at its gate.
func (s *Story) Gated() *Story {
	s.Branching().Run(event.StepCompleted{Index: "2", Attempt: 1, MS: 410, Result: "package auth\n\nimport (\n\t\"context\"\n\t\"net/http\"\n)\n\n// Handler guards the service.\ntype Handler struct{ next http.Handler }\n"}).
		After(150).Run(event.StepCompleted{Index: "3", Attempt: 1, MS: 560, Result: "package auth\n"})
	return s.After(900).Run(HandlerGate())
}

// Replanning tells that the tests failed and the planner revises the plan.
func (s *Story) Replanning() *Story {
	s.Gated().After(2100).Run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"})
	s.Begin("4").After(40).Run(event.StepCompleted{Index: "4", Attempt: 1, MS: 40, Result: map[string]any{"files": []any{map[string]any{"path": "auth/handler.go", "added": 3, "removed": 3}}}})
	s.Begin("5").After(600).Run(event.StepOutput{Index: "5", Chunk: "# example.com/auth-service/auth\nauth/jwt.go:33:15: undefined: authenticate\n"}).
		After(1300).Run(event.StepFailed{Index: "5", Attempt: 1, Error: testFailure, Failure: event.FailureTool, MS: 1900})
	return s.Run(event.ReplanStarted{Attempt: 1, Step: "5", Error: testFailure, Remaining: []string{"5", "6"}}).After(1200)
}

// Revised tells that the plan was revised and its patch waits at a gate.
func (s *Story) Revised() *Story {
	s.Replanning().After(900)
	steps := append([]plan.Step{}, RenameSteps()[:4]...)
	steps = append(steps,
		plan.Step{Index: "7", Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"}, DependsOn: []string{"4"}},
		plan.Step{Index: "8", Title: "Run the tests again", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{"path": "./..."}, DependsOn: []string{"7"}, ExpectedOutcome: "all tests pass"},
		plan.Step{Index: "6", Title: "Sum up both changes", Executor: plan.ExecutorSelf, DependsOn: []string{"8"}},
	)
	s.Run(event.PlanDiff{
		Revision: 2, Reason: testFailure, Removed: []string{"5"}, Added: []string{"7", "8"}, Revised: []string{"6"},
		Plan: plan.Plan{ID: "rename", Title: "Rename authenticate", Goal: StoryGoal, Steps: steps, OnFailure: plan.OnFailureReplan},
	})
	return s.After(30).Run(HelperGate())
}

// Tested tells that the second patch is applied and the tests run.
func (s *Story) Tested() *Story {
	s.Revised().After(1500).Run(event.GateResolved{Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"},
		event.StepStarted{Index: "7", Attempt: 1, Title: "Rename in the token helper", Tool: "fs.patch"}).
		After(30).Run(event.StepCompleted{Index: "7", Attempt: 1, MS: 30, Result: map[string]any{"files": []any{}}},
		event.StepStarted{Index: "8", Attempt: 1, Title: "Run the tests again", Tool: "test.run", Args: map[string]any{"path": "./..."}})
	for i := range 6 {
		s.After(250).Run(event.StepOutput{Index: "8", Chunk: fmt.Sprintf("ok  \texample.com/auth-service/pkg%d\t0.0%ds\n", i, i)})
	}
	return s
}

// Answering tells that the answer streams in.
func (s *Story) Answering() *Story {
	s.Tested().After(300).Run(event.StepCompleted{Index: "8", Attempt: 1, MS: 1800, Result: map[string]any{"passed": true, "summary": "14 tests passed", "output": "ok  \texample.com/auth-service/auth\t0.021s\n"}},
		event.StepStarted{Index: "6", Attempt: 1, Title: "Sum up both changes", Executor: plan.ExecutorSelf}).
		After(700).Run(event.StepCompleted{Index: "6", Attempt: 1, MS: 700, Result: "Two files changed.", Tokens: 150})
	return s.Run(event.SynthesisStarted{Request: prompt.Request{Purpose: prompt.PurposeSynthesis}}).After(600).Run(event.SynthesisDelta{Text: StoryAnswer[:180]})
}

// Finished tells that the answer is complete and the run has ended.
func (s *Story) Finished() *Story {
	s.Answering().After(900).Run(event.SynthesisDelta{Text: StoryAnswer[180:]},
		event.SynthesisCompleted{Text: StoryAnswer, Reply: reply.Reply{PromptTokens: 4120, CompletionTokens: 210, ContextWindow: 32768, MS: 1500}})
	result := event.Result{
		Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: StoryAnswer, DurationMS: 21_600,
		Usage: event.Usage{Steps: 8, ToolCalls: 7, ModelCalls: 6, PromptTokens: 11_900, CompletionTokens: 1_210, Replans: 1},
	}
	return s.Run(event.RunCompleted{Result: result}).Session(event.ChatReply{Run: StoryRun, Text: StoryAnswer, Status: result.Status, Reason: result.Reason})
}

// Stopped tells that the user pressed Esc while the tests ran.
func (s *Story) Stopped() *Story {
	return s.Tested().After(100).Run(
		event.StepInDoubt{Index: "8", Attempt: 1, Reason: "stopped by the user", MS: 1600},
		event.RunPaused{Reason: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, DurationMS: 17_000, Usage: event.Usage{Steps: 7, Replans: 1}}})
}

// Servers tells that the servers of the project wait for approval.
func (s *Story) Servers() *Story {
	s.Greeted()
	for _, question := range ToolServers() {
		s.Session(question)
	}
	return s
}

// Wide tells of a run with wide characters, joined emoji and combining marks in its goal,
// titles, arguments, output, table and answer.
func (s *Story) Wide() *Story {
	plan := plan.Plan{Title: "検索", Goal: "認証を調べる 👩‍👩‍👧", Steps: []plan.Step{
		{Index: "1", Title: "認証の関数をすべて探して一覧にする", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "認証 👍🏽 e\u0301te\u0301"}},
		{Index: "2", Title: "Cafe\u0301 🇩🇪 lesen", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "文書/設計.md"}, DependsOn: []string{"1"}},
	}}
	s.Greeted().After(100).Session(event.ChatUser{Text: plan.Goal}).
		Run(event.RunStarted{Goal: plan.Goal, Workspace: "/src/設計", Session: StorySession, Plan: &plan, Model: "qwen3:8b"},
			event.PlanCreated{Plan: plan, Revision: 1},
			event.StepStarted{Index: "1", Attempt: 1, Args: plan.Steps[0].Args}).After(40).
		Run(event.StepCompleted{Index: "1", Attempt: 1, MS: 40, Result: "文書/設計.md:3: 認証 👩‍👩‍👧 e\u0301"},
			event.StepStarted{Index: "2", Attempt: 1, Args: plan.Steps[1].Args}).After(60).
		Run(event.StepCompleted{Index: "2", Attempt: 1, MS: 60, Result: "# 設計\n\n👍🏽 gut"})
	return s.Session(event.ChatReply{Status: event.StatusCompleted, Text: "| 名前 | 意味 |\n|---|---|\n| 認証 | 👩‍👩‍👧 家族 |\n| cafe\u0301 | e\u0301te\u0301 |\n\n- 設計は **完了** です\n"})
}
