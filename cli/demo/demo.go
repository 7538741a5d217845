package demo

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"replan/agent/ollama/ollamatest"
	"replan/planning/plan"
)

//go:embed project
var project embed.FS

//go:embed words
var words embed.FS

//go:embed replies.jsonl
var replies []byte

// Goal is the goal of the first act.
const Goal = "TestMake is red: find out why, fix it and run the tests"

// RecordedModel is the real model of the second act, whose replies are recorded, and
// Goals are the goals that it was sent, in this order.
const RecordedModel = "coder"

// Goals returns the goals of the second act.
func Goals() []string {
	return []string{
		"How does sitemap.Paths order the pages?",
		"Create NOTES.md with two sentences about what slug.Make does.",
	}
}

// speedup is how many times faster than on the machine of the recording the second act
// is played.
const speedup = 4

// Suggestions returns what is typed for the user, one after another, from an act on.
func Suggestions(act int) []string {
	second := Goals()
	if act == 2 {
		return second
	}
	return append([]string{Goal, "/model " + RecordedModel}, second...)
}

// Intro returns the Markdown shown in the chat at the start. send is the key that
// sends.
func Intro(send string) string {
	return "**This is a demo.** A scripted model plays its part over Ollama's own protocol; the project, the tools, " +
		"the tests, the failure and the gates are real. The folder is a throwaway copy, so you can allow every call.\n\n" +
		"Press **" + send + "** to send the goal below. The demo knows only this one."
}

// RecordedIntro is like Intro for the second act.
func RecordedIntro(send string) string {
	return "**This is the demo's second act.** The words are those of a real model with 1.5 billion parameters, recorded on two cores " +
		"without a graphics card, and played " + strconv.Itoa(speedup) + " times as fast. The project, the tools and the gates are real.\n\n" +
		"Press **" + send + "** to send the goal below."
}

// Next returns the Markdown that follows the answer: things to try next, and that
// the run is deleted unless kept. key returns the key of an action.
func Next(key func(action string) string, kept bool) string {
	next := "\n**Try next:** " + "**" + key("pane.next") + "**" + " to the plan, then **" + key("plan.timeline") + "** timeline · **" +
		key("plan.revisions") + "** revisions · **" + key("plan.undo") + "** undo · **" + key("runs") + "** replay the run"
	if !kept {
		next += ". It is deleted when you quit."
	}
	return next + "\n\n**Act 2:** a real model, recorded (1.5 B parameters, two cores), played " + strconv.Itoa(speedup) +
		" times as fast: send `/model " + RecordedModel + "`, then the goals that are typed for you.\n"
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
// The server has the recorded model, too. It replies to its goals after other talk or
// other changes as well: a recorded reply is chosen by what a request is for.
func Start(ctx context.Context, pace time.Duration, next string) (*ollamatest.Server, error) {
	var ended atomic.Bool // the demo's run has its answer
	before := func(ollamatest.Request) bool { return !ended.Load() }
	first := func(r ollamatest.Request) bool {
		return !ended.Load() && slices.ContainsFunc(r.Messages, func(m ollamatest.Message) bool {
			return m.Role == "user" && strings.Contains(m.Content, Goal)
		})
	}
	declined := func(r ollamatest.Request) bool {
		return slices.ContainsFunc(r.Messages, func(m ollamatest.Message) bool { return strings.Contains(m.Content, plan.DeniedAtGate) })
	}
	recording, err := ollamatest.ReadRecording(replies)
	if err != nil {
		return nil, fmt.Errorf("read the demo's recording: %w", err)
	}
	faster := 0.0
	if pace > 0 {
		faster = speedup
	}
	script := []ollamatest.Reply{
		// A message to the run makes it ask again for the same phase.
		{Purpose: "analysis", When: first, Text: scripted("1-analysis.json"), Times: -1},
		{Purpose: "review", Text: scripted("2-review.md"), Times: -1},
		{Purpose: "plan", Text: scripted("3-plan.json"), Times: -1},
		{Purpose: "replan", When: declined, Text: `{"title":"","steps":[],"reason":"you declined a call, and the demo's script knows no other way"}`, Times: -1},
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
		Replies: script, Pace: pace, Recording: recording, Loose: true, Speedup: faster,
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
