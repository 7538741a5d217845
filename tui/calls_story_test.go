package tui_test

import (
	"replan/agent/event"
	"replan/agent/rule"
	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
	"replan/tui/panetest"
)

const (
	storyChatRun  = "r-20261121-114400-c4at"
	storyChildRun = "r-20261121-114410-ch1d"
)

// chat adds events of a run that answers directly, child those of a run that a
// plan tool starts in it.
func (s *story) chat(data ...event.Data) *story { return s.record(storyChatRun, data...) }

func (s *story) child(data ...event.Data) *story { return s.record(storyChildRun, data...) }

func storyCatalogue() plan.Catalogue {
	var c plan.Catalogue
	for _, name := range []string{"fs.read", "fs.search", "vcs.log"} {
		c = append(c, plan.Tool{Name: name, Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true})
	}
	return append(c, plan.Tool{Name: "fs.patch", Server: "workspace", Annotated: true, Trusted: true})
}

func storyPrompting() prompt.Prompting {
	return prompt.Prompting{
		ModelTools: true, PlanTools: true, SkipReview: true, ContextWindow: 32768,
		Profiles: []prompt.Profile{{Name: "explorer", Description: "reads and searches this folder"}},
	}
}

func use(name string, args map[string]any) reply.ToolUse {
	return reply.ToolUse{ID: "call_" + name, Name: name, Args: args}
}

// called adds a call that starts and completes.
func (s *story) called(run, parent, index, tool string, args map[string]any, ms int, result any) *story {
	s.record(run, event.StepStarted{Index: index, Parent: parent, Attempt: 1, Title: untrusted.Text(tool), Executor: plan.ExecutorTool, Tool: "workspace:" + tool, Args: args})
	return s.after(ms).record(run, event.StepCompleted{Index: index, Attempt: 1, MS: int64(ms), Result: result})
}

func exploringSteps() []plan.Step {
	return []plan.Step{
		{Index: "1", Title: "Find the handler", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}},
		{Index: "2", Title: "Find out why a session expires early", Executor: plan.ExecutorAgent, Profile: "explorer", DependsOn: []string{"1"}, ExpectedOutcome: "the line that is wrong"},
		{Index: "3", Title: "Read the changes", Executor: plan.ExecutorTool, Tool: "vcs.log", DependsOn: []string{"1"}},
		{Index: "4", Title: "Sum up what was found", Executor: plan.ExecutorSelf, DependsOn: []string{"2", "3"}},
	}
}

const exploringGoal = "why does a session expire early?"

// exploring: an agent step has made two calls and makes the third.
func (s *story) exploring() *story {
	p := plan.Plan{ID: "expiry", Title: "Look for the early expiry", Goal: exploringGoal, Steps: exploringSteps(), OnFailure: plan.OnFailureReplan}
	s.greeted().after(100).session(event.ChatUser{Text: exploringGoal}).
		run(event.RunStarted{Goal: exploringGoal, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalogue: storyCatalogue(), Prompting: storyPrompting(), Attended: true},
			event.PhaseStarted{Phase: 1, Label: "analysis", Request: request(prompt.PurposeAnalysis, "")}).
		after(1800).run(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 900, MS: 1800, Reply: sampleReply(`{"mode":"plan","complexity":"simple"}`, 840, 60)},
		event.PlanCreated{Plan: p, Revision: 1})
	s.run(event.StepStarted{Index: "1", Attempt: 1, Title: "Find the handler", Executor: plan.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}}).
		after(60).run(event.StepCompleted{Index: "1", Attempt: 1, MS: 60, Result: "auth/handler.go:13"})
	s.run(event.StepStarted{Index: "2", Attempt: 1, Title: "Find out why a session expires early", Executor: plan.ExecutorAgent},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: request(prompt.PurposeAgent, "2")},
		event.StepStarted{Index: "3", Attempt: 1, Title: "Read the changes", Executor: plan.ExecutorTool, Tool: "vcs.log"}).
		after(90).run(event.StepCompleted{Index: "3", Attempt: 1, MS: 90, Result: "12 commits"})
	first := sampleReply("I look for the place where the expiry is set.", 1210, 44)
	first.Calls = []reply.ToolUse{use("fs_search", map[string]any{"query": "ExpiresAt", "glob": "**/*.go"}), use("fs_read", map[string]any{"path": "auth/jwt.go"})}
	s.after(1100).run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: first, PromptTokens: 1210, CompletionTokens: 44, MS: 1100})
	s.called(storyRun, "2", "2.1", "fs.search", first.Calls[0].Args, 80, map[string]any{"matches": []any{"auth/session.go:41"}}).
		called(storyRun, "2", "2.2", "fs.read", first.Calls[1].Args, 20, "package auth\n")
	second := sampleReply("The expiry is set in the session.", 1630, 30)
	second.Calls = []reply.ToolUse{use("fs_read", map[string]any{"path": "auth/session.go"})}
	s.run(event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: request(prompt.PurposeAgent, "2")}).
		after(700).run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: second, PromptTokens: 1630, CompletionTokens: 30, MS: 700})
	return s.run(event.StepStarted{Index: "2.3", Parent: "2", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: map[string]any{"path": "auth/session.go"}}).after(400)
}

