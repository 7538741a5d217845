package tui_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/exp/golden"

	"replan/agent/event"
)

// results: a plan is done whose steps have results of several kinds.
func (s *story) results() *story {
	place := func(path string, line int, text string) map[string]any {
		return map[string]any{"path": path, "line": line, "text": text}
	}
	s.planned()
	for _, r := range []struct {
		index  string
		result any
	}{
		{"1", strings.Repeat("- faster\n", 9)},
		{"2", map[string]any{"files": 2, "matches": []any{place("NOTES.md", 3, "- faster"), place("docs/a-file-with-a-name-that-is-long/NOTES.md", 14, "- much smaller than it ever was before")}}},
		{"3", map[string]any{"summary": "1 of 3 tests failed", "passed": false, "failures": []any{map[string]any{"name": "TestNotes", "file": "notes_test.go", "line": 7}}}},
		{"4", map[string]any{"ok": true, "posted": "releases"}},
	} {
		s.startStep(storyPlanRun, r.index, nil).after(100).plan(event.StepCompleted{Index: r.index, Attempt: 1, MS: 100, Result: r.result})
	}
	s.plan(event.RunCompleted{Result: event.Result{Status: event.StatusCompleted, Reason: event.ReasonGoalMet, DurationMS: 400, Usage: event.Usage{Steps: 4, ToolCalls: 4}}})
	return s.session(event.ChatReply{
		Run: storyPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done.",
		Results: "What the steps brought:\n\n**1. Read the release notes**: completed\n\n```\n- faster\n```\n",
	})
}

func TestTheChatShowsTheResultsOfAPlanWithoutAnAnswer(t *testing.T) {
	s := settled(t, newStory().results(), 120, 40)
	golden.RequireEqual(t, s.panes()+"\n")
	s.lacks("What the steps brought") // the chat already shows them
}

func TestResultsOfEarlierSessionUnfold(t *testing.T) {
	s := settled(t, newStory().greeted().session(
		event.ChatUser{Text: "/plan run release-notes"},
		event.ChatReply{Run: storyPlanRun, Status: event.StatusCompleted, Reason: event.ReasonGoalMet, Text: "Publish the release notes: 4 of 4 steps done.", Results: "**1. Read**: completed\n\n```\n- faster\n```\n"},
	), 100, 30)
	s.wants("4 of 4 steps done.")
	s.wants("results of the steps")
	s.lacks("- faster")
	s.press(alt('u'))
	s.wants("- faster")
}
