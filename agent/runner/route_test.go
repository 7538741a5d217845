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

// wording enables routes over the workspace's operators.
func wording(s *stage) {
	also(func(cfg *runner.Config) {
		cfg.Routing.Planner = event.PlannerAuto
		cfg.Tools = operating{s.tools}
	})(s)
}

// operating offers two of the workspace's operators instead of the stage's tools.
type operating struct{ *tools }

func (operating) Ready(context.Context) plan.Catalog {
	return plan.Catalog{
		{Name: "fs.search", Server: "workspace", ReadOnly: true, Annotated: true, Trusted: true},
		{Name: "test.run", Server: "workspace", Annotated: true, Trusted: true},
	}
}

func (o operating) Call(ctx context.Context, c plan.ToolCall) (any, error) {
	seen, err := o.tools.Call(ctx, c)
	if c.Tool.Name == "test.run" {
		return map[string]any{"passed": true, "failed": []any{}}, err
	}
	return seen, err
}

func (o operating) ReadyFor(ctx context.Context, _ []string) (plan.Catalog, []string) {
	return o.Ready(ctx), nil
}

func TestRoutedGoalRunsWithoutModel(t *testing.T) {
	for goal, call := range map[string]string{"find AuthHandler": "fs.search", "run the tests": "test.run", "why does TestLogin fail?": ""} {
		t.Run(goal, func(t *testing.T) {
			s := open(t, policy.ApproveNone, both(wording, noModel))
			s.Send(session.Submit{Text: goal})
			if call == "" { // an operator of its chain is not available
				if reply := until[event.ChatReply](t, s); reply.Reason != event.ReasonNoModel || !strings.Contains(string(reply.Text), "not available: test.run, vcs.log") {
					t.Errorf("%s: %s", reply.Reason, reply.Text)
				}
				return
			}
			if matched := until[event.RouteMatched](t, s); !slices.Equal(matched.Chain, []string{call}) {
				t.Errorf("%+v", matched)
			}
			if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonGoalMet {
				t.Errorf("%s: %s", result.Reason, result.Error)
			}
			until[event.ChatReply](t, s)
			s.shut()
			if !slices.Equal(s.tools.calls, []string{call}) {
				t.Errorf("called %v", s.tools.calls)
			}
		})
	}
}

func TestRunUsesPlannerOfSession(t *testing.T) {
	for planner, phases := range map[event.PlannerKind]bool{event.PlannerAuto: false, event.PlannerPhases: true} {
		s := open(t, policy.ApproveAll, func(s *stage) {
			wording(s)
			also(func(cfg *runner.Config) { cfg.Routing.Planner = planner })(s)
		})
		s.Send(session.Submit{Text: "find AuthHandler"})
		started := until[event.RunStarted](t, s)
		if started.Routing.Planner != planner {
			t.Errorf("the run starts with %+v", started.Routing)
		}
		until[event.ChatReply](t, s)
		s.shut()
		if asked := len(s.model.requests(prompt.PurposePlan))+len(s.model.requests(prompt.PurposeAnalysis)) > 0; asked != phases {
			t.Errorf("planner %s: the model was asked for a plan: got %v", planner, asked)
		}
	}
}

func TestChatProfileIsNotRouted(t *testing.T) {
	s := open(t, policy.ApproveAll, func(s *stage) {
		wording(s)
		also(func(cfg *runner.Config) { cfg.Prompting.SkipAnalysis, cfg.Prompting.SkipPlan = true, true })(s)
		s.model.replies[prompt.PurposeChat] = "hello"
	})
	s.Send(session.Submit{Text: "find AuthHandler"})
	if result := until[event.RunCompleted](t, s); result.Reason != event.ReasonDirect {
		t.Errorf("%s: %s", result.Reason, result.Error)
	}
}