// patching: the agent requests a change, which waits at its gate.
func (s *story) patching() *story {
	s.exploring().run(event.StepCompleted{Index: "2.3", Attempt: 1, MS: 400, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: request(prompt.PurposeAgent, "2")})
	third := sampleReply("The helper still uses the old name.", 1900, 60)
	third.Calls = []reply.ToolUse{use("fs_patch", map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"})}
	return s.after(800).run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: third, PromptTokens: 1900, CompletionTokens: 60, MS: 800}).
		after(20).run(event.GateRequested{
		Gate: "2.4.1.1", Step: "2.4", Title: "fs.patch", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: third.Calls[0].Args, Diff: helperDiff, Provenance: []rule.Provenance{{Step: "2.2", Tool: "fs.read", Written: true}},
	})
}

func request(p prompt.Purpose, step string) prompt.Request {
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
		q.Tools = plan.Offer(storyCatalogue()[:3])
	case prompt.PurposeChat:
		q.Messages[1].Content = "What changed in the token helper lately, and does it still use the old name?"
		q.Tools = plan.Offer(storyCatalogue())
		q.Think, q.Level = true, prompt.ThinkLow
	}
	return q
}

func sampleReply(text string, in, out int) reply.Reply {
	return reply.Reply{Text: text, PromptTokens: in, CompletionTokens: out, ContextWindow: 32768, PromptMS: int64(in / 20), MS: int64(in/20 + out*10)}
}

const chatWords = "what changed in the token helper lately? rename what still uses the old name"

// calling: the model answers directly and calls tools.
func (s *story) calling() *story {
	s.session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, Profile: "reviewer", Think: prompt.ThinkLow,
		ContextTokens: 2150, Instructions: "AGENTS.md",
	}).after(100).session(event.ChatUser{Text: chatWords}).
		chat(event.RunStarted{Goal: chatWords, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalogue: storyCatalogue(), Prompting: storyPrompting(), Attended: true},
			event.PhaseStarted{Phase: 1, Label: "analysis", Request: request(prompt.PurposeAnalysis, "")}).
		after(900).chat(event.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 880, MS: 900, Reply: sampleReply(`{"mode":"direct"}`, 860, 20)},
		event.SynthesisStarted{Direct: true, Request: request(prompt.PurposeChat, "")}).
		after(300).chat(event.SynthesisDelta{Thinking: "First the log, then the file itself."}).
		after(200).chat(event.SynthesisDelta{Text: "Let me look at the log "}, event.SynthesisDelta{Text: "and at the file itself."})
	first := sampleReply("Let me look at the log and at the file itself.", 1900, 60)
	first.Calls = []reply.ToolUse{
		use("vcs_log", map[string]any{"path": "auth/jwt.go", "limit": 5}), use("fs_read", map[string]any{"path": "auth/jwt.go"}),
		use("fs_read", map[string]any{"path": "auth/token_helper_that_is_not_there_any_more.go"}),
	}
	s.after(400).chat(event.ModelReplied{Purpose: prompt.PurposeChat, Reply: first, PromptTokens: 1900, CompletionTokens: 60, MS: 900})
	s.called(storyChatRun, "chat", "chat.1", "vcs.log", first.Calls[0].Args, 60, "3f2a91c rename in the handler")
	s.chat(event.StepStarted{Index: "chat.3", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[2].Args}).
		after(10).chat(event.StepFailed{Index: "chat.3", Attempt: 1, Error: "there is no file auth/token_helper_that_is_not_there_any_more.go; the folder auth holds handler.go, handler_test.go and jwt.go", Failure: event.FailureTool, MS: 10})
	return s.chat(event.StepStarted{Index: "chat.2", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: plan.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[1].Args}).after(300)
}

const childGoal = "rename authenticate to verifyUser in auth/jwt.go and run the tests"

