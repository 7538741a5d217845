package runner_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// TestWaitForOtherCallsIsNoTimeOfACall lets a call wait for others for longer than its
// limit, and then take until its limit.
func TestWaitForOtherCallsIsNoTimeOfACall(t *testing.T) {
	const limit = 200 * time.Millisecond // a busy machine needs some of it before the wait begins
	for name, c := range map[string]struct {
		plan    string
		trusted bool
		want    func(t *testing.T, s *stage) string
	}{
		"of a built-in tool": {`{"title":"One","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"abort"}]}`, true, failedStep},
		"of a server":        {`{"title":"One","steps":[{"title":"Look","tool":"look","args":{},"on_failure":"abort"}]}`, false, failedStep},
		"of a check": {`{"title":"One","steps":[{"title":"Say","executor":"self","check":[{"tool":"look","args":{},"expect":"result == 1"}]}]}`, true, func(t *testing.T, s *stage) string {
			return string(until[event.CheckCompleted](t, s).Reason)
		}},
		"of a check at the end": {`{"title":"One","steps":[{"title":"Say","executor":"self"}],"acceptance":[{"tool":"look","args":{},"expect":"result == 1"}]}`, true, func(t *testing.T, s *stage) string {
			return string(until[event.CheckCompleted](t, s).Reason)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cut := make(chan bool, 10)
			s := open(t, policy.ApproveAll, func(s *stage) {
				s.model.replies[prompt.PurposePlan], s.model.replies[prompt.PurposeStep] = c.plan, "said"
				s.limits.StepTimeoutMS = limit.Milliseconds()
				s.tools.offered = s.tools.Ready(t.Context())
				s.tools.offered[0].Trusted = c.trusted
				s.tools.call = func(ctx context.Context, _ plan.ToolCall) (any, error) {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				s.config = func(cfg *runner.Config) {
					cfg.Admit = func(ctx context.Context, _ plan.Tool) (func(), error) {
						select {
						case <-ctx.Done():
							cut <- true
						case <-time.After(2 * limit):
							cut <- false
						}
						return func() {}, nil
					}
				}
			})
			s.Send(session.Submit{Text: "do it"})
			if why := c.want(t, s); !strings.Contains(why, "it took longer than its limit of 200ms") {
				t.Errorf("the call ended since %s", why)
			}
			if <-cut {
				t.Error("the wait was cut short")
			}
		})
	}
}

func failedStep(t *testing.T, s *stage) string { return string(until[event.StepFailed](t, s).Error) }
