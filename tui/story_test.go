package tui_test

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
	"replan/tui"
	"replan/tui/panetest"
)

// story builds the events of one session.
type story struct {
	events  []event.Event
	answers []tea.Msg // to queries, after the events
	now     time.Time
	seq     uint64
}

const (
	storySession = "s-1"
	storyRun     = "r-20261121-114200-k3fq"
	storyGoal    = "rename authenticate to verifyUser and run the tests"
)

func newStory() *story {
	return &story{now: time.Date(2026, 11, 21, 11, 42, 0, 0, time.UTC)}
}

func (s *story) record(run string, data ...event.Data) *story {
	for _, d := range data {
		s.seq++
		s.events = append(s.events, event.Event{Seq: s.seq, Time: s.now, Run: run, Data: d})
	}
	return s
}

func (s *story) run(data ...event.Data) *story { return s.record(storyRun, data...) }

// session adds events of the session itself, and answers to queries.
func (s *story) session(data ...any) *story {
	for _, a := range data {
		if d, ok := a.(event.Data); ok {
			s.record(storySession, d)
		} else {
			s.answers = append(s.answers, answerOf(a))
		}
	}
	return s
}

// answerOf returns the message for the answer to a query.
func answerOf(a any) tea.Msg {
	switch a := a.(type) {
	case []agent.Summary:
		return tui.Answer(a)
	case []session.Conversation:
		return tui.Answer(a)
	case session.Models:
		return tui.Answer(a)
	case session.Servers:
		return tui.Answer(a)
	case session.Settings:
		return tui.Answer(a)
	case session.Completions:
		return tui.Answer(a)
	case event.Undo:
		return tui.Answer(a)
	default:
		return a // a message already
	}
}

func (s *story) after(ms int) *story {
	s.now = s.now.Add(time.Duration(ms) * time.Millisecond)
	return s
}

const (
	handlerDiff = panetest.HandlerDiff
	helperDiff  = panetest.HelperDiff
)

const storyAnswer = "The function is now called `verifyUser` everywhere, and **all 14 tests pass**.\n\n" +
	"- `auth/handler.go`: the definition and its caller\n" +
	"- `auth/jwt.go`: the helper that still used the old name, which is why the first test run failed\n\n" +
	"```go\nuser, err := verifyUser(ctx, token)\nif err != nil {\n\treturn err\n}\n```\n\n" +
	"Nothing outside `auth/` refers to it.\n"

const testFailure = "exit status 1: 1 package failed\n" +
	"# example.com/auth-service/auth\n" +
	"auth/jwt.go:33:15: undefined: authenticate\n" +
	"FAIL\texample.com/auth-service/auth [build failed]"

// greeted: the session has reported its status.
func (s *story) greeted() *story {
	return s.session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6,
		Servers: []plan.ServerStatus{{Name: "workspace", State: plan.ServerReady, Tools: 6}},
	})
}

// asked: the user sent the goal and the analysis has started.
func (s *story) asked() *story {
	s.greeted().after(200).session(event.ChatUser{Text: storyGoal})
	return s.after(50).run(event.RunStarted{Goal: storyGoal, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits()},
		event.PhaseStarted{Phase: 1, Label: "analysis"}).
		after(800).run(event.PhaseDelta{Phase: 1, Thinking: "The user wants a rename. I should look for every use of the name first, because a helper may still say authenticate."})
}

// drafting: the plan streams in.
func (s *story) drafting() *story {
	s.asked().after(2300).run(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 412, MS: 3100},
		event.PhaseStarted{Phase: 2, Label: "review"}).
		after(2000).run(event.PhaseCompleted{Phase: 2, Label: "review", Tokens: 655, MS: 2000},
		event.PhaseStarted{Phase: 3, Label: "plan"})
	for _, step := range panetest.RenameSteps()[:4] {
		s.after(350).run(event.PlanDrafting{Step: step})
	}
	return s
}

func (s *story) begin(index string) *story {
	for _, step := range panetest.RenameSteps() {
		if step.Index == index {
			return s.run(event.StepStarted{Index: index, Attempt: 1, Title: step.Title, Executor: step.Executor, Tool: step.Tool, Args: step.Args, DependsOn: step.DependsOn, ExpectedOutcome: step.ExpectedOutcome})
		}
	}
	return s
}

