package runner_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

func TestAReplanThatNobodyCanMakeEndsTheRun(t *testing.T) {
	result, err := runner.Run(t.Context(), runner.Job{
		Plan: planOf(t, changeStep), Call: failOnce(),
		Failure: func(context.Context, agent.Question) (event.FailureDecision, map[string]any) {
			return event.FailureReplan, nil
		},
	})
	if err != nil || result.Reason != event.ReasonStepFailed {
		t.Errorf("%s: %s (%v)", result.Reason, result.Error, err)
	}
}

func TestARunResumedWithoutAModelHasNoAnswer(t *testing.T) {
	var past []event.Event
	m := &model{info: prompt.ModelInfo{Name: "m"}, replies: map[prompt.Purpose]string{}}
	_, err := runner.Run(t.Context(), runner.Job{Plan: planOf(t, changeStep), Call: failOnce(), Model: m, Synthesize: true, Events: func(e event.Event) {
		if !e.Data.Kind().Passing() {
			past = append(past, e)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	result, err := runner.Run(t.Context(), runner.Job{Past: past, Call: succeed})
	if err != nil || result.Reason != event.ReasonGoalMet || result.Answer != "" {
		t.Errorf("%s: %s; answer %q (%v)", result.Reason, result.Error, result.Answer, err)
	}
}

// changing is a tool that changes things once it is ready, and fails before.
func changing(ready *atomic.Bool) func(context.Context, plan.ToolCall) (any, error) {
	return func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "change" && !ready.Load() {
			return nil, &plan.ToolError{Tool: "change", Message: "not yet"}
		}
		return "seen", nil
	}
}

func TestAResumedRunIsLeasedWhatIsLeft(t *testing.T) {
	k := newShelf()
	var ready atomic.Bool
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 4} }
		s.tools.call = changing(&ready)
	})
	// Two calls, of which the second fails.
	s.Send(runner.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	r1 := until[event.ChatReply](t, s)
	// One more, which leaves one of four.
	s.Send(runner.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)})
	until[event.ChatReply](t, s)
	ready.Store(true)
	s.Send(runner.Resume{Run: r1.Run})
	resumed := until[event.RunResumed](t, s)
	until[event.ChatReply](t, s)
	if left := resumed.Limits.MaxToolCalls - 2; left > 1 {
		t.Errorf("the session has 1 call left, the resumed run may make %d more", left)
	}
}

func TestAResumedRunIsNotCountedTwice(t *testing.T) {
	k := newShelf()
	var ready atomic.Bool
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 5} }
		s.tools.call = changing(&ready)
	})
	s.Send(runner.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	r1 := until[event.ChatReply](t, s)
	ready.Store(true)
	s.Send(runner.Resume{Run: r1.Run})
	until[event.ChatReply](t, s)
	s.Send(runner.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)})
	rep := until[event.ChatReply](t, s)
	if rep.Reason != event.ReasonGoalMet {
		t.Errorf("3 of 5 calls were made, and a fourth is refused: %s", rep.Text)
	}
}

func TestASessionThatIsGoneOnWithKeepsItsBudget(t *testing.T) {
	k := newShelf()
	limit := func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 1} }
	s := k.session(t, policy.ApproveAll, func(s *stage) { s.config = limit })
	look := runner.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)}
	s.Send(look)
	until[event.ChatReply](t, s)
	s.Send(look)
	if r := until[event.ChatReply](t, s); r.Reason != event.ReasonToolBudget {
		t.Fatal(r)
	}
	s.shut()
	j := k.sessions[s.ID()]
	s2 := k.session(t, policy.ApproveAll, func(s2 *stage) {
		s2.config = func(c *runner.Config) {
			limit(c)
			c.Restored = &runner.Restored{ID: s.ID(), Journal: j, Events: j.events}
		}
	})
	for len(s2.seen) == 0 || s2.seen[len(s2.seen)-1].Data.Kind() != session.KindStatus {
		s2.seen = append(s2.seen, <-s2.Events())
	}
	s2.Send(look)
	if r := until[event.ChatReply](t, s2); r.Reason != event.ReasonToolBudget {
		t.Errorf("the session that has spent its budget runs on after --continue: %+v", r)
	}
}

func TestADryRunOfAJobWritesNoJournal(t *testing.T) {
	m := &memory{room: -1}
	_, err := runner.Run(t.Context(), runner.Job{Plan: planOf(t, changeStep), Call: succeed, DryRun: true, Journal: m})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.events) > 0 {
		t.Errorf("a dry run leaves %d events in the journal", len(m.events))
	}
}

func TestAPlanIsKeptByTheResumeOfItsRun(t *testing.T) {
	k := newShelf()
	kept := 0
	room := func(n int) func(*stage) {
		return func(s *stage) {
			s.config = func(c *runner.Config) {
				storeOf(c).save = func(p plan.Plan) (plan.Plan, error) { kept++; p.ID = fmt.Sprint("p", kept); return p, nil }
				open := storeOf(c).create
				storeOf(c).create = func(kind, id string) (runner.Journal, error) {
					j, err := open(kind, id)
					if kind == "run" {
						j.(*memory).room = n
					}
					return j, err
				}
			}
		}
	}
	s := k.session(t, policy.ApproveAll, room(4))
	s.Send(runner.Create{Goal: "do it"})
	r := until[event.ChatReply](t, s)
	s.shut()
	kept = 0
	k.runs[r.Run].room = -1
	s = k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			storeOf(c).save = func(p plan.Plan) (plan.Plan, error) { kept++; p.ID = fmt.Sprint("p", kept); return p, nil }
		}
	})
	s.Send(runner.Resume{Run: r.Run})
	if r = until[event.ChatReply](t, s); kept != 1 {
		t.Errorf("kept %d times (%s): the run that was to create a plan is completed, and the plan is kept nowhere", kept, r.Text)
	}
}
