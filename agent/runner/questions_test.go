package runner_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// attended makes a user available for questions.
func attended(s *stage) {
	s.config = func(c *runner.Config) { c.Attended = true }
}

// hangOnce returns a tool whose first change blocks until it is canceled.
func hangOnce() func(context.Context, plan.ToolCall) (any, error) {
	var hung atomic.Bool
	return func(ctx context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "change" && hung.CompareAndSwap(false, true) {
			return hang(ctx, c)
		}
		return "seen", nil
	}
}

func TestUserSettlesDoubt(t *testing.T) {
	slow := `{"title":"Change","tool":"change","args":{},"timeout":"1ms"}`
	for decision, want := range map[event.DoubtDecision]event.Reason{
		event.DoubtDone: event.ReasonGoalMet, event.DoubtRerun: event.ReasonGoalMet, event.DoubtAbort: event.ReasonInDoubt,
	} {
		t.Run(string(decision), func(t *testing.T) {
			k := newSavedJournals()
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				attended(s)
				s.tools.call = hangOnce()
			})
			// The second attempt succeeds at once, before its timeout.
			s.Send(session.Execute{Plan: *planOf(t, slow)})
			doubt := until[event.StepInDoubt](t, s)
			run := s.seen[len(s.seen)-1].Run
			s.Send(session.ResolveDoubt{Run: "another", Step: doubt.Index, Decision: event.DoubtAbort}) // not this run's
			s.Send(session.ResolveDoubt{Run: run, Step: "7", Decision: event.DoubtAbort})               // no question
			s.Send(session.ResolveFailure{Run: run, Step: doubt.Index, Decision: event.FailureAbort})   // not this question
			s.Send(session.ResolveDoubt{Run: run, Step: doubt.Index, Decision: decision})
			if resolved := until[event.DoubtResolved](t, s); resolved.Decision != decision || resolved.By != "user" {
				t.Errorf("%+v", resolved)
			}
			if reply := until[event.ChatReply](t, s); reply.Reason != want {
				t.Errorf("%+v", reply)
			}
			s.shut()
			calls := 1
			if decision == event.DoubtRerun {
				calls = 2
			}
			if called := s.tools.called(); len(called) != calls {
				t.Errorf("called %v", called)
			}
			k.fold(t, run)
		})
	}
}

func TestUserDecidesFailure(t *testing.T) {
	for _, c := range []struct {
		name   string
		decide session.ResolveFailure
		tools  func(context.Context, plan.ToolCall) (any, error)
		want   event.Reason
		calls  []string
	}{
		{"retry", session.ResolveFailure{Decision: event.FailureRetry}, failFirst("change"), event.ReasonGoalMet, []string{"change", "change", "look"}},
		{"retry with other args", session.ResolveFailure{Decision: event.FailureRetry, Args: map[string]any{"to": "y"}}, failUnless("y"), event.ReasonGoalMet, []string{"change", "change", "look"}},
		{"skip", session.ResolveFailure{Decision: event.FailureSkip}, failing("change"), event.ReasonPartial, []string{"change"}},
		{"replan", session.ResolveFailure{Decision: event.FailureReplan}, failing("change"), event.ReasonGoalMet, []string{"change", "look"}},
		{"abort", session.ResolveFailure{Decision: event.FailureAbort}, failing("change"), event.ReasonStepFailed, []string{"change"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := newSavedJournals()
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				attended(s)
				s.tools.call = c.tools
				s.model.replies[prompt.PurposeReplan] = `{"title":"Other","steps":[{"title":"Look","tool":"look","args":{}}]}`
			})
			s.Send(session.Execute{Plan: *planOf(t, changeStep, `{"title":"Look","tool":"look","args":{},"depends_on":["1"]}`)})
			c.decide.Step = until[event.StepFailed](t, s).Index
			c.decide.Run = s.seen[len(s.seen)-1].Run
			s.Send(session.ResolveDoubt{Run: c.decide.Run, Step: c.decide.Step, Decision: event.DoubtDone}) // not this question
			s.Send(c.decide)
			if reply := until[event.ChatReply](t, s); reply.Reason != c.want {
				t.Errorf("%+v", reply)
			}
			s.shut()
			if called := s.tools.called(); !slices.Equal(called, c.calls) {
				t.Errorf("called %v", called)
			}
		})
	}
}

