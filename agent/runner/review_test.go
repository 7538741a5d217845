package runner_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"replan/agent"
	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
)

// reviewing makes a session hold its plans for a user who reviews them.
func reviewing(s *stage) {
	s.config = func(c *runner.Config) { c.Review, c.Reviewer, c.Attended = true, true, true }
}

// follow reads events until a plan of the run is held, and returns its review.
func follow(t *testing.T, s *stage, run *agent.Run) *agent.Review {
	t.Helper()
	for e := range s.Events() {
		s.seen = append(s.seen, e)
		if e.Run == s.ID() {
			continue
		}
		if err := run.Apply(e); err != nil {
			t.Fatal(err)
		}
		if run.AwaitsReview() {
			return run.Review()
		}
		if run.Result != nil {
			t.Fatalf("the run ended, %s: %s", run.Result.Reason, run.Result.Error)
		}
	}
	t.Fatal("the session ended")
	return nil
}

func TestReviewedPlanRunsWithEdits(t *testing.T) {
	s := open(t, policy.ApproveAsk, reviewing)
	s.Send(session.Submit{Text: "do it"})
	v := follow(t, s, &agent.Run{})
	if called := s.tools.called(); len(called) > 0 {
		t.Fatalf("called %v before the review", called)
	}
	step, _ := v.Plan().Step("2")
	step.Title, step.Args = "Change another", map[string]any{"path": "b"}
	if err := v.Edit(step); err != nil {
		t.Fatal(err)
	}
	if n := v.ApproveAll(); n != 1 {
		t.Fatalf("approved %d gates, want 1", n)
	}
	s.Send(session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRun)})
	reviewed := until[event.PlanReviewed](t, s)
	if !slices.Equal(reviewed.Edited, []string{"2"}) || reviewed.By != "user" || len(reviewed.Approved) != 1 || reviewed.Approved[0].Tool != "w:change" {
		t.Errorf("got the event %+v", reviewed)
	}
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet || result.Plan.Steps[1].Title != "Change another" {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
	for _, e := range s.seen {
		if e.Data.Kind() == event.KindGateRequested {
			t.Error("the approved gate opened")
		}
	}
}

func TestInvalidReviewKeepsPlanWaiting(t *testing.T) {
	s := open(t, policy.ApproveAll, reviewing)
	s.Send(session.Submit{Text: "do it"})
	v := follow(t, s, &agent.Run{})
	plan := v.Plan()
	plan.Steps = slices.Clone(plan.Steps[1:])
	s.Send(session.Review{Run: v.Run, Answer: agent.ReviewAnswer{Revision: 1, Decision: event.ReviewRun, Plan: &plan}})
	if note := until[event.Note](t, s); !strings.Contains(string(note.Text), "still waits") || !strings.Contains(string(note.Text), "step 1, which does not exist") {
		t.Errorf("got the note %q", note.Text)
	}
	s.Send(session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRun)})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}

func TestRefusedPlanEndsRunAsDenied(t *testing.T) {
	s := open(t, policy.ApproveAll, reviewing)
	s.Send(session.Submit{Text: "do it"})
	v := follow(t, s, &agent.Run{})
	s.Send(session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRefuse)})
	reply := until[event.ChatReply](t, s)
	if reply.Reason != event.ReasonDenied || len(s.tools.called()) > 0 {
		t.Errorf("%s: %s", reply.Reason, reply.Text)
	}
}

func TestResumeHoldsStoppedReviewAgain(t *testing.T) {
	var past []event.Event
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) {
			c.Review, c.Reviewer = true, true
			storeOf(c).reopen = func(string) (runner.Journal, []event.Event, error) { return &memory{room: -1}, past, nil }
		}
	})
	s.Send(session.Execute{Plan: patching().Plan})
	v := follow(t, s, &agent.Run{})
	s.Send(session.Stop{})
	until[event.ChatReply](t, s)
	past = s.journals["run"].events
	s.Send(session.Hold{On: false})
	s.Send(session.Resume{Run: v.Run})
	until[session.Resuming](t, s)
	again := follow(t, s, &agent.Run{})
	if again == nil || len(s.tools.called()) > 0 {
		t.Fatalf("called %v", s.tools.called())
	}
	s.Send(session.Review{Run: v.Run, Answer: again.Answer(event.ReviewRun)})
	for reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonGoalMet; {
		t.Fatalf("%s: %s", reply.Reason, reply.Text)
	}
}

func TestHoldAppliesFromNextRun(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.Reviewer = true }
	})
	s.Send(session.Hold{On: true})
	status(t, s, func(st session.Status) bool { return st.Review })
	s.Send(session.Execute{Plan: patching().Plan})
	v := follow(t, s, &agent.Run{})
	s.Send(session.Review{Run: v.Run, Answer: v.Answer(event.ReviewRun)})
	until[event.ChatReply](t, s)
	s.Send(session.Hold{On: false})
	status(t, s, func(st session.Status) bool { return !st.Review })
	s.Send(session.Execute{Plan: patching().Plan})
	if started := until[event.RunStarted](t, s); started.Review {
		t.Error("the next run is held, too")
	}
	until[event.ChatReply](t, s)
}

func TestReviewWithoutReviewerIsDenied(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		s.config = func(c *runner.Config) { c.Review = true }
	})
	s.Send(session.Execute{Plan: patching().Plan})
	reply := until[event.ChatReply](t, s)
	if reply.Reason != event.ReasonDenied || !strings.Contains(string(reply.Text), "resume the run on a terminal") || len(s.tools.called()) > 0 {
		t.Errorf("%s: %s", reply.Reason, reply.Text)
	}
}

func TestJobReviewsPlan(t *testing.T) {
	p := plan.Plan{Title: "T", Steps: []plan.Step{
		{Index: "1", Title: "A", Executor: plan.ExecutorTool, Tool: "a", Args: map[string]any{}},
		{Index: "2", Title: "B", Executor: plan.ExecutorTool, Tool: "b", Args: map[string]any{}},
	}}
	tests := []struct {
		name   string
		review func(v *agent.Review) event.ReviewDecision
		called string
		reason event.Reason
	}{
		{"unchanged", func(*agent.Review) event.ReviewDecision { return event.ReviewRun }, "a b", event.ReasonGoalMet},
		{"step removed", func(v *agent.Review) event.ReviewDecision {
			if err := v.Remove("1", false); err != nil {
				t.Error(err)
			}
			return event.ReviewRun
		}, "b", event.ReasonGoalMet},
		{"refused", func(*agent.Review) event.ReviewDecision { return event.ReviewRefuse }, "", event.ReasonDenied},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			calls := make(chan string, 2)
			limits := event.DefaultLimits()
			limits.MaxConcurrency = 1
			result, err := runner.Run(t.Context(), runner.Job{
				Plan: &p, Limits: limits,
				Call: func(_ context.Context, c plan.ToolCall) (any, error) {
					calls <- c.Tool.Name
					return nil, nil
				},
				Review: func(_ context.Context, v *agent.Review) event.ReviewDecision { return test.review(v) },
			})
			close(calls)
			var called []string
			for name := range calls {
				called = append(called, name)
			}
			if err != nil || result.Reason != test.reason || strings.Join(called, " ") != test.called {
				t.Errorf("got %s after calls %v: %v", result.Reason, called, err)
			}
		})
	}
}
