package runner_test

import (
	"slices"
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

func TestWindowOfThePlannerGrows(t *testing.T) {
	t.Parallel()
	server := &grower{most: 65536}
	s := open(t, policy.ApproveAll, func(s *stage) {
		withPlanners(prompt.Models{Planner: prompt.PlanModel{Name: "big"}})(s)
		s.model.info.ContextWindow, server.model = 16384, s.model
		s.config = func(c *runner.Config) {
			c.Model, c.Prompting.Instructions, c.Prompting.Models.Planner.Name = server, strings.Repeat("note ", 16000), "big"
		}
	})
	started := s.run(t, "do it")
	if got := started.Prompting; got.Models.Planner.ContextWindow != 65536 || got.ContextWindow != 16384 || !slices.Equal(server.names, []string{"big"}) {
		t.Errorf("the planner has %d tokens, the run's model %d; asked for %v", got.Models.Planner.ContextWindow, got.ContextWindow, server.names)
	}
}

func TestResumeKeepsThePlannerModel(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		now       string // the planner of the session that resumes
		gone      bool   // the first planner is
		want      string
		wantError string
	}{
		"it is there":                  {want: "big"},
		"another is chosen meanwhile":  {now: "quick", want: "big"},
		"it is gone":                   {gone: true, wantError: "there is no model big: pull it"},
		"it is gone, another is there": {gone: true, now: "quick", want: "quick"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newSavedJournals()
			first := k.session(t, policy.ApproveAll, func(s *stage) {
				withPlanners(prompt.Models{Planner: prompt.PlanModel{Name: "big"}})(s)
				s.model.hold = map[prompt.Purpose]chan struct{}{prompt.PurposeReview: make(chan struct{})}
			})
			first.Send(session.Submit{Text: "do it"})
			id := untilRun(t, first)
			until[event.PhaseCompleted](t, first)
			first.shut()
			s := k.session(t, policy.ApproveAll, func(s *stage) {
				withPlanners(prompt.Models{Planner: prompt.PlanModel{Name: tc.now}})(s)
				if tc.gone {
					delete(s.model.others, "big")
				}
			})
			s.Send(session.Resume{Run: id})
			answer := until[event.ChatReply](t, s)
			if tc.wantError != "" {
				if !strings.HasPrefix(string(answer.Text), tc.wantError) {
					t.Errorf("got %q, want %q", answer.Text, tc.wantError)
				}
				return
			}
			if requests := s.model.requests(prompt.PurposePlan); len(requests) != 1 || requests[0].Model != tc.want {
				t.Errorf("requests %+v, want one to %s", requests, tc.want)
			}
		})
	}
}
