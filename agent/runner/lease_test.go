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

func TestReplanWithoutPlannerFailsRun(t *testing.T) {
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

func TestResumeWithoutModelWritesNoAnswer(t *testing.T) {
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

// changing returns a tool that fails until ready is set.
func changing(ready *atomic.Bool) func(context.Context, plan.ToolCall) (any, error) {
	return func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "change" && !ready.Load() {
			return nil, &plan.ToolError{Tool: "change", Message: "not yet"}
		}
		return "seen", nil
	}
}

func TestResumedRunGetsRemainingSessionBudget(t *testing.T) {
	k := newSavedJournals()
	var ready atomic.Bool
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 4} }
		s.tools.call = changing(&ready)
	})
	// Two calls; the second fails.
	s.Send(session.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	r1 := until[event.ChatReply](t, s)
	// A third call leaves one of four.
	s.Send(session.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)})
	until[event.ChatReply](t, s)
	ready.Store(true)
	s.Send(session.Resume{Run: r1.Run})
	resumed := until[event.RunResumed](t, s)
	until[event.ChatReply](t, s)
	if left := resumed.Limits.MaxToolCalls - 2; left > 1 {
		t.Errorf("the session has 1 call left, the resumed run may make %d more", left)
	}
}

func TestSessionBudgetCountsResumedRunOnce(t *testing.T) {
	k := newSavedJournals()
	var ready atomic.Bool
	s := k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 5} }
		s.tools.call = changing(&ready)
	})
	s.Send(session.Execute{Plan: *planOf(t, lookStep, `{"title":"Change","tool":"change","args":{"to":"${seen}"}}`)})
	r1 := until[event.ChatReply](t, s)
	ready.Store(true)
	s.Send(session.Resume{Run: r1.Run})
	until[event.ChatReply](t, s)
	s.Send(session.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)})
	rep := until[event.ChatReply](t, s)
	if rep.Reason != event.ReasonGoalMet {
		t.Errorf("the fourth of 5 calls was refused: %s", rep.Text)
	}
}

func TestRestoredSessionKeepsSpentBudget(t *testing.T) {
	k := newSavedJournals()
	limit := func(c *runner.Config) { c.SessionLimits = event.SessionLimits{MaxToolCalls: 1} }
	s := k.session(t, policy.ApproveAll, func(s *stage) { s.config = limit })
	look := session.Execute{Plan: *planOf(t, `{"title":"Look","tool":"look","args":{}}`)}
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
		t.Errorf("a restored session exceeds its budget: %+v", r)
	}
}

func TestDryRunJobWritesNoJournal(t *testing.T) {
	m := &memory{room: -1}
	_, err := runner.Run(t.Context(), runner.Job{Plan: planOf(t, changeStep), Call: succeed, DryRun: true, Journal: m})
	if err != nil {
		t.Fatal(err)
	}
	if len(m.events) > 0 {
		t.Errorf("got %d events in the journal, want none", len(m.events))
	}
}

func TestResumedCreateStoresPlan(t *testing.T) {
	k := newSavedJournals()
	saved := 0
	room := func(n int) func(*stage) {
		return func(s *stage) {
			s.config = func(c *runner.Config) {
				storeOf(c).save = func(p plan.Plan) (plan.Plan, error) { saved++; p.ID = fmt.Sprint("p", saved); return p, nil }
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
	s.Send(session.Create{Goal: "do it"})
	r := until[event.ChatReply](t, s)
	s.shut()
	saved = 0
	k.runs[r.Run].room = -1
	s = k.session(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			storeOf(c).save = func(p plan.Plan) (plan.Plan, error) { saved++; p.ID = fmt.Sprint("p", saved); return p, nil }
		}
	})
	s.Send(session.Resume{Run: r.Run})
	if r = until[event.ChatReply](t, s); saved != 1 {
		t.Errorf("the plan was stored %d times, want once (%s)", saved, r.Text)
	}
}
