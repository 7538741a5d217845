package panetest

import (
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// Runs with calls: one that answers directly, and the one that a plan tool starts in it.
const (
	StoryChatRun  = "r-20261121-114400-c4at"
	StoryChildRun = "r-20261121-114410-ch1d"
)

// Chat adds events of a run that answers directly, child those of a run that a
// plan tool starts in it.
func (s *Story) Chat(data ...event.Data) *Story { return s.Record(StoryChatRun, data...) }

// Child adds events of the run that a plan tool starts in the one that answers directly.
func (s *Story) Child(data ...event.Data) *Story { return s.Record(StoryChildRun, data...) }

// StoryCatalog is the catalog of the runs with calls.
func StoryCatalog() plan.Catalog {
	var c plan.Catalog
	for _, name := range []string{"fs.read", "fs.search", "vcs.log"} {
		c = append(c, plan.Tool{Name: name, Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true})
	}
	return append(c, plan.Tool{Name: "fs.patch", Server: "workspace", Annotated: true, Trusted: true})
}

// storyPrompting is how the runs with calls ask their model.
func storyPrompting() prompt.Prompting {
	return prompt.Prompting{
		ModelTools: true, PlanTools: true, SkipReview: true, ContextWindow: 32768,
		Profiles: []prompt.Profile{{Name: "explorer", Description: "reads and searches this folder"}},
	}
}

// toolUse is a call that a model asks for.
func toolUse(name string, args map[string]any) reply.ToolUse {
	return reply.ToolUse{ID: "call_" + name, Name: name, Args: args}
}

// Called adds a call that starts and completes.
func (s *Story) Called(run, parent, index, tool string, args map[string]any, ms int, result any) *Story {
	s.Record(run, event.StepStarted{Index: index, Parent: parent, Attempt: 1, Title: untrusted.Text(tool), Executor: plan.ExecutorTool, Tool: "workspace:" + tool, Args: args})
	return s.After(ms).Record(run, event.StepCompleted{Index: index, Attempt: 1, MS: int64(ms), Result: result})
}

// exploringSteps are the steps of a plan with an agent step.
func exploringSteps() []plan.Step {
	return []plan.Step{
		{Index: "1", Title: "Find the handler", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}},
		{Index: "2", Title: "Find out why a session expires early", Executor: plan.ExecutorAgent, Profile: "explorer", DependsOn: []string{"1"}, ExpectedOutcome: "the line that is wrong"},
		{Index: "3", Title: "Read the changes", Executor: plan.ExecutorTool, Tool: "vcs.log", DependsOn: []string{"1"}},
		{Index: "4", Title: "Sum up what was found", Executor: plan.ExecutorSelf, DependsOn: []string{"2", "3"}},
	}
}

// exploringGoal is the goal of the run with an agent step.
const exploringGoal = "why does a session expire early?"