// failFirst returns a tool call that fails the first time for one tool.
func failFirst(tool string) func(context.Context, plan.ToolCall) (any, error) {
	var failed atomic.Bool
	return func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == tool && failed.CompareAndSwap(false, true) {
			return nil, &plan.ToolError{Tool: tool, Message: "not yet"}
		}
		return "seen", nil
	}
}

// failUnless returns a tool call that accepts only changes to one value.
func failUnless(to string) func(context.Context, plan.ToolCall) (any, error) {
	return func(_ context.Context, c plan.ToolCall) (any, error) {
		if c.Tool.Name == "change" && c.Args["to"] != to {
			return nil, &plan.ToolError{Tool: "change", Message: "not to that"}
		}
		return "seen", nil
	}
}

func TestDecisionResumesEndedRun(t *testing.T) {
	for _, c := range []struct {
		decision event.FailureDecision
		args     map[string]any
		want     event.Reason
		to       []any // values of the changes
	}{
		{event.FailureRetry, nil, event.ReasonGoalMet, []any{"seen"}},
		{event.FailureRetry, map[string]any{"to": "y"}, event.ReasonGoalMet, []any{"y"}},
		{event.FailureSkip, nil, event.ReasonPartial, nil},
	} {
		t.Run(fmt.Sprint(c.decision, c.args), func(t *testing.T) {
			k := newSavedJournals()
			id := k.failed(t)
			var to []any
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				attended(s)
				s.tools.call = func(_ context.Context, c plan.ToolCall) (any, error) {
					to = append(to, c.Args["to"])
					return nil, nil
				}
			})
			s.Send(session.ResolveFailure{Run: id, Step: "2", Decision: c.decision, Args: c.args})
			if reply := until[event.ChatReply](t, s); reply.Reason != c.want {
				t.Errorf("%+v", reply)
			}
			s.shut()
			if !plan.EqualValues(any(to), any(c.to)) && len(to)+len(c.to) > 0 {
				t.Errorf("changed to %v", to)
			}
			resumed := slices.IndexFunc(k.runs[id].events, func(e event.Event) bool { return e.Data.Kind() == event.KindRunResumed })
			if resumed < 0 || k.runs[id].events[resumed+1].Data.Kind() != event.KindFailureResolved {
				t.Error("the decision does not follow the resume")
			}
			k.fold(t, id)
			k.allClosed(t)
		})
	}
}

func TestAbortOfEndedRunDoesNothing(t *testing.T) {
	k := newSavedJournals()
	id := k.failed(t)
	events := len(k.runs[id].events)
	s := k.session(t, policy.ApproveAll, attended)
	s.Send(session.ResolveFailure{Run: id, Step: "2", Decision: event.FailureAbort})
	s.Send(session.Cancel{Run: id, Step: "2"})
	until[event.Note](t, s) // the session's answer to the cancel follows the decision
	s.shut()
	if len(k.runs[id].events) != events {
		t.Error("the run was continued")
	}
}

