package tui_test

import (
	"replan/agent"
	"replan/agent/session"
	"replan/planning"
)

const (
	storyChatRun  = "r-20261121-114400-c4at"
	storyChildRun = "r-20261121-114410-ch1d"
)

// chat makes events of a run that answers directly, child of one that a plan
// tool starts in it.
func (s *story) chat(data ...agent.Data) *story  { return s.say(storyChatRun, data...) }
func (s *story) child(data ...agent.Data) *story { return s.say(storyChildRun, data...) }

func storyCatalogue() planning.Catalogue {
	var c planning.Catalogue
	for _, name := range []string{"fs.read", "fs.search", "vcs.log"} {
		c = append(c, planning.Tool{Name: name, Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true})
	}
	return append(c, planning.Tool{Name: "fs.patch", Server: "workspace", Annotated: true, Trusted: true})
}

func storyPrompting() planning.Prompting {
	return planning.Prompting{
		ModelTools: true, PlanTools: true, SkipReview: true, ContextWindow: 32768,
		Profiles: []planning.Profile{{Name: "explorer", Description: "reads and searches this folder"}},
	}
}

func use(name string, args map[string]any) planning.ToolUse {
	return planning.ToolUse{ID: "call_" + name, Name: name, Args: args}
}

// calls are the steps of a call that is made at once.
func (s *story) called(run, parent, index, tool string, args map[string]any, ms int, result any) *story {
	s.say(run, agent.StepStarted{Index: index, Parent: parent, Attempt: 1, Title: tool, Executor: planning.ExecutorTool, Tool: "workspace:" + tool, Args: args})
	return s.after(ms).say(run, agent.StepCompleted{Index: index, Attempt: 1, MS: int64(ms), Result: result})
}

func exploringSteps() []planning.Step {
	return []planning.Step{
		{Index: "1", Title: "Find the handler", Executor: planning.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}},
		{Index: "2", Title: "Find out why a session expires early", Executor: planning.ExecutorAgent, Profile: "explorer", DependsOn: []string{"1"}, ExpectedOutcome: "the line that is wrong"},
		{Index: "3", Title: "Read the changes", Executor: planning.ExecutorTool, Tool: "vcs.log", DependsOn: []string{"1"}},
		{Index: "4", Title: "Sum up what was found", Executor: planning.ExecutorSelf, DependsOn: []string{"2", "3"}},
	}
}

const exploringGoal = "why does a session expire early?"

// exploring: an agent step has made two calls and makes the third.
func (s *story) exploring() *story {
	p := planning.Plan{ID: "expiry", Title: "Look for the early expiry", Goal: exploringGoal, Steps: exploringSteps(), OnFailure: planning.OnFailureReplan}
	s.greeted().after(100).session(agent.ChatUser{Text: exploringGoal}).
		run(agent.RunStarted{Goal: exploringGoal, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: agent.DefaultLimits(), Catalogue: storyCatalogue(), Prompting: storyPrompting(), Attended: true},
			agent.PhaseStarted{Phase: 1, Label: "analysis", Request: request(planning.PurposeAnalysis, "")}).
		after(1800).run(agent.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 900, MS: 1800, Reply: reply(`{"mode":"plan","complexity":"simple"}`, 840, 60)},
		agent.PlanCreated{Plan: p, Revision: 1})
	s.run(agent.StepStarted{Index: "1", Attempt: 1, Title: "Find the handler", Executor: planning.ExecutorTool, Tool: "fs.search", Args: map[string]any{"query": "ServeHTTP"}}).
		after(60).run(agent.StepCompleted{Index: "1", Attempt: 1, MS: 60, Result: "auth/handler.go:13"})
	s.run(agent.StepStarted{Index: "2", Attempt: 1, Title: "Find out why a session expires early", Executor: planning.ExecutorAgent},
		agent.ModelRequested{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Request: request(planning.PurposeAgent, "2")},
		agent.StepStarted{Index: "3", Attempt: 1, Title: "Read the changes", Executor: planning.ExecutorTool, Tool: "vcs.log"}).
		after(90).run(agent.StepCompleted{Index: "3", Attempt: 1, MS: 90, Result: "12 commits"})
	first := reply("I look for the place where the expiry is set.", 1210, 44)
	first.Calls = []planning.ToolUse{use("fs_search", map[string]any{"query": "ExpiresAt", "glob": "**/*.go"}), use("fs_read", map[string]any{"path": "auth/jwt.go"})}
	s.after(1100).run(agent.ModelReplied{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Reply: first, PromptTokens: 1210, CompletionTokens: 44, MS: 1100})
	s.called(storyRun, "2", "2.1", "fs.search", first.Calls[0].Args, 80, map[string]any{"matches": []any{"auth/session.go:41"}}).
		called(storyRun, "2", "2.2", "fs.read", first.Calls[1].Args, 20, "package auth\n")
	second := reply("The expiry is set in the session.", 1630, 30)
	second.Calls = []planning.ToolUse{use("fs_read", map[string]any{"path": "auth/session.go"})}
	s.run(agent.ModelRequested{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Request: request(planning.PurposeAgent, "2")}).
		after(700).run(agent.ModelReplied{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Reply: second, PromptTokens: 1630, CompletionTokens: 30, MS: 700})
	return s.run(agent.StepStarted{Index: "2.3", Parent: "2", Attempt: 1, Title: "fs.read", Executor: planning.ExecutorTool, Tool: "workspace:fs.read", Args: map[string]any{"path": "auth/session.go"}}).after(400)
}

