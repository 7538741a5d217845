package panetest

import (
	"time"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/session"
	"replan/planning/prompt"
)

// The run that most tests are about.
const (
	StoryRun  = "r-20261121-114200-k3fq"
	StoryGoal = "rename authenticate to verifyUser and run the tests"
)

// Models are the installed models and the profiles of a session.
func Models() session.Models {
	return session.Models{
		Model: "qwen3:8b", Think: prompt.ThinkLow, Profile: "reviewer",
		Models: []prompt.ModelInfo{
			{Name: "qwen3:8b", ContextWindow: 32768, Longest: 40960, Tools: true, Thinks: true, Chats: true, Bytes: 5_225_388_164, Parameters: "8.2B", Quantization: "Q4_K_M", Loaded: true},
			{Name: "hf.co/bartowski/Qwen2.5-Coder-14B-Instruct-GGUF:Q5_K_M", ContextWindow: 32768, Longest: 32768, Tools: true, Chats: true, Bytes: 10_508_873_000, Parameters: "14.8B", Quantization: "Q5_K_M"},
			{Name: "gemma3:1b", ContextWindow: 32768, Longest: 32768, Chats: true, Bytes: 815_319_791, Parameters: "999.89M", Quantization: "Q4_K_M"},
			{Name: "nomic-embed-text:latest", Longest: 2048, Bytes: 274_302_450, Parameters: "137M", Quantization: "F16"},
		},
		Profiles: []session.ProfileChoice{{Name: "explorer", Description: "reads and searches this folder; changes nothing"}, {Name: "reviewer", Description: "reads a change and says what is wrong with it"}},
	}
}

// Summaries are runs up to a time: completed, failed, unfinished, canceled and partial.
func Summaries(now time.Time) []agent.Summary {
	at := func(hours float64) time.Time { return now.Add(-time.Duration(hours * float64(time.Hour))) }
	return []agent.Summary{
		{Run: "r-5", Goal: "why does the login test fail", Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Started: at(0.2), Steps: 3, Done: 3},
		{Run: "r-4", Goal: "publish the release notes\nand tell the team", Status: event.StatusFailed, Reason: event.ReasonStepFailed, Started: at(1.5), Steps: 4, Done: 2, Resumable: true},
		{Run: "r-3", Goal: StoryGoal, Status: agent.StatusUnfinished, Started: at(26), Steps: 7, Done: 3, Replans: 1, Resumable: true},
		{Run: "r-2", Goal: "add tests for the token helper, with every branch of it covered by a table", Status: event.StatusCanceled, Reason: event.ReasonInterrupted, Started: at(80), Steps: 5, Done: 4, Replans: 2, Resumable: true},
		{Run: "r-1", Title: "Deploy", Status: event.StatusCompleted, Reason: event.ReasonPartial, Started: at(400), Steps: 12, Done: 10},
	}
}

// Undo is the preview of an undo of the run.
func Undo() event.Undo {
	return event.Undo{
		Run: StoryRun, Goal: StoryGoal,
		Diff: "--- a/auth/notes.md\n+++ /dev/null\n@@ -1 +0,0 @@\n-what was renamed\n" + HandlerDiff,
		Files: []event.UndoneFile{
			{Path: "auth/handler.go", Action: "restored"}, {Path: "auth/notes.md", Action: "removed"}, {Path: "auth/old.go", Action: "recreated"},
		},
		Notes: []string{"anything that test.run changed is not restored"},
	}
}

// RefusedUndo is a refused one.
func RefusedUndo() event.Undo {
	return event.Undo{Run: StoryRun, Goal: StoryGoal, Refused: "auth/jwt.go changed since: nothing was put back", Diff: HelperDiff}
}

// SomeFiles are names for an @.
func SomeFiles() session.Completions {
	return session.Completions{Of: session.CompleteMentions, Items: []session.Completion{
		{Text: ".gitignore"},
		{Text: "a note.txt"},
		{Text: "docs/", Folder: true},
		{Text: "docs/guide.md"},
		{Text: "internal/", Folder: true},
		{Text: "internal/slug.go"},
		{Text: "internal/slug_test.go"},
		{Text: "my files/", Folder: true},
		{Text: "my files/x"},
		{Text: "wiki:page://front", Detail: "the front page, resource of wiki"},
	}}
}

// SomeCommands are commands for a slash.
func SomeCommands() session.Completions {
	return session.Completions{Of: session.CompleteCommands, Items: []session.Completion{
		{Text: "/plan", Detail: "Create, save, check and run plans"},
		{Text: "/plan list", Detail: "List the plans"},
		{Text: "/plan run", Detail: "Run a plan", Usage: "ID|FILE", Takes: []session.Completing{session.CompletePlans, session.CompleteFiles}},
		{Text: "/model", Detail: "What answers", Usage: "[NAME]", Takes: []session.Completing{session.CompleteModels}},
		{Text: "/models", Detail: "List the models"},
		{Text: "/help", Detail: "What the chat takes"},
	}}
}
