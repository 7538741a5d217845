package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestAgentPlansWithItsToolsAndNoReview(t *testing.T) {
	step := plan.Step{Index: "5", Title: "Find the fault", ExpectedOutcome: "file and line"}
	b := prompt.AgentBrief(prompttest.Full(), step, prompt.Profile{Tools: []string{"fs.read"}})
	p := planning.NewPipeline(b)
	asked := play(t, p, []turn{{want: "analysis", reply: plantest.Analysis}, {want: "plan", reply: `["Look","Say"]`}})
	if p.Outcome().Kind != planning.OutcomePlanned {
		t.Errorf("got the outcome %+v", p.Outcome())
	}
	for _, m := range asked[0].Messages {
		if strings.Contains(m.Content, "fs.patch(") || strings.Contains(m.Content, "reads its way through code") || m.Content == "Hello" {
			t.Errorf("got the message\n%s", m.Content)
		}
	}
	if goal := "\n\nGoal: Find the fault\n\nIt is done when this holds: file and line"; !strings.HasSuffix(last(asked[0]), goal) {
		t.Errorf("got the request\n%s\nwant it to end with%s", last(asked[0]), goal)
	}
}