// patching: the agent asks for a change, which its gate shows.
func (s *story) patching() *story {
	s.exploring().run(agent.StepCompleted{Index: "2.3", Attempt: 1, MS: 400, Result: "package auth\n"},
		agent.ModelRequested{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Request: request(planning.PurposeAgent, "2")})
	third := reply("The helper still uses the old name.", 1900, 60)
	third.Calls = []planning.ToolUse{use("fs_patch", map[string]any{"path": "auth/jwt.go", "old": "authenticate(ctx, s.token)", "new": "verifyUser(ctx, s.token)"})}
	return s.after(800).run(agent.ModelReplied{Purpose: planning.PurposeAgent, Step: "2", Attempt: 1, Reply: third, PromptTokens: 1900, CompletionTokens: 60, MS: 800}).
		after(20).run(agent.GateRequested{
		Gate: "2.4.1.1", Step: "2.4", Title: "fs.patch", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: agent.Rule{Tool: "fs.patch", Verdict: agent.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: third.Calls[0].Args, Diff: helperDiff, Provenance: []agent.Provenance{{Step: "2.2", Tool: "fs.read", Written: true}},
	})
}

func request(p planning.Purpose, step string) planning.Request {
	heading := map[planning.Purpose]string{
		planning.PurposeAnalysis: "# Phase 1: analysis\n\nSay what the goal needs.", planning.PurposeAgent: "# Step " + step + "\n\nGo on.",
	}[p]
	q := planning.Request{
		Purpose: p, Step: step, Model: "qwen3:8b", MaxTokens: 4096,
		Messages: []planning.Message{
			{Role: planning.RoleSystem, Content: "You plan and carry out work for a developer.\n\nTools:\n- fs.read {\"path\": text}\n- fs.search {\"query\": text}"},
			{Role: planning.RoleUser, Content: "Goal: " + exploringGoal + "\n\n" + heading},
		},
	}
	switch p {
	case planning.PurposeAnalysis:
		q.Format = []byte(`{"type":"object","properties":{"mode":{"enum":["direct","plan"]}},"required":["mode"]}`)
	case planning.PurposeAgent:
		q.Tools = planning.Offer(storyCatalogue()[:3])
	case planning.PurposeChat:
		q.Messages[1].Content = "What changed in the token helper lately, and does it still use the old name?"
		q.Tools = planning.Offer(storyCatalogue())
		q.Think, q.Level = true, planning.ThinkLow
	}
	return q
}

func reply(text string, in, out int) planning.Reply {
	return planning.Reply{Text: text, PromptTokens: in, CompletionTokens: out, ContextWindow: 32768, PromptMS: int64(in / 20), MS: int64(in/20 + out*10)}
}

const chatWords = "what changed in the token helper lately? rename what still uses the old name"

// calling: the model answers directly and calls tools.
func (s *story) calling() *story {
	s.session(session.Status{
		Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, Profile: "reviewer", Think: planning.ThinkLow,
		ContextTokens: 2150, Instructions: "AGENTS.md",
	}).after(100).session(agent.ChatUser{Text: chatWords}).
		chat(agent.RunStarted{Goal: chatWords, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: agent.DefaultLimits(), Catalogue: storyCatalogue(), Prompting: storyPrompting(), Attended: true},
			agent.PhaseStarted{Phase: 1, Label: "analysis", Request: request(planning.PurposeAnalysis, "")}).
		after(900).chat(agent.PhaseCompleted{Phase: 1, Label: "analysis", Tokens: 880, MS: 900, Reply: reply(`{"mode":"direct"}`, 860, 20)},
		agent.SynthesisStarted{Direct: true, Request: request(planning.PurposeChat, "")}).
		after(300).chat(agent.SynthesisDelta{Thinking: "First the log, then the file itself."}).
		after(200).chat(agent.SynthesisDelta{Text: "Let me look at the log "}, agent.SynthesisDelta{Text: "and at the file itself."})
	first := reply("Let me look at the log and at the file itself.", 1900, 60)
	first.Calls = []planning.ToolUse{
		use("vcs_log", map[string]any{"path": "auth/jwt.go", "limit": 5}), use("fs_read", map[string]any{"path": "auth/jwt.go"}),
		use("fs_read", map[string]any{"path": "auth/token_helper_that_is_not_there_any_more.go"}),
	}
	s.after(400).chat(agent.ModelReplied{Purpose: planning.PurposeChat, Reply: first, PromptTokens: 1900, CompletionTokens: 60, MS: 900})
	s.called(storyChatRun, "chat", "chat.1", "vcs.log", first.Calls[0].Args, 60, "3f2a91c rename in the handler")
	s.chat(agent.StepStarted{Index: "chat.3", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: planning.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[2].Args}).
		after(10).chat(agent.StepFailed{Index: "chat.3", Attempt: 1, Error: "there is no file auth/token_helper_that_is_not_there_any_more.go; the folder auth holds handler.go, handler_test.go and jwt.go", Failure: agent.FailureTool, MS: 10})
	return s.chat(agent.StepStarted{Index: "chat.2", Parent: "chat", Attempt: 1, Title: "fs.read", Executor: planning.ExecutorTool, Tool: "workspace:fs.read", Args: first.Calls[1].Args}).after(300)
}

const childGoal = "rename authenticate to verifyUser in auth/jwt.go and run the tests"

// delegating: it has a plan made and carried out, whose second step asks.
func (s *story) delegating() *story {
	s.calling().chat(agent.StepCompleted{Index: "chat.2", Attempt: 1, MS: 300, Result: "package auth\n"},
		agent.ModelRequested{Purpose: planning.PurposeChat, Request: request(planning.PurposeChat, "")}).
		after(300).chat(agent.SynthesisDelta{Text: "One caller is left. I make a plan of it."})
	second := reply("One caller is left. I make a plan of it.", 2300, 40)
	second.Calls = []planning.ToolUse{use(planning.PlanCreateAndExecute, map[string]any{"goal": childGoal})}
	s.after(300).chat(agent.ModelReplied{Purpose: planning.PurposeChat, Reply: second, PromptTokens: 2300, CompletionTokens: 40, MS: 600},
		agent.StepStarted{Index: "chat.4", Parent: "chat", Attempt: 1, Title: planning.PlanCreateAndExecute, Executor: planning.ExecutorTool, Tool: "replan:" + planning.PlanCreateAndExecute, Args: second.Calls[0].Args})
	p := planning.Plan{ID: "jwt", Title: "Rename in the token helper", Goal: childGoal, OnFailure: planning.OnFailureReplan, Steps: []planning.Step{
		{Index: "1", Title: "Read the token helper", Executor: planning.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": "auth/jwt.go"}},
		{Index: "2", Title: "Rename in the token helper", Executor: planning.ExecutorTool, Tool: "fs.patch", DependsOn: []string{"1"}, Args: map[string]any{"path": "auth/jwt.go"}},
	}}
	s.after(20).chat(agent.RunSpawned{Index: "chat.4", Attempt: 1, Run: storyChildRun})
	s.child(agent.RunStarted{Goal: childGoal, Workspace: "/src/auth-service", Session: storySession, Model: "qwen3:8b", Limits: agent.DefaultLimits(), Catalogue: storyCatalogue(), SkipSynthesis: true, Attended: true, Prompting: planning.Prompting{SkipAnalysis: true, SkipReview: true}},
		agent.PhaseStarted{Phase: 3, Label: "plan", Request: request(planning.PurposeAnalysis, "")}).
		after(900).child(agent.PhaseCompleted{Phase: 3, Label: "plan", Tokens: 700, MS: 900, Reply: reply("{}", 640, 60)},
		agent.PlanCreated{Plan: p, Revision: 1},
		agent.StepStarted{Index: "1", Attempt: 1, Title: p.Steps[0].Title, Executor: planning.ExecutorTool, Tool: "fs.read", Args: p.Steps[0].Args}).
		after(30).child(agent.StepCompleted{Index: "1", Attempt: 1, MS: 30, Result: "package auth\n"})
	return s.after(20).child(agent.GateRequested{
		Gate: "2.1.1", Step: "2", Title: "Rename in the token helper", Tool: "fs.patch", Server: "workspace", Trusted: true,
		Rule: agent.Rule{Tool: "fs.patch", Verdict: agent.VerdictAsk, Source: "built-in", Why: "it changes files of the workspace"},
		Args: map[string]any{"path": "auth/jwt.go"}, Diff: helperDiff,
	})
}

// returned: the plan is done and the model is asked again.
func (s *story) returned() *story {
	s.delegating().after(700).child(agent.GateResolved{Gate: "2.1.1", Decision: agent.Allow, Scope: agent.ScopeOnce, By: "user"},
		agent.StepStarted{Index: "2", Attempt: 1, Title: "Rename in the token helper", Executor: planning.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "auth/jwt.go"}}).
		after(40).child(agent.StepCompleted{Index: "2", Attempt: 1, MS: 40, Result: map[string]any{"files": []any{"auth/jwt.go"}}},
		agent.RunCompleted{Result: agent.Result{Status: agent.StatusCompleted, Reason: agent.ReasonGoalMet, DurationMS: 1710, Usage: agent.Usage{Steps: 2, ToolCalls: 2, ModelCalls: 1, PromptTokens: 640, CompletionTokens: 60}}})
	return s.after(10).chat(agent.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: map[string]any{"status": "completed"}, Run: storyChildRun},
		agent.ModelRequested{Purpose: planning.PurposeChat, Request: request(planning.PurposeChat, "")}).after(600)
}

