package runner_test

import (
	"slices"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/rule"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestWordsOfAnotherProgramAllowNoTests(t *testing.T) {
	tests := plan.Tool{Server: "workspace", Name: "test.run", Trusted: true}
	for name, command := range map[string]session.Command{
		"goal": session.Create{Goal: "run the tests", Run: true},
		"plan": session.Execute{Plan: plan.Plan{Title: "T", Steps: []plan.Step{{Index: "1", Title: "T", Tool: "test.run", Args: map[string]any{}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			for delegated, want := range map[bool]rule.Verdict{false: rule.VerdictRun, true: rule.VerdictAsk} {
				s := open(t, policy.ApproveAll, func(s *stage) {
					s.config = func(cfg *runner.Config) { cfg.Delegated = delegated }
				})
				s.Send(command)
				started := until[event.RunStarted](t, s)
				if got := rule.Decide(started.Rules, tests, nil).Verdict; got != want {
					t.Errorf("delegated %v: got %s, want %s", delegated, got, want)
				}
				until[event.ChatReply](t, s)
			}
		})
	}
}

func TestCreateWithRunRunsPlanWithoutStoringOrAnswering(t *testing.T) {
	stored := false
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(cfg *runner.Config) {
			storeOf(cfg).save = func(p plan.Plan) (plan.Plan, error) {
				stored = true
				return p, nil
			}
		}
	})
	s.Send(session.Create{Goal: "look and change", Run: true})
	reply := until[event.ChatReply](t, s)
	if reply.Reason != event.ReasonGoalMet || reply.Run == "" {
		t.Fatalf("%+v", reply)
	}
	if got := s.tools.called(); !slices.Equal(got, []string{"look", "change"}) {
		t.Errorf("called %v", got)
	}
	if stored {
		t.Error("the plan is stored")
	}
	if asked := s.model.requests(prompt.PurposeSynthesis); len(asked) > 0 {
		t.Errorf("%d requests for an answer", len(asked))
	}
}

func TestAnswerAtGateNamesWhatAnswered(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(session.Create{Goal: "look and change", Run: true})
	gate := until[event.GateRequested](t, s)
	s.Send(session.Resolve{Run: s.seen[len(s.seen)-1].Run, Gate: gate.Gate, Decision: event.Deny, By: "nobody"})
	if resolved := until[event.GateResolved](t, s); resolved.By != "nobody" || resolved.Decision != event.Deny {
		t.Errorf("%+v", resolved)
	}
	until[event.ChatReply](t, s)
}
