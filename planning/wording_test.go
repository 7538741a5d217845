package planning_test

import (
	"slices"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

func TestPlannedOutcomeHasWarnings(t *testing.T) {
	vague := `{"title":"t","steps":[{"index":"1","title":"Fix everything","executor":"self"},{"index":"2","title":"Patch","tool":"fs.patch","args":{"path":"a.go","edits":[{"old":"x","new":"a\nb\nc\nd"}]}}]}`
	b := prompttest.Brief()
	b.Prompting.SkipAnalysis = true
	p := planning.NewPipeline(b)
	play(t, p, []turn{{want: "plan", reply: vague}})
	if got := faultsAt(p.Outcome().Warnings); !slices.Equal(got, []string{"vague_step /steps/0/title", "content_in_args /steps/1/args/edits/0/new"}) {
		t.Errorf("got the warnings %q", got)
	}
	p = planning.NewPipeline(b)
	play(t, p, []turn{{want: "plan", reply: plantest.FullPlan}})
	if got := p.Outcome().Warnings; len(got) > 0 {
		t.Errorf("a sound plan has the warnings %v", got)
	}
}

func TestNewPlanGetsOnlyNewWarnings(t *testing.T) {
	s := prompttest.Situation()
	s.Plan.Steps = slices.Clone(s.Plan.Steps)
	s.Plan.Steps[0].Title = "Do it"
	r := planning.NewReplanner(prompttest.Brief(), s)
	r.Absorb(reply.Reply{Text: `{"title":"t","steps":[{"index":"9","title":"Handle the rest","executor":"self","depends_on":[],"expected_outcome":"three points"}]}`})
	out := r.Outcome()
	if out.Kind != planning.OutcomePlanned || len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0].Message, `"Handle the rest"`) {
		t.Errorf("ended %s (%s) with the warnings %v", out.Kind, out.Reason, out.Warnings)
	}
}

// faultsAt lists faults as "code path" for comparison.
func faultsAt(faults []plan.Fault) []string {
	var list []string
	for _, f := range faults {
		list = append(list, f.Code+" "+f.Path)
	}
	return list
}