// branching: two reads run at once.
func (s *story) branching() *story {
	s.drafting()
	for _, step := range panetest.RenameSteps()[4:] {
		s.after(350).run(event.PlanDrafting{Step: step})
	}
	s.after(200).run(event.PhaseCompleted{Phase: 3, Label: "plan", Tokens: 1204, MS: 2300, Reply: reply.Reply{PromptTokens: 3100, CompletionTokens: 290, ContextWindow: 32768}},
		event.PlanCreated{Plan: plan.Plan{ID: "rename", Title: "Rename authenticate", Goal: storyGoal, Steps: panetest.RenameSteps(), OnFailure: plan.OnFailureReplan}, Revision: 1})
	s.begin("1").after(120).run(event.StepCompleted{Index: "1", Attempt: 1, MS: 120, Result: map[string]any{"total": 4, "matches": []any{"auth/handler.go:15", "auth/handler.go:26", "auth/handler.go:27", "auth/jwt.go:33"}}})
	return s.begin("2").begin("3").after(400)
}

// gated: the patch waits at its gate.
func (s *story) gated() *story {
	s.branching().run(event.StepCompleted{Index: "2", Attempt: 1, MS: 410, Result: "package auth\n\nimport (\n\t\"context\"\n\t\"net/http\"\n)\n\n// Handler guards the service.\ntype Handler struct{ next http.Handler }\n"}).
		after(150).run(event.StepCompleted{Index: "3", Attempt: 1, MS: 560, Result: "package auth\n"})
	return s.after(900).run(panetest.HandlerGate())
}

// replanning: the tests failed and the planner revises the plan.
func (s *story) replanning() *story {
	s.gated().after(2100).run(event.GateResolved{Gate: "4.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"})
	s.begin("4").after(40).run(event.StepCompleted{Index: "4", Attempt: 1, MS: 40, Result: map[string]any{"files": []any{map[string]any{"path": "auth/handler.go", "added": 3, "removed": 3}}}})
	s.begin("5").after(600).run(event.StepOutput{Index: "5", Chunk: "# example.com/auth-service/auth\nauth/jwt.go:33:15: undefined: authenticate\n"}).
		after(1300).run(event.StepFailed{Index: "5", Attempt: 1, Error: testFailure, Failure: event.FailureTool, MS: 1900})
	return s.run(event.ReplanStarted{Attempt: 1, Step: "5", Error: testFailure, Remaining: []string{"5", "6"}}).after(1200)
}

