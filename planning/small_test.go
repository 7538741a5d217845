package planning_test

import (
	"slices"
	"testing"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

func TestSmallModelPlansAtOnce(t *testing.T) {
	t.Parallel()
	const once = "1 the model plans at once, in short form, 2 there is no analysis to review"
	tiny, large := prompt.PlanModel{Name: "tiny", Small: true}, prompt.PlanModel{Name: "large"}
	const changing = `{"title":"Rename it","steps":[{"index":"1","title":"Change a.go","tool":"fs.patch","args":{"path":"a.go","edits":[{"old":"authenticate","new":"verify_user"}]},"depends_on":[]}]}`
	planOnly := []prompt.Purpose{prompt.PurposePlan}
	all := []prompt.Purpose{prompt.PurposeAnalysis, prompt.PurposeReview, prompt.PurposePlan}
	for name, tt := range map[string]struct {
		goal      string // "" for one about the project
		prompting prompt.Prompting
		want      []prompt.Purpose
		kind      planning.OutcomeKind
		skipped   string // phases with reasons
	}{
		"without an analysis": {prompting: prompt.Prompting{Small: true}, want: planOnly, kind: planning.OutcomePlanned, skipped: once},
		"a small planner counts, not the run's model": {
			prompting: prompt.Prompting{Models: prompt.Models{Planner: tiny}}, want: planOnly, kind: planning.OutcomePlanned, skipped: once,
		},
		"a large planner of a small model analyses and reviews": {
			prompting: prompt.Prompting{Small: true, Models: prompt.Models{Planner: large}}, want: all, kind: planning.OutcomePlanned,
		},
		"a small model of the analysis alone analyses": {prompting: prompt.Prompting{Models: prompt.Models{Analysis: tiny}}, want: all, kind: planning.OutcomePlanned},
		"a goal that needs no look is answered directly": {
			goal: "What is the difference between TCP and UDP?", prompting: prompt.Prompting{Small: true}, kind: planning.OutcomeDirect,
			skipped: "1 the goal needs no look at the project, 2 the goal needs no look at the project, 3 the goal needs no look at the project",
		},
		"a plan that the user wants is made for any goal": {
			goal: "Hello!", prompting: prompt.Prompting{Small: true, ForcePlan: true}, want: planOnly, kind: planning.OutcomePlanned, skipped: once,
		},
		"a large model decides itself": {goal: "Hello!", want: all, kind: planning.OutcomePlanned},
		"without phase 3 a small model analyses": {
			prompting: prompt.Prompting{Small: true, SkipPlan: true}, want: []prompt.Purpose{prompt.PurposeAnalysis}, kind: planning.OutcomeAnalyzed,
			skipped: "2 there will be no plan to review, 3 switched off",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := prompttest.Brief()
			b.Prompting = tt.prompting
			if tt.goal != "" {
				b.Goal = tt.goal
			}
			p := planning.NewPipeline(b)
			replies := map[prompt.Purpose]string{prompt.PurposeAnalysis: plantest.Analysis, prompt.PurposeReview: plantest.Review, prompt.PurposePlan: changing}
			var asked []prompt.Purpose
			for request, more := p.Next(); more; request, more = p.Next() {
				if (request.Format == nil) != (request.Purpose == prompt.PurposeReview) {
					t.Errorf("the format of %s is %.40s", request.Purpose, request.Format)
				}
				asked = append(asked, request.Purpose)
				p.Absorb(reply.Reply{Text: replies[request.Purpose]})
			}
			if !slices.Equal(asked, tt.want) || p.Outcome().Kind != tt.kind {
				t.Errorf("asked for %v and ended %s, want %v and %s", asked, p.Outcome().Kind, tt.want, tt.kind)
			}
			if got := skipReasons(p); got != tt.skipped {
				t.Errorf("skipped %q, want %q", got, tt.skipped)
			}
		})
	}
}
