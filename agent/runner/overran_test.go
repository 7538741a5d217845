package runner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// TestTimeLimitOfACallIsToldAlike lets either side notice first that a call takes too
// long: the runner, or the tools, which know what the server wrote meanwhile.
func TestTimeLimitOfACallIsToldAlike(t *testing.T) {
	const meanwhile = "meanwhile it wrote 1 line"
	never := time.Hour
	for name, c := range map[string]struct {
		limit time.Duration
		err   plan.TimeoutError
		want  string
	}{
		"the runner notices":       {50 * time.Millisecond, plan.TimeoutError{Message: "late", OfCall: true, Meanwhile: meanwhile}, "it took longer than its limit of 50ms, "},
		"the tools notice":         {never, plan.TimeoutError{Message: "late", OfCall: true, Meanwhile: meanwhile}, "it took longer than its limit of 1h0m0s, "},
		"the server wrote nothing": {never, plan.TimeoutError{Message: "late", OfCall: true}, "it took longer than its limit of 1h0m0s, "},
		"a limit of the server":    {never, plan.TimeoutError{Message: "late", Meanwhile: meanwhile}, "late; "},
	} {
		for where, script := range map[string]string{
			"step":  `{"title":"One","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"abort"}]}`,
			"check": `{"title":"One","steps":[{"title":"Say","executor":"self","check":[{"tool":"look","args":{},"expect":"result == 1"}]}]}`,
		} {
			t.Run(name+" in a "+where, func(t *testing.T) {
				t.Parallel()
				s := open(t, policy.ApproveAll, func(s *stage) {
					s.model.replies[prompt.PurposePlan], s.model.replies[prompt.PurposeStep] = script, "said"
					s.limits.StepTimeoutMS = c.limit.Milliseconds()
					s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
						if c.limit < never {
							<-ctx.Done()
						}
						return nil, &c.err
					}
				})
				s.Send(session.Submit{Text: "do it"})
				why := ""
				if where == "step" {
					failed := until[event.StepFailed](t, s)
					if why = string(failed.Error); failed.Failure != event.FailureTimeout {
						t.Errorf("got the failure %s", failed.Failure)
					}
				} else {
					why = string(until[event.CheckCompleted](t, s).Reason)
				}
				if !strings.Contains(why, c.want) || !strings.HasSuffix(why, c.err.Meanwhile) {
					t.Errorf("got %q", why)
				}
			})
		}
	}
}