// Exploring tells that an agent step has made two calls and makes the third.
func (s *Story) Exploring() *Story {
	p := plan.Plan{ID: "expiry", Title: "Look for the early expiry", Goal: exploringGoal, Steps: exploringSteps(), OnFailure: plan.OnFailureReplan}
	s.Greeted().After(100).Session(event.ChatUser{Text: exploringGoal}).
		Run(event.RunStarted{Goal: exploringGoal, Workspace: "/src/auth-service", Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalog: StoryCatalog(), Prompting: storyPrompting(), Attended: true},
			event.PhaseStarted{Phase: 1, Label: "analysis", Request: SampleRequest(prompt.PurposeAnalysis, "")}).
		After(1800).Run(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 900, MS: 1800, Reply: SampleReply(`{"mode":"plan","complexity":"simple"}`, 840, 60)},
		event.PlanCreated{Plan: p, Revision: 1})
	s.Run(event.StepStarted{Index: "1", Attempt: 1, Title: "Find the handler", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}}).
		After(60).Run(event.StepCompleted{Index: "1", Attempt: 1, MS: 60, Result: "auth/handler.go:13"})
	s.Run(event.StepStarted{Index: "2", Attempt: 1, Title: "Find out why a session expires early", Executor: plan.ExecutorAgent},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: SampleRequest(prompt.PurposeAgent, "2")},
		event.StepStarted{Index: "3", Attempt: 1, Title: "Read the changes", Executor: plan.ExecutorTool, Tool: "vcs.log"}).
		After(90).Run(event.StepCompleted{Index: "3", Attempt: 1, MS: 90, Result: "12 commits"})
	first := SampleReply("I look for the place where the expiry is set.", 1210, 44)
	first.Calls = []reply.ToolUse{toolUse("fs_search", map[string]any{"query": "ExpiresAt", "glob": "**/*.go"}), toolUse("fs_read", map[string]any{"path": "auth/jwt.go"})}
	s.After(1100).Run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: first, PromptTokens: 1210, CompletionTokens: 44, MS: 1100})
	s.Called(StoryRun, "2", "2.1", "fs.search", first.Calls[0].Args, 80, map[string]any{"matches": []any{"auth/session.go:41"}}).
		Called(StoryRun, "2", "2.2", "fs.read", first.Calls[1].Args, 20, "package auth\n")
	second := SampleReply("The expiry is set in the session.", 1630, 30)
	second.Calls = []reply.ToolUse{toolUse("fs_read", map[string]any{"path": "auth/session.go"})}
	s.Run(event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: SampleRequest(prompt.PurposeAgent, "2")}).
		After(700).Run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: second, PromptTokens: 1630, CompletionTokens: 30, MS: 700})
	return s.Run(event.StepStarted{Index: "2.3", Parent: "2", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: map[string]any{"path": "auth/session.go"}}).After(400)
}

// Patching tells that the agent requests a change, which waits at its gate.
func (s *Story) Patching() *Story {
	s.Exploring().Run(event.StepCompleted{Index: "2.3", Attempt: 1, MS: 400, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: SampleRequest(prompt.PurposeAgent, "2")})
	third := SampleReply("The helper still uses the old name.", 1900, 60)
	third.Calls = []reply.ToolUse{toolUse("fs_patch", map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"})}
	return s.After(800).Run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: third, PromptTokens: 1900, CompletionTokens: 60, MS: 800}).
		After(20).Run(event.GateRequested{
		Gate: "2.4.1.1", Step: "2.4", Title: "fs.patch", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: third.Calls[0].Args, Diff: HelperDiff, Provenance: []rule.Provenance{{Step: "2.2", Tool: "fs.read", Written: true}},
	})
}

// SampleRequest is a request to the model.
func SampleRequest(p prompt.Purpose, step string) prompt.Request {
	asked := map[prompt.Purpose]string{prompt.PurposeAnalysis: "Say what the goal needs.", prompt.PurposeAgent: "Go on."}[p]
	q := prompt.Request{
		Purpose: p, Step: step, Model: "qwen3:8b", MaxTokens: 4096,
		Messages: []prompt.Message{
			{Role: prompt.RoleSystem, Content: "You plan and carry out work for a developer.\n\nTools:\n- fs.read {\"path\": text}\n- fs.search {\"query\": text}"},
			{Role: prompt.RoleUser, Content: "Goal: " + exploringGoal + "\n\n" + asked},
		},
	}
	switch p {
	case prompt.PurposeAnalysis:
		q.Format = []byte(`{"type":"object","properties":{"mode":{"enum":["direct","plan"]}},"required":["mode"]}`)
	case prompt.PurposeAgent:
		q.Tools = plan.Offer(StoryCatalog()[:3])
	case prompt.PurposeChat:
		q.Messages[1].Content = "What changed in the token helper lately, and does it still use the old name?"
		q.Tools = plan.Offer(StoryCatalog())
		q.Think, q.Level = true, prompt.ThinkLow
	}
	return q
}

