package runner_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// jumping is a clock that is set forward and back while a run is under way.
type jumping struct{ by atomic.Int64 }

func (c *jumping) now() time.Time { return time.Now().Round(0).Add(time.Duration(c.by.Load())) }

// openJumping opens a session by a clock that each call of a tool sets by the next of
// the jumps. The first call fails and is tried again.
func openJumping(t *testing.T, jumps ...time.Duration) *stage {
	clock := &jumping{}
	return open(t, policy.ApproveAll, func(s *stage) {
		s.model.replies[prompt.PurposePlan] = `{"title":"Two","steps":[{"title":"Look","tool":"look","args":{},"retries":1},{"title":"Change","tool":"change","args":{},"depends_on":["1"]}]}`
		s.config = func(c *runner.Config) { c.Now = clock.now }
		calls := 0
		s.tools.call = func(context.Context, plan.ToolCall) (any, error) {
			clock.by.Add(int64(jumps[calls%len(jumps)]))
			if calls++; calls == 1 {
				return nil, &plan.ToolError{Tool: "look", Message: "not yet"}
			}
			return "seen", nil
		}
	})
}

func TestRetryComesAfterItsPauseThoughTheClockIsSetBack(t *testing.T) {
	for name, jump := range map[string]time.Duration{"back": -5 * time.Hour, "ahead": 5 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openJumping(t, jump, 0)
			s.Send(session.Submit{Text: "do it"})
			until[event.StepRetry](t, s)
			if again := until[event.StepStarted](t, s); again.Index != "1" || again.Attempt != 2 {
				t.Errorf("got attempt %d of step %s", again.Attempt, again.Index)
			}
		})
	}
}

func TestNoTimeOfARunIsNegativeThoughTheClockJumps(t *testing.T) {
	s := openJumping(t, -5*time.Hour, 9*time.Hour, -9*time.Hour)
	s.Send(session.Submit{Text: "do it"})
	result := until[event.RunCompleted](t, s).Result
	if result.Reason != event.ReasonGoalMet {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
	if result.DurationMS < 0 {
		t.Errorf("the run took %d ms", result.DurationMS)
	}
	before := map[string]time.Time{}
	for _, e := range s.seen {
		if e.Run == s.ID() {
			continue // of the conversation, which has no durations
		}
		if e.Time.Before(before[e.Run]) {
			t.Errorf("%s is before the event before it", e.Data.Kind())
		}
		before[e.Run] = e.Time
		ms := int64(0)
		switch d := e.Data.(type) {
		case event.StepCompleted:
			ms = d.MS
		case event.StepFailed:
			ms = d.MS
		case event.ModelReplied:
			ms = d.Reply.MS
		}
		if ms < 0 {
			t.Errorf("%s took %d ms", e.Data.Kind(), ms)
		}
	}
}
