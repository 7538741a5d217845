package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"replan/agent/ollama/ollamatest"
)

//go:embed project
var project embed.FS

//go:embed words
var words embed.FS

// Goal is the goal of the demo.
const Goal = "TestMake is red: find out why, fix it and run the tests"

// Intro returns the Markdown shown in the chat at the start. send is the key that
// sends.
func Intro(send string) string {
	return "**This is a demo.** A scripted model plays its part over Ollama's own protocol; the project, the tools, " +
		"the tests, the failure and the gates are real. The folder is a throwaway copy, so you can allow every call.\n\n" +
		"Press **" + send + "** to send the goal below. The demo knows only this one."
}

// Next returns the Markdown that follows the answer: things to try next, and that
// the run is deleted unless kept. key returns the key of an action.
func Next(key func(action string) string, kept bool) string {
	next := "\n**Try next:** " + "**" + key("pane.next") + "**" + " to the plan, then **" + key("plan.timeline") + "** timeline · **" +
		key("plan.revisions") + "** revisions · **" + key("plan.undo") + "** undo · **" + key("runs") + "** replay the run"
	if !kept {
		next += ". It is deleted when you quit."
	}
	return next + "\n"
}

// Model is the name of the scripted model.
const Model = "demo-script"

// Unpack writes the sample project to dir, which must exist.
func Unpack(dir string) error {
	err := fs.WalkDir(project, "project", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		data, err := project.ReadFile(path)
		if err != nil {
			return err
		}
		// The files end in .txt to keep them out of this module.
		name := strings.TrimSuffix(strings.TrimPrefix(path, "project/"), ".txt")
		target := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, data, 0o600)
	})
	if err != nil {
		return fmt.Errorf("unpack the demo's project into %s: %w", dir, err)
	}
	return nil
}

// Start serves the scripted model until Close. pace is the delay between two
// chunks of a reply; 0 sends them at once. next is Markdown that follows the answer.
func Start(ctx context.Context, pace time.Duration, next string) (*ollamatest.Server, error) {
	var ended atomic.Bool // the demo's run has its answer
	before := func(ollamatest.Request) bool { return !ended.Load() }
	first := func(r ollamatest.Request) bool {
		return !ended.Load() && slices.ContainsFunc(r.Messages, func(m ollamatest.Message) bool {
			return m.Role == "user" && strings.Contains(m.Content, Goal)
		})
	}
	replies := []ollamatest.Reply{
		// A message to the run makes it ask again for the same phase.
		{Purpose: "analysis", When: first, Text: scripted("1-analysis.json"), Times: -1},
		{Purpose: "review", Text: scripted("2-review.md"), Times: -1},
		{Purpose: "plan", Text: scripted("3-plan.json"), Times: -1},
		{Purpose: "replan", Text: scripted("4-replan.json")},
		{Purpose: "answer", TextFor: func(ollamatest.Request) string {
			ended.Store(true)
			return scripted("5-answer.md") + next
		}},
		{Purpose: "analysis", Text: `{"mode":"direct"}`, Times: -1},
		{Purpose: "replan", Text: `{"title":"","steps":[],"reason":"the demo's script knows no further way"}`, Times: -1},
		{Purpose: "chat", When: before, Text: scripted("0-other-goal.md") + "\n    " + Goal + "\n", Times: -1},
		{Text: scripted("6-ended.md"), Times: -1},
	}
	server, err := ollamatest.Start(ctx, ollamatest.Script{
		Model: Model, ContextLength: 8192, Capabilities: []string{"completion", "tools"},
		Replies: replies, Pace: pace,
	})
	if err != nil {
		return nil, fmt.Errorf("start the demo's scripted model: %w", err)
	}
	return server, nil
}

// scripted returns a reply of the script by its file.
func scripted(name string) string {
	text, err := words.ReadFile("words/" + name)
	if err != nil {
		panic(err) // the files are embedded
	}
	return string(text)
}