// revised: the plan was revised and its patch waits at a gate.
func (s *story) revised() *story {
	s.replanning().after(900)
	steps := append([]plan.Step{}, panetest.RenameSteps()[:4]...)
	steps = append(steps,
		plan.Step{Index: "7", Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"}, DependsOn: []string{"4"}},
		plan.Step{Index: "8", Title: "Run the tests again", Executor: plan.ExecutorTool, Tool: "test.run", Args: map[string]any{"path": "./..."}, DependsOn: []string{"7"}, ExpectedOutcome: "all tests pass"},
		plan.Step{Index: "6", Title: "Sum up both changes", Executor: plan.ExecutorSelf, DependsOn: []string{"8"}},
	)
	s.run(event.PlanDiff{
		Revision: 2, Reason: testFailure, Removed: []string{"5"}, Added: []string{"7", "8"}, Revised: []string{"6"},
		Plan: plan.Plan{ID: "rename", Title: "Rename authenticate", Goal: storyGoal, Steps: steps, OnFailure: plan.OnFailureReplan},
	})
	return s.after(30).run(panetest.HelperGate())
}

// tested: the second patch is applied and the tests run.
func (s *story) tested() *story {
	s.revised().after(1500).run(event.GateResolved{Gate: "7.2.1", Decision: event.Allow, Scope: event.ScopeRun, By: "user"},
		event.StepStarted{Index: "7", Attempt: 1, Title: "Rename in the token helper", Tool: "fs.patch"}).
		after(30).run(event.StepCompleted{Index: "7", Attempt: 1, MS: 30, Result: map[string]any{"files": []any{}}},
		event.StepStarted{Index: "8", Attempt: 1, Title: "Run the tests again", Tool: "test.run", Args: map[string]any{"path": "./..."}})
	for i := range 6 {
		s.after(250).run(event.StepOutput{Index: "8", Chunk: fmt.Sprintf("ok  \texample.com/auth-service/pkg%d\t0.0%ds\n", i, i)})
	}
	return s
}

// answering: the answer streams in.
func (s *story) answering() *story {
	s.tested().after(300).run(event.StepCompleted{Index: "8", Attempt: 1, MS: 1800, Result: map[string]any{"passed": true, "summary": "14 tests passed", "output": "ok  \texample.com/auth-service/auth\t0.021s\n"}},
		event.StepStarted{Index: "6", Attempt: 1, Title: "Sum up both changes", Executor: plan.ExecutorSelf}).
		after(700).run(event.StepCompleted{Index: "6", Attempt: 1, MS: 700, Result: "Two files changed.", Tokens: 150})
	return s.run(event.SynthesisStarted{Request: prompt.Request{Purpose: prompt.PurposeSynthesis}}).after(600).run(event.SynthesisDelta{Text: storyAnswer[:180]})
}

// finished: the answer is complete and the run has ended.
func (s *story) finished() *story {
	s.answering().after(900).run(event.SynthesisDelta{Text: storyAnswer[180:]},
		event.SynthesisCompleted{Text: storyAnswer, Reply: reply.Reply{PromptTokens: 4120, CompletionTokens: 210, ContextWindow: 32768, MS: 1500}})
	result := event.Result{
		Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Answer: storyAnswer, DurationMS: 21_600,
		Usage: event.Usage{Steps: 8, ToolCalls: 7, ModelCalls: 6, PromptTokens: 11_900, CompletionTokens: 1_210, Replans: 1},
	}
	return s.run(event.RunCompleted{Result: result}).session(event.ChatReply{Run: storyRun, Text: storyAnswer, Status: result.Status, Reason: result.Reason})
}

// stopped: the user pressed Esc while the tests ran.
func (s *story) stopped() *story {
	return s.tested().after(100).run(
		event.StepInDoubt{Index: "8", Attempt: 1, Reason: "stopped by the user", MS: 1600},
		event.RunPaused{Reason: "user"},
		event.RunCompleted{Result: event.Result{Status: event.StatusCanceled, Reason: event.ReasonInterrupted, DurationMS: 17_000, Usage: event.Usage{Steps: 7, Replans: 1}}})
}

// servers: the servers of the project wait for approval.
func (s *story) servers() *story {
	s.greeted()
	for _, question := range panetest.ToolServers() {
		s.session(question)
	}
	return s
}

// wide: a run with wide characters, joined emoji and combining marks in its goal,
// titles, arguments, output, table and answer.
func (s *story) wide() *story {
	plan := plan.Plan{Title: "検索", Goal: "認証を調べる 👩‍👩‍👧", Steps: []plan.Step{
		{Index: "1", Title: "認証の関数をすべて探して一覧にする", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "認証 👍🏽 e\u0301te\u0301"}},
		{Index: "2", Title: "Cafe\u0301 🇩🇪 lesen", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "文書/設計.md"}, DependsOn: []string{"1"}},
	}}
	s.greeted().after(100).session(event.ChatUser{Text: plan.Goal}).
		run(event.RunStarted{Goal: plan.Goal, Workspace: "/src/設計", Session: storySession, Plan: &plan, Model: "qwen3:8b"},
			event.PlanCreated{Plan: plan, Revision: 1},
			event.StepStarted{Index: "1", Attempt: 1, Args: plan.Steps[0].Args}).after(40).
		run(event.StepCompleted{Index: "1", Attempt: 1, MS: 40, Result: "文書/設計.md:3: 認証 👩‍👩‍👧 e\u0301"},
			event.StepStarted{Index: "2", Attempt: 1, Args: plan.Steps[1].Args}).after(60).
		run(event.StepCompleted{Index: "2", Attempt: 1, MS: 60, Result: "# 設計\n\n👍🏽 gut"})
	return s.session(event.ChatReply{Status: event.StatusCompleted, Text: "| 名前 | 意味 |\n|---|---|\n| 認証 | 👩‍👩‍👧 家族 |\n| cafe\u0301 | e\u0301te\u0301 |\n\n- 設計は **完了** です\n"})
}
