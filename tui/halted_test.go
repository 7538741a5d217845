package tui_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/tui/panetest"
)

func TestStoppedStepIsMarkedAndStaysChosen(t *testing.T) {
	for name, result := range map[string]event.Result{
		"by the user": {Status: event.StatusCanceled, Reason: event.ReasonInterrupted},
		"by a guard":  {Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "3 tool calls were made, and no more may be (guard tool_calls)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().Halted(result), 120, 36)
			if s.m.Selected() != "2" {
				t.Errorf("step %s is selected", s.m.Selected())
			}
			for _, line := range s.lines() {
				if strings.Contains(line, "2 Find out why") && (!strings.Contains(line, "■") || !strings.Contains(line, "stopped")) {
					t.Errorf("the step is not marked as stopped: %s", line)
				}
			}
			s.wants("■ Find out why a session expires early") // in the step pane
			s.wants("I read the rest.")
			s.wants("▸ 3 of 4 calls")
			s.lacks("◦ Find out why")
			s.press(tabKey).press(letters("1")...)
			s.wants("stopped before it was done")
			s.wants("3 of 4 calls")
		})
	}
	settled(t, newStory().Patching(), 120, 60).wants("▸ 4 calls") // the last one is about to be made
}

func TestPlanCardShowsOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		result map[string]any
		want   []string
	}{
		"failed":    {map[string]any{"status": "failed", "reason": "step_failed", "error": "step 2 (Rename) failed: no such file"}, []string{"✗ plan_create_and_execute", "failed", "step 2 (Rename) failed: no such file"}},
		"no reason": {map[string]any{"status": "failed", "reason": "step_failed"}, []string{"✗ plan_create_and_execute", "step failed"}},
		"completed": {map[string]any{"status": "completed", "reason": "goal_met"}, []string{"✓ plan_create_and_execute", "1.7s"}},
		"stored":    {map[string]any{"id": "jwt", "title": "Rename"}, []string{"✓ plan_create_and_execute"}},
	} {
		t.Run(name, func(t *testing.T) {
			st := newStory().Delegating().Child(event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, DurationMS: 1710}})
			st.Chat(event.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: c.result, Run: panetest.StoryChildRun})
			s := settled(t, st, 200, 60)
			line := s.lines()[lineOf(s, c.want[0])]
			if strings.HasPrefix(c.want[0], "✗") == strings.Contains(line, "1.7s") {
				t.Errorf("got the card %s", line)
			}
			for _, text := range c.want {
				s.wants(text)
			}
		})
	}
}