// TestCancelStopsOneStep runs two steps at once and cancels one.
func TestCancelStopsOneStep(t *testing.T) {
	for _, c := range []struct {
		tool     string
		attended bool
		want     event.Kind // the canceled step's event
		reason   event.Reason
	}{
		{"look", true, event.KindStepFailed, event.ReasonInterrupted},
		{"look", false, event.KindStepFailed, event.ReasonInterrupted},
		{"change", true, event.KindStepInDoubt, event.ReasonInDoubt},
		{"change", false, event.KindStepInDoubt, event.ReasonInDoubt},
		{"test.run", false, event.KindStepFailed, event.ReasonInterrupted}, // tests are simply run again
		{"unsent", false, event.KindStepFailed, event.ReasonInterrupted},   // its server had not started
	} {
		t.Run(fmt.Sprintf("%s, attended: %t", c.tool, c.attended), func(t *testing.T) {
			k := newSavedJournals()
			started, ended, free := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				s.config = func(cfg *runner.Config) { cfg.Attended = c.attended }
				s.tools.offered = append(s.tools.Ready(t.Context()), plan.Tool{Name: "test.run", Server: "workspace", Annotated: true, Trusted: true}, plan.Tool{Name: "unsent", Server: "k"})
				s.tools.call = func(ctx context.Context, call plan.ToolCall) (any, error) {
					started <- struct{}{}
					if call.Args["stays"] == nil {
						<-ctx.Done()
						close(ended)
						if call.Tool.Name == "unsent" {
							return nil, fmt.Errorf("%w: %w", &plan.ToolError{Message: "the server k did not start in time"}, ctx.Err())
						}
						return nil, ctx.Err()
					}
					select {
					case <-free:
						return "stayed", nil
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
			})
			s.Send(session.Execute{Plan: *planOf(t,
				`{"title":"Goes","tool":"`+c.tool+`","args":{}}`, `{"title":"Stays","tool":"look","args":{"stays":true}}`,
				`{"title":"After","tool":"look","args":{"stays":true},"depends_on":["2"]}`,
			)})
			run := untilRun(t, s)
			<-started
			<-started
			s.Send(session.Cancel{Run: run, Step: "1"})
			<-ended // its tool was canceled
			for e := range s.Events() {
				s.seen = append(s.seen, e)
				if e.Data.Kind() == c.want {
					break
				}
			}
			close(free) // the other step continues
			for until[event.StepCompleted](t, s).Index != "2" {
			}
			if c.attended {
				if c.want == event.KindStepInDoubt {
					s.Send(session.ResolveDoubt{Run: run, Step: "1", Decision: event.DoubtAbort})
				} else {
					s.Send(session.ResolveFailure{Run: run, Step: "1", Decision: event.FailureAbort})
				}
			}
			if reply := until[event.ChatReply](t, s); reply.Reason != c.reason {
				t.Errorf("%+v", reply)
			}
			s.shut()
			if called := s.tools.called(); len(called) != 2 {
				t.Errorf("called %v, want no new step before the decision", called)
			}
		})
	}
}

// The items that have not begun do not begin, whether others run or all wait for their gates.
func TestCancelOfStepStopsAllItsItems(t *testing.T) {
	for tool, want := range map[string][]string{"look": {"look"}, "change": nil} {
		t.Run(tool, func(t *testing.T) {
			k := newSavedJournals()
			started := make(chan struct{}, 3)
			s := k.session(t, policy.ApproveAsk, func(s *stage) {
				s.tools.call = func(ctx context.Context, call plan.ToolCall) (any, error) {
					started <- struct{}{}
					return hang(ctx, call)
				}
			})
			s.Send(session.Execute{Plan: *planOf(t, `{"title":"Each","tool":"`+tool+`","for_each":["a","b","c"],"at_once":1,"args":{"at":"${item}"}}`)})
			run := untilRun(t, s)
			if want == nil {
				for range 3 {
					until[event.GateRequested](t, s)
				}
			} else {
				<-started
			}
			s.Send(session.Cancel{Run: run, Step: "1"})
			for until[event.StepFailed](t, s).Index != "1" {
			}
			if reply := until[event.ChatReply](t, s); reply.Status != event.StatusCanceled || reply.Reason != event.ReasonInterrupted {
				t.Errorf("%+v", reply)
			}
			s.shut()
			if called := s.tools.called(); !slices.Equal(called, want) {
				t.Errorf("called %v, want %v", called, want)
			}
			k.allClosed(t)
		})
	}
}

// untilRun reads events up to the start of a run and returns its id.
func untilRun(t *testing.T, s *stage) string {
	t.Helper()
	until[event.RunStarted](t, s)
	return s.seen[len(s.seen)-1].Run
}

func TestCancelRefusesStepsNotRunning(t *testing.T) {
	s := open(t, policy.ApproveAsk, nil)
	s.Send(session.Execute{Plan: *planOf(t, changeStep)})
	run := untilRun(t, s)
	until[event.GateRequested](t, s)
	for _, c := range []session.Cancel{{Run: run, Step: "1"}, {Run: run, Step: "9"}, {Run: "r-9", Step: "1"}} {
		s.Send(c)
		if note := until[event.Note](t, s); string(note.Text) != "step "+c.Step+" is not running" {
			t.Errorf("%+v: %q", c, note.Text)
		}
	}
}