// SampleReply is a reply that read and wrote so many tokens.
func SampleReply(text string, in, out int) reply.Reply {
	return reply.Reply{Text: text, PromptTokens: in, CompletionTokens: out, ContextWindow: 32768, PromptMS: int64(in / 20), MS: int64(in/20 + out*10)}
}

// chatWords is what the user asks of a model that calls tools.
const chatWords = "what changed in the token helper lately? rename what still uses the old name"

// Calling tells that the model answers directly and calls tools.
func (s *Story) Calling() *Story {
	s.Session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, Profile: "reviewer", Think: prompt.ThinkLow,
		ContextTokens: 2150, Instructions: "AGENTS.md",
	}).After(100).Session(event.ChatUser{Text: chatWords}).
		Chat(event.RunStarted{Goal: chatWords, Workspace: "/src/auth-service", Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalog: StoryCatalog(), Prompting: storyPrompting(), Attended: true},
			event.PhaseStarted{Phase: 1, Label: "analysis", Request: SampleRequest(prompt.PurposeAnalysis, "")}).
		After(900).Chat(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 880, MS: 900, Reply: SampleReply(`{"mode":"direct"}`, 860, 20)},
		event.SynthesisStarted{Direct: true, Request: SampleRequest(prompt.PurposeChat, "")}).
		After(300).Chat(event.SynthesisDelta{Thinking: "First the log, then the file itself."}).
		After(200).Chat(event.SynthesisDelta{Text: "Let me look at the log "}, event.SynthesisDelta{Text: "and at the file itself."})
	first := SampleReply("Let me look at the log and at the file itself.", 1900, 60)
	first.Calls = []reply.ToolUse{
		toolUse("vcs_log", map[string]any{"path": "auth/jwt.go", "limit": 5}), toolUse("fs_read", map[string]any{"path": "auth/jwt.go"}),
		toolUse("fs_read", map[string]any{"path": "auth/token_helper_that_is_not_there_any_more.go"}),
	}
	s.After(400).Chat(event.ModelReplied{Purpose: prompt.PurposeChat, Reply: first, PromptTokens: 1900, CompletionTokens: 60, MS: 900})
	s.Called(StoryChatRun, "chat", "chat.1", "vcs.log", first.Calls[0].Args, 60, "3f2a91c rename in the handler")
	s.Chat(event.StepStarted{Index: "chat.3", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[2].Args}).
		After(10).Chat(event.StepFailed{Index: "chat.3", Attempt: 1, Error: "there is no file auth/token_helper_that_is_not_there_any_more.go; the folder auth holds handler.go, handler_test.go and jwt.go", Failure: event.FailureTool, MS: 10})
	return s.Chat(event.StepStarted{Index: "chat.2", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[1].Args}).After(300)
}

// childGoal is the goal of the plan that a model makes.
const childGoal = "rename authenticate to verifyUser in auth/jwt.go and run the tests"

