package frame

import (
	"strings"
	"testing"

	"replan/agent/session"
	"replan/internal/untrusted"
	"replan/tui/panetest"
)

// stateAfter is what the frame shows after a story. A status replaces the last one that the
// session has reported.
func stateAfter(t *testing.T, st *panetest.Story, status ...session.Status) State {
	t.Helper()
	run := st.Runs(t).Current()
	s := State{Run: run.State, Active: run.Active(), Reported: true}
	for _, e := range st.Events {
		if reported, is := e.Data.(session.Status); is {
			s.Session = reported
		}
	}
	for _, reported := range status {
		s.Session = reported
	}
	return s
}

func TestContextMeter(t *testing.T) {
	status := session.Status{Workspace: "/src", Model: "m", ContextWindow: 8192}
	estimated := status
	estimated.ContextTokens = 1210
	for name, c := range map[string]struct {
		state State
		want  string
	}{
		"nothing is used":                {stateAfter(t, panetest.NewStory(), status), " m"},
		"estimate while idle":            {stateAfter(t, panetest.NewStory(), estimated), "m · ▰▱▱▱ ~1.2k/8k ctx"},
		"count of an active run":         {stateAfter(t, panetest.NewStory().Exploring(), estimated), "1.7k/32k ctx"},
		"estimate after the run":         {stateAfter(t, panetest.NewStory().ChatAnswered(), estimated), "~1.2k/8k ctx"},
		"last count without an estimate": {stateAfter(t, panetest.NewStory().Finished(), status), "4.3k/32k ctx"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := text(newFrame(Options{}).Header(c.state, 120)); !strings.Contains(got, c.want) || name == "nothing is used" && strings.Contains(got, "ctx") {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

func TestHeaderShowsModelThinkingAndProfile(t *testing.T) {
	header := func(st *panetest.Story) string { return text(newFrame(Options{}).Header(stateAfter(t, st), 120)) }
	if got, want := header(panetest.NewStory().Calling()), "answering · 0:01 · qwen3:8b · think low · reviewer · ▰▱▱▱ 2.0k/32k ctx"; !strings.Contains(got, want) {
		t.Errorf("got %q, want %q in it", got, want)
	}
	if got := header(panetest.NewStory().Greeted()); strings.Contains(got, "think") {
		t.Errorf("a session without a level of thinking shows one: %q", got)
	}
}

func TestNarrowHeaderKeepsContextMeter(t *testing.T) {
	for _, model := range []string{"qwen3:8b", "qwen2.5-coder:7b-instruct-q4_K_M", "m"} {
		for _, tokens := range []int{1210, 27_400, 120_500} {
			status := session.Status{Workspace: "/src/auth-service", Model: untrusted.Text(model), ContextWindow: 131_072, ContextTokens: tokens, Tools: 6}
			header := text(newFrame(Options{}).Header(stateAfter(t, panetest.NewStory().ChatAnswered(), status), 40))
			if !strings.Contains(header, "/128k") || !strings.Contains(header, model[:min(len(model), 6)]) {
				t.Errorf("%s", header)
			}
		}
	}
	roomy := stateAfter(t, panetest.NewStory(), session.Status{Workspace: "/src/auth-service", Model: "m", ContextWindow: 8192})
	if got := text(newFrame(Options{}).Header(roomy, 40)); !strings.Contains(got, "service") {
		t.Errorf("the folder is not named: %q", got)
	}
}

func TestHeaderShowsHowLongTheRunTakes(t *testing.T) {
	for name, c := range map[string]struct {
		story *panetest.Story
		want  string
	}{
		"before the first run": {panetest.NewStory(), ""},
		"after it":             {panetest.NewStory().Finished(), "✓ done · 0:21 · qwen3:8b"},
	} {
		if got := text(newFrame(Options{}).Header(stateAfter(t, c.story), 120)); !strings.Contains(got, c.want) || c.want == "" && strings.Contains(got, "0:") {
			t.Errorf("%s: got %q, want %q in it", name, got, c.want)
		}
	}
}

func TestHeaderMarksTheBranchOfChangedFiles(t *testing.T) {
	status := session.Status{Workspace: "/src/auth-service", Model: "m", Branch: "main"}
	for dirty, want := range map[bool]string{false: "⎇ main  ", true: "⎇ main*  "} {
		status.Dirty = dirty
		if got := text(newFrame(Options{}).Header(stateAfter(t, panetest.NewStory(), status), 80)); !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

// What is known of the model goes before the name of the folder does.
func TestHeaderOf60ColumnsNamesTheFolder(t *testing.T) {
	for width := 60; width <= 120; width++ {
		status := session.Status{Workspace: "/home/ann/src/github.com/auth-service", Model: "qwen2.5-coder:7b-instruct-q4_K_M", ContextWindow: 131_072, ContextTokens: 120_500, Tools: 33, Profile: "reviewer", Think: "high", Review: true}
		if got := text(newFrame(Options{}).Header(stateAfter(t, panetest.NewStory().Finished(), status), width)); !strings.Contains(got, "auth-service") || !strings.Contains(got, "done") {
			t.Errorf("%d columns: %q", width, got)
		}
	}
}
