package tui_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// halted: an agent step was running when the run ended, with a call that was
// requested and never made.
func (s *story) halted(result event.Result) *story {
	s.exploring().run(event.StepCompleted{Index: "2.3", Attempt: 1, MS: 400, Result: "package auth\n"},
		event.ModelRequested{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Request: request(prompt.PurposeAgent, "2")})
	third := sampleReply("I read the rest.", 1900, 60)
	third.Calls = []reply.ToolUse{use("fs_read", map[string]any{"path": "auth/refresh.go"})}
	s.after(800).run(event.ModelReplied{Purpose: prompt.PurposeAgent, Step: "2", Attempt: 1, Reply: third, PromptTokens: 1900, CompletionTokens: 60, MS: 800})
	if result.Status == event.StatusCanceled {
		return s.run(event.RunPaused{Reason: "user"}, event.RunCompleted{Result: result})
	}
	return s.run(event.GuardBlocked{Guard: "tool_calls", Step: "2.4", Reason: result.Error}, event.RunCompleted{Result: result})
}

func TestStoppedStepIsMarkedAndStaysChosen(t *testing.T) {
	for name, result := range map[string]event.Result{
		"by the user": {Status: event.StatusCanceled, Reason: event.ReasonInterrupted},
		"by a guard":  {Status: event.StatusFailed, Reason: event.ReasonGuard, Error: "3 tool calls were made, and no more may be (guard tool_calls)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := settled(t, newStory().halted(result), 120, 36)
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
			s.lacks("· Find out why")
			s.press(tabKey).press(letters("1")...)
			s.wants("stopped before it was done")
			s.wants("3 of 4 calls")
		})
	}
	settled(t, newStory().patching(), 120, 60).wants("▸ 4 calls") // the last one is about to be made
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
			st := newStory().delegating().child(event.RunCompleted{Result: event.Result{Status: event.StatusFailed, Reason: event.ReasonStepFailed, DurationMS: 1710}})
			st.chat(event.StepCompleted{Index: "chat.4", Attempt: 1, MS: 1720, Result: c.result, Run: storyChildRun})
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