const chatAnswer = "The helper is renamed: `auth/jwt.go` calls **verifyUser** now, as the handler has done since 3f2a91c.\n"

// told: the answer is there and the run is over.
func (s *story) told() *story {
	s.returned().chat(agent.SynthesisDelta{Text: chatAnswer[:50]}).
		after(500).chat(agent.SynthesisCompleted{Text: chatAnswer, Reply: reply(chatAnswer, 2600, 60)},
		agent.RunCompleted{Result: agent.Result{Status: agent.StatusCompleted, Reason: agent.ReasonDirect, Answer: chatAnswer, DurationMS: 7200, Usage: agent.Usage{Steps: 6, ToolCalls: 6, ModelCalls: 5, PromptTokens: 9900, CompletionTokens: 260}}})
	return s.session(agent.ChatReply{Run: storyChatRun, Text: chatAnswer, Status: agent.StatusCompleted, Reason: agent.ReasonDirect})
}

// spoken: the user has steered the chat, and the conversation was summed up.
func (s *story) spoken() *story {
	return s.calling().after(100).chat(agent.RunSteered{Text: "leave the tests alone,\nthey are mine"}).
		session(agent.ChatCompacted{Turns: 18, Kept: 4, Before: 9100, After: 1210, Summary: "…", Reason: "the conversation fills the model's window"},
			agent.ChatCompacted{Undone: true, Turns: 18, Before: 1210, After: 9100})
}