// delegating: the model creates and runs a plan, whose second step waits at a gate.
func (s *story) delegating() *story {
	s.calling().chat(event.StepCompleted{Index: "chat.2", Attempt: 1, MS: 300, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: request(prompt.PurposeChat, "")}).
		after(300).chat(event.SynthesisDelta{Text: "One caller is left. I make a plan of it."})
	second := sampleReply("One caller is left. I make a plan of it.", 2300, 40)
	second.Calls = []reply.ToolUse{use(prompt.PlanCreateAndExecute, map[string]any{"goal": childGoal})}
	s.after(300).chat(event.ModelReplied{Purpose: prompt.PurposeChat, Reply: second, PromptTokens: 2300, CompletionTokens: 40, MS: 600},
		event.StepStarted{Index: "chat.4", Parent: "chat", Attempt: 1, Title: prompt.PlanCreateAndExecute, Executor: plan.ExecutorTool, Tool: "replan:" + prompt.PlanCreateAndExecute, Args: second.Calls[0].Args})
	p := plan.Plan{ID: "jwt", Title: "Rename in the token helper", Goal: childGoal, OnFailure: plan.OnFailureReplan, Steps: []plan.Step{
		{Index: "1", Title: "Read the token helper", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/jwt.go"}},
		{Index: "2", Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", DependsOn: []string{"1"}, Args: map[string]any{"path": "auth/jwt.go"}},
	}}
	s.after(20).chat(event.RunSpawned{Index: "chat.4", Attempt: 1, Run: storyChildRun})
	s.child(event.RunStarted{Goal: childGoal, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: event.DefaultLimits(), Catalogue: storyCatalogue(), SkipSynthesis: true, Attended: true, Prompting: prompt.Prompting{SkipAnalysis: true, SkipReview: true}},
		event.PhaseStarted{Phase: 3, Label: "plan", Request: request(prompt.PurposeAnalysis, "")}).
		after(900).child(event.PhaseCompleted{Phase: 3, Label: "plan", Tokens: 700, MS: 900, Reply: sampleReply("{}", 640, 60)},
		event.PlanCreated{Plan: p, Revision: 1},
		event.StepStarted{Index: "1", Attempt: 1, Title: p.Steps[0].Title, Executor: plan.ExecutorTool, Tool: "fs.read", Args: p.Steps[0].Args}).
		after(30).child(event.StepCompleted{Index: "1", Attempt: 1, MS: 30, Result: "package auth\n"})
	return s.after(20).child(event.GateRequested{
		Gate: "2.1.1", Step: "2", Title: "Rename in the token helper", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: rule.Rule{Tool: "fs.patch", Verdict: rule.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: map[string]any{"path": "auth/jwt.go"}, Diff: helperDiff,
	})
}

// returned: the plan is done and the model continues.
func (s *story) returned() *story {
	s.delegating().after(700).child(event.GateResolved{Gate: "2.1.1", Decision: event.Allow, Scope: event.ScopeOnce, By: "user"},
		event.StepStarted{Index: "2", Attempt: 1, Title: "Rename in the token helper", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/jwt.go"}}).
		after(40).child(event.StepCompleted{Index: "2", Attempt: 1, MS: 40, Result: map[string]any{"files": []any{"auth/jwt.go"}}},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 1710, Usage: event.Usage{Steps: 2, ToolCalls: 2, ModelCalls: 1, PromptTokens: 640, CompletionTokens: 60}}})
	return s.after(10).chat(event.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: map[string]any{"status": "completed"}, Run: storyChildRun},
		event.ModelRequested{Purpose: prompt.PurposeChat, Request: request(prompt.PurposeChat, "")}).after(600)
}

const chatAnswer = "The helper is renamed: `auth/jwt.go` calls **verifyUser** now, as the handler has done since 3f2a91c.\n"

// chatAnswered: the answer is complete and the run has ended.
func (s *story) chatAnswered() *story {
	s.returned().chat(event.SynthesisDelta{Text: chatAnswer[:50]}).
		after(500).chat(event.SynthesisCompleted{Text: chatAnswer, Reply: sampleReply(chatAnswer, 2600, 60)},
		event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonDirect, Answer: chatAnswer, DurationMS: 7200, Usage: event.Usage{Steps: 6, ToolCalls: 6, ModelCalls: 5, PromptTokens: 9900, CompletionTokens: 260}}})
	return s.session(event.ChatReply{Run: storyChatRun, Text: chatAnswer, Status: event.StatusCompleted, Reason: event.ReasonDirect})
}

// spoken: the user has steered the chat, and the conversation was summarized.
func (s *story) spoken() *story {
	return s.calling().after(100).chat(event.RunSteered{Text: "leave the tests alone,\nthey are mine"}).
		session(event.ChatCompacted{Turns: 18, Kept: 4, Before: 9100, After: 1210, Summary: "…", Reason: "the conversation fills the model's window"},
			event.ChatCompacted{Undone: true, Turns: 18, Before: 1210, After: 9100})
}

// choosing: the models and profiles were requested.
func (s *story) choosing() *story {
	return s.session(session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, ContextTokens: 27000, Instructions: "AGENTS.md", Think: prompt.ThinkLow}).
		session(panetest.Models())
}
