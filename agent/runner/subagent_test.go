package runner_test

import (
	"context"
	"maps"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestJobOffersNoPlanTools(t *testing.T) {
	m := &model{info: prompt.ModelInfo{Name: "m", Tools: true}, replies: map[prompt.Purpose]string{
		prompt.PurposeAnalysis: `{"mode":"direct"}`, prompt.PurposeChat: "hello",
	}}
	result, err := runner.Run(t.Context(), runner.Job{Goal: "hi", Model: m, Catalog: lookAndChange, Call: succeed})
	if err != nil || result.Reason != event.ReasonDirect {
		t.Fatalf("%+v, %v", result, err)
	}
	offered := map[string]bool{}
	for _, r := range m.requests(prompt.PurposeChat) {
		for _, tool := range r.Tools {
			offered[tool.Name] = true
		}
	}
	if want := map[string]bool{"look": true, "change": true}; !maps.Equal(offered, want) {
		t.Errorf("got the tools %v", offered)
	}
}

func TestJobRefusesUnknownProfile(t *testing.T) {
	plan := planOf(t, `{"title":"Ask","executor":"agent","profile":"critic"}`)
	m := &model{info: prompt.ModelInfo{Name: "m", Tools: true}, replies: map[prompt.Purpose]string{prompt.PurposeAgent: "fine"}}
	for _, known := range []bool{false, true} {
		job := runner.Job{Plan: plan, Model: m, Call: succeed}
		if known {
			job.Profiles = []prompt.Profile{{Name: "critic"}}
		}
		result, err := runner.Run(t.Context(), job)
		if (err == nil) != known || known && result.Reason != event.ReasonGoalMet {
			t.Errorf("profile known: %t, %+v, error %v", known, result.Reason, err)
		}
	}
}

func TestTimeoutOfSubAgentCancelsItsCalls(t *testing.T) {
	m := &model{info: prompt.ModelInfo{Name: "m", Tools: true}, answer: func(prompt.Request) (reply.Reply, error, bool) {
		return reply.Reply{Calls: []reply.ToolUse{use("look", map[string]any{})}}, nil, true
	}}
	var called []event.Event
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, `{"title":"Ask","executor":"agent","profile":"critic"}`), Model: m, Catalog: lookAndChange,
		Profiles: []prompt.Profile{{Name: "critic", Timeout: 20 * time.Millisecond}},
		Call: func(ctx context.Context, _ plan.ToolCall) (any, error) {
			<-ctx.Done() // only the timeout of the step ends this call
			return nil, ctx.Err()
		},
		Events: func(e event.Event) {
			if d, ok := e.Data.(event.StepStarted); ok && d.Parent == "1" {
				called = append(called, e)
			}
		},
	})
	if err != nil || result.Reason != event.ReasonStepFailed || len(called) != 1 {
		t.Errorf("%s: %s (%v); the sub-agent called %v", result.Reason, result.Error, err, called)
	}
}

func TestCancelAgentStepDuringCall(t *testing.T) {
	begun := make(chan struct{})
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.model.info.Tools = true
		s.model.answer = func(r prompt.Request) (reply.Reply, error, bool) {
			if r.Purpose != prompt.PurposeAgent {
				return reply.Reply{}, nil, false
			}
			return reply.Reply{Calls: []reply.ToolUse{use("look", map[string]any{})}}, nil, true
		}
		s.tools.call = holding(begun)
		s.config = func(c *runner.Config) { c.Prompting.Profiles = []prompt.Profile{{Name: "critic"}} }
	})
	p := plan.Plan{Title: "x", Steps: []plan.Step{{Index: "1", Title: "Ask", Executor: plan.ExecutorAgent, Profile: "critic"}}}
	s.Send(session.Execute{Plan: p})
	for until[event.StepStarted](t, s).Parent != "1" {
		continue // skip the agent step itself
	}
	run := s.seen[len(s.seen)-1].Run
	<-begun
	s.Send(session.Cancel{Run: run, Step: "1"})
	reply := until[event.ChatReply](t, s)
	s.shut()
	if reply.Reason != event.ReasonInterrupted {
		t.Errorf("%+v", reply)
	}
}
