package planning_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

const notedPlan = `{"title":"Rename it","steps":[
	{"index":"1","title":"Find uses","tool":"fs.search","args":{"pattern":"authenticate"},"depends_on":[],"expected_outcome":"files and lines"},
	{"index":"2","title":"%s","tool":"%s","args":{},"depends_on":["1"],"expected_outcome":"all pass"}],
	"milestones":[{"title":"Understand","steps":["1"]},{"title":"Verify","steps":["2","9"]}],"risks":["callers outside this repository"]}`

// notes lists the display parts of a plan.
func notes(p plan.Plan) string {
	var parts []string
	for _, m := range p.Milestones {
		parts = append(parts, fmt.Sprintf("%s%v", m.Title, m.Steps))
	}
	return strings.Join(append(parts, strings.Join(p.Risks, ";"), string(p.DoneWhen)), " | ")
}

func TestPlanKeepsMilestonesRisksAndDoneWhen(t *testing.T) {
	const want = "Understand[1] | Verify[2] | callers outside this repository | tests pass"
	noted := fmt.Sprintf(notedPlan, "Run the tests", "test.run")
	noReview := strings.Replace(plantest.Analysis, `"reflect":true`, `"reflect":false`, 1)
	words := "**Task:** Rename it\n**Goal:** tests pass\n\n**Milestones:**\n- Understand\n- Verify\n\n**Steps:**\n1. Find uses → SELF\n2. Run the tests → TOOL: test.run\n\n**Risks:** callers outside this repository"
	for name, c := range map[string]struct {
		replies []string
		want    string
	}{
		"first reply":                      {[]string{noReview, noted}, want},
		"repair without them":              {[]string{noReview, fmt.Sprintf(notedPlan, "Run the tests", "no.tool"), plantest.FullPlan}, want},
		"prose":                            {[]string{noReview, words}, "Understand[] | Verify[] | callers outside this repository | tests pass"},
		"simple plan with done_when alone": {[]string{strings.Replace(strings.Replace(noReview, "medium", "simple", 1), `"reflect"`, `"steps":[{"title":"Run the tests","tool":"test.run","args":{}}],"reflect"`, 1)}, " | tests pass"},
	} {
		t.Run(name, func(t *testing.T) {
			p := planning.NewPipeline(prompttest.Brief())
			for _, r := range c.replies {
				p.Absorb(reply.Reply{Text: r})
			}
			proposed := p.Outcome().Plan
			if got := notes(proposed); got != c.want || string(proposed.Goal) != prompttest.Brief().Goal {
				t.Errorf("%s: got %q for the goal %q, want %q", p.Outcome().Reason, got, proposed.Goal, c.want)
			}
			data, err := plan.EncodeJSON(proposed)
			if err != nil {
				t.Fatal(err)
			}
			again, faults := plan.DecodePlan(data)
			if got := notes(again); len(faults) > 0 || got != c.want {
				t.Errorf("after reading again: got %q (%v)", got, faults)
			}
		})
	}
}

func TestReplanKeepsMilestonesOfExistingSteps(t *testing.T) {
	s := prompttest.Situation()
	s.Plan.DoneWhen, s.Plan.Risks = "tests pass", []string{"flaky tests"}
	s.Plan.Milestones = []plan.Milestone{{Title: "Look", Steps: []string{"1", "2"}}, {Title: "Change", Steps: []string{"3"}}, {Title: "Verify", Steps: []string{"4"}}}
	p := planning.NewReplanner(prompttest.Brief(), s)
	p.Absorb(reply.Reply{Text: `{"title":"Fix","steps":[{"index":"4","title":"Test again","tool":"test.run","args":{"target":"./a"},"depends_on":["2"],"expected_outcome":"all pass"}]}`})
	if got := notes(p.Outcome().Plan); got != "Look[1 2] | Verify[4] | flaky tests | tests pass" {
		t.Errorf("%s: got %q", p.Outcome().Reason, got)
	}
}
