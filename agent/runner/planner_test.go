package runner_test

import (
	"strings"
	"testing"

	"replan/agent/event"
	"replan/agent/policy"
	"replan/agent/runner"
	"replan/agent/session"
	"replan/planning/prompt"
)

// withPlanners gives a session models for planning.
func withPlanners(models prompt.Models) func(*stage) {
	return func(s *stage) {
		s.model.others = map[string]prompt.ModelInfo{
			"big":   {Name: "big", ContextWindow: 32768},
			"quick": {Name: "quick", ContextWindow: 4096},
		}
		s.model.replies[prompt.PurposeAnalysis] = `{"mode":"plan","complexity":"medium","reflect":true}`
		s.model.replies[prompt.PurposeReview] = "fine"
		s.model.replies[prompt.PurposePlan] = `{"title":"Two","steps":[{"title":"Look","tool":"nothing"}]}`
		s.model.replies[prompt.PurposeRepair] = twoSteps
		s.config = func(c *runner.Config) { c.Prompting.Models = models }
	}
}

func TestRequestsGoToTheModelOfTheirPurpose(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		models prompt.Models
		want   map[prompt.Purpose]string
	}{
		"without others the run's model serves all": {prompt.Models{}, map[prompt.Purpose]string{
			prompt.PurposeAnalysis: "m", prompt.PurposeReview: "m", prompt.PurposePlan: "m", prompt.PurposeRepair: "m", prompt.PurposeSynthesis: "m",
		}},
		"the planner serves all of planning": {prompt.Models{Planner: prompt.PlanModel{Name: "big"}}, map[prompt.Purpose]string{
			prompt.PurposeAnalysis: "big", prompt.PurposeReview: "big", prompt.PurposePlan: "big", prompt.PurposeRepair: "big", prompt.PurposeSynthesis: "m",
		}},
		"a phase takes its own before the planner's": {prompt.Models{Planner: prompt.PlanModel{Name: "big"}, Analysis: prompt.PlanModel{Name: "quick"}, Review: prompt.PlanModel{Name: "m"}}, map[prompt.Purpose]string{
			prompt.PurposeAnalysis: "quick", prompt.PurposeReview: "m", prompt.PurposePlan: "big", prompt.PurposeRepair: "big", prompt.PurposeSynthesis: "m",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, policy.ApproveAll, withPlanners(tc.models))
			started := s.run(t, "do it")
			for purpose, want := range tc.want {
				requests := s.model.requests(purpose)
				if len(requests) != 1 || requests[0].Model != want {
					t.Errorf("%s: requests %+v, want one to %s", purpose, requests, want)
				}
			}
			for _, m := range []prompt.PlanModel{started.Prompting.Models.Planner, started.Prompting.Models.Analysis} {
				if window := map[string]int{"": 0, "big": 32768, "quick": 4096}[m.Name]; m.ContextWindow != window {
					t.Errorf("the run has %+v, want a window of %d", m, window)
				}
			}
		})
	}
}

func TestPlannerModelThatIsMissingIsNamed(t *testing.T) {
	t.Parallel()
	s := open(t, policy.ApproveAll, withPlanners(prompt.Models{Planner: prompt.PlanModel{Name: "gone"}}))
	s.Send(session.Submit{Text: "do it"})
	reply := until[event.ChatReply](t, s)
	if reply.Reason != event.ReasonNoModel || !strings.Contains(string(reply.Text), "gone") {
		t.Errorf("got %+v, want that the model is missing", reply)
	}
}