// choosing: the models and profiles there are were asked for.
func (s *story) choosing() *story {
	return s.session(session.Status{Workspace: "/src/auth-service", Model: "qwen3:8b", ContextWindow: 32768, Tools: 6, ContextTokens: 27000, Instructions: "AGENTS.md", Think: planning.ThinkLow}).
		session(session.Models{
			Model: "qwen3:8b", Think: planning.ThinkLow, Profile: "reviewer",
			Models: []planning.ModelInfo{
				{Name: "qwen3:8b", ContextWindow: 32768, Longest: 40960, Tools: true, Thinks: true, Chats: true, Bytes: 5_225_388_164, Parameters: "8.2B", Quantization: "Q4_K_M", Loaded: true},
				{Name: "hf.co/bartowski/Qwen2.5-Coder-14B-Instruct-GGUF:Q5_K_M", ContextWindow: 32768, Longest: 32768, Tools: true, Chats: true, Bytes: 10_508_873_000, Parameters: "14.8B", Quantization: "Q5_K_M"},
				{Name: "gemma3:1b", ContextWindow: 32768, Longest: 32768, Chats: true, Bytes: 815_319_791, Parameters: "999.89M", Quantization: "Q4_K_M"},
				{Name: "nomic-embed-text:latest", Longest: 2048, Bytes: 274_302_450, Parameters: "137M", Quantization: "F16"},
			},
			Profiles: []session.ProfileChoice{{Name: "explorer", Description: "reads and searches this folder; changes nothing"}, {Name: "reviewer", Description: "reads a change and says what is wrong with it"}},
		})
}
