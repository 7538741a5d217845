package planning_test

import (
	"slices"
	"testing"

	"replan/planning"
	"replan/planning/prompt"
	"replan/planning/reply"
)

func TestSmallModelThinksInProseAndIsReviewedByRule(t *testing.T) {
	t.Parallel()
	const prose = "Search for authenticate with fs.search, then run the tests with test.run."
	small := prompt.PlanModel{Name: "tiny", Small: true}
	tests := map[string]struct {
		prompting prompt.Prompting
		analysis  string
		format    bool             // of the analysis
		want      []prompt.Purpose // after the analysis
		skipped   string           // why there is no review
	}{
		"prose leads to the plan": {
			prompting: prompt.Prompting{Small: true}, analysis: prose, want: []prompt.Purpose{prompt.PurposePlan},
			skipped: "a model below 4B parameters reviews nothing: its plan is checked by rule",
		},
		"JSON that asks for a review gets none": {
			prompting: prompt.Prompting{Small: true}, analysis: complexAnalysis, want: []prompt.Purpose{prompt.PurposePlan},
			skipped: "a model below 4B parameters reviews nothing: its plan is checked by rule",
		},
		"a small planner counts, not the run's model": {
			prompting: prompt.Prompting{Models: prompt.Models{Planner: small}}, analysis: prose, want: []prompt.Purpose{prompt.PurposePlan},
			skipped: "a model below 4B parameters reviews nothing: its plan is checked by rule",
		},
		"a large planner of a small model reviews": {
			prompting: prompt.Prompting{Small: true, Models: prompt.Models{Planner: prompt.PlanModel{Name: "large"}}}, analysis: complexAnalysis, format: true,
			want: []prompt.Purpose{prompt.PurposeReview, prompt.PurposePlan},
		},
		"a small model of the analysis alone": {
			prompting: prompt.Prompting{Models: prompt.Models{Analysis: small}}, analysis: complexAnalysis,
			want: []prompt.Purpose{prompt.PurposeReview, prompt.PurposePlan},
		},
		"one word answers without a plan": {
			prompting: prompt.Prompting{Small: true}, analysis: "DIRECT.", skipped: "the goal can be answered directly",
		},
		"a replaced prompt keeps its format": {
			prompting: prompt.Prompting{Small: true, Prompts: map[string]string{"analysis": "Think in JSON."}}, analysis: complexAnalysis, format: true,
			want: []prompt.Purpose{prompt.PurposePlan}, skipped: "a model below 4B parameters reviews nothing: its plan is checked by rule",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := brief()
			b.Prompting = tt.prompting
			p := planning.NewPipeline(b)
			replies := map[prompt.Purpose]string{prompt.PurposeAnalysis: tt.analysis, prompt.PurposeReview: review, prompt.PurposePlan: fullPlan}
			var asked []prompt.Purpose
			for request, more := p.Next(); more; request, more = p.Next() {
				format := tt.format || request.Purpose == prompt.PurposePlan
				if (request.Format != nil) != format && request.Purpose != prompt.PurposeReview {
					t.Errorf("the format of %s is %.40s", request.Purpose, request.Format)
				}
				asked = append(asked, request.Purpose)
				p.Absorb(reply.Reply{Text: replies[request.Purpose]})
			}
			if want := append([]prompt.Purpose{prompt.PurposeAnalysis}, tt.want...); !slices.Equal(asked, want) {
				t.Errorf("asked for %v, want %v", asked, want)
			}
			reason := ""
			for _, s := range p.Skipped() {
				if s.Phase == 2 {
					reason = s.Reason
				}
			}
			if reason != tt.skipped {
				t.Errorf("the review is skipped because %q, want %q", reason, tt.skipped)
			}
		})
	}
}