// Delegating tells that the model creates and runs a plan, whose second step waits at a gate.
func (s *Story) Delegating() *Story {
	s.Calling().Chat(event.StepCompleted{Index: "chat.2", Attempt: 1, MS: 300, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: SampleRequest(prompt.PurposeChat, "")}).
		After(300).Chat(event.SynthesisDelta{Text: "One caller is left. I make a plan of it."})
	second := SampleReply("One caller is left. I make a plan of it.", 2300, 40)
	second.Calls = []reply.ToolUse{toolUse(prompt.PlanCreateAndExecute, map[string]any{"goal": childGoal})}
	s.After(300).Chat(event.ModelReplied{Purpose: prompt.PurposeChat, Reply: second, PromptTokens: 2300, CompletionTokens: 40, MS: 600},
		event.StepStarted{Index: "chat.4", Parent: "chat", Attempt: 1, Title: prompt.PlanCreateAndExecute, Executor: plan.ExecutorTool, Tool: "replan:" + prompt.PlanCreateAndExecute, Args: second.Calls[0].Args})
	p := plan.Plan{ID: "jwt", Title: "Rename in the token helper", Goal: childGoal, OnFailure: plan.OnFailureReplan, Steps: []plan.Step{
		{Index: "1", Title: "Read the token helper", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/jwt.go"}},
		{Index: "2", Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", DependsOn: []string{"1"}, Args: map[string]any{"path": "auth/jwt.go"}},
	}}
	s.After(20).Chat(event.RunSpawned{Index: "chat.4", Attempt: 1, Run: StoryChildRun})
	s.Child(event.RunStarted{Goal: childGoal, Workspace: "/src/auth-service", Session: StorySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalog: StoryCatalog(), SkipSynthesis: true, Attended: true, Prompting: prompt.Prompting{SkipAnalysis: true, SkipReview: true}},
		event.PhaseStarted{Phase: 3, Label: "plan", Request: SampleRequest(prompt.PurposeAnalysis, "")}).
		After(900).Child(event.PhaseCompleted{Phase: 3, Label: "plan", Tokens: 700, MS: 900, Reply: SampleReply("{}", 640, 60)},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Title: p.Steps[0].Title, Executor: plan.ExecutorTool, Tool: "fs.read", Args: p.Steps[0].Args}).
		After(30).Child(event.StepCompleted{Index: "1", Attempt: 1, MS: 30, Result: "package auth\n"})
	return s.After(20).Child(event.GateRequested{
		Gate: "2.1.1", Step: "2", Title: "Rename in the token helper", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: map[string]any{"path": "auth/jwt.go"}, Diff: HelperDiff,
	})
}

// Returned tells that the plan is done and the model continues.
func (s *Story) Returned() *Story {
	s.Delegating().After(700).Child(event.GateResolved{Gate: "2.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.StepStarted{Index: "2", Attempt: 1, Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/jwt.go"}}).
		After(40).Child(event.StepCompleted{Index: "2", Attempt: 1, MS: 40, Result: map[string]any{"files": []any{"auth/jwt.go"}}},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 1710, Usage: event.Usage{Steps: 2, ToolCalls: 2, ModelCalls: 1, PromptTokens: 640, CompletionTokens: 60}}})
	return s.After(10).Chat(event.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: map[string]any{"status": "completed"}, Run: StoryChildRun},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: SampleRequest(prompt.PurposeChat, "")}).After(600)
}

// chatAnswer is the answer of that model.
const chatAnswer = "The helper is renamed: `auth/jwt.go` calls **verifyUser** now, as the handler has done since 3f2a91c.\n"

// ChatAnswered tells that the answer is complete and the run has ended.
func (s *Story) ChatAnswered() *Story {
	s.Returned().Chat(event.SynthesisDelta{Text: chatAnswer[:50]}).
		After(500).Chat(event.SynthesisCompleted{Text: chatAnswer, Reply: SampleReply(chatAnswer, 2600, 60)},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonDirect, Answer: chatAnswer, DurationMS: 7200, Usage: event.Usage{Steps: 6, ToolCalls: 6, ModelCalls: 5, PromptTokens: 9900, CompletionTokens: 260}}})
	return s.Session(event.ChatReply{Run: StoryChatRun, Text: chatAnswer, Status: event.StatusCompleted, Reason: event.ReasonDirect})
}

// Spoken tells that the user has steered the chat, and the conversation was summarized.
func (s *Story) Spoken() *Story {
	return s.Calling().After(100).Chat(event.RunSteered{Text: "leave the tests alone,\nthey are mine"}).
		Session(event.ChatCompacted{Turns: 18, Kept: 4, Before: 9100, After: 1210, Summary: "…", Reason: "the conversation fills the model's window"},
			event.ChatCompacted{Undone: true, Turns: 18, Before: 1210, After: 9100})
}

// Choosing tells that the models and profiles were requested.
func (s *Story) Choosing() *Story {
	return s.Session(session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, ContextTokens: 27000, Instructions: "AGENTS.md", Think: prompt.ThinkLow}).
		Session(Models())
}
