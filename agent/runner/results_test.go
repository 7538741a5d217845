package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestLaterTurnsSeePlanResults(t *testing.T) {
	k := newSavedJournals()
	direct := func(s *stage) {
		s.model.replies[prompt.PurposeAnalysis] = `{"mode":"direct"}`
		s.tools.call = func(context.Context, plan.ToolCall) (any, error) { return "module example.com/pages", nil }
	}
	ask := func(s *stage, goal string) {
		t.Helper()
		s.Send(session.Submit{Text: goal})
		until[event.ChatReply](t, s)
		requests := s.model.requests(prompt.PurposeChat)
		if len(requests) == 0 {
			t.Fatal("the model got no request")
		}
		messages := requests[len(requests)-1].Messages
		if !slices.ContainsFunc(messages, func(m prompt.Message) bool {
			return m.Role == prompt.RoleAssistant && strings.HasPrefix(m.Content, "Plan: 1 of 1 steps done.\n\n") && strings.Contains(m.Content, "module example.com/pages")
		}) {
			t.Errorf("the model sees no result in %v", messages)
		}
	}
	s := k.session(t, policy.ApproveAll, direct)
	s.Send(session.Execute{Plan: *planOf(t, lookStep)})
	reply := until[event.ChatReply](t, s)
	if reply.Text != "Plan: 1 of 1 steps done." || !strings.Contains(string(reply.Results), "module example.com/pages") {
		t.Errorf("%+v", reply)
	}
	ask(s, "what did you read?")
	s.shut()

	stored := k.sessions[s.ID()]
	again := k.session(t, policy.ApproveAll, func(again *stage) {
		direct(again)
		again.config = func(c *runner.Config) {
			c.Restored = &runner.Restored{ID: s.ID(), Journal: stored, Events: slices.Clone(stored.events)}
		}
	})
	for reply := until[event.ChatReply](t, again); reply.Text != "hello"; reply = until[event.ChatReply](t, again) {
	}
	ask(again, "and what else?")
	again.shut()
}
