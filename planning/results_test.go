package planning_test

import (
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompttest"
	"replan/planning/reply"
)

func TestListInReplanFollowsFinishedSteps(t *testing.T) {
	for _, r := range []string{`["Read the error","Fix it"]`, "1. Read the error\n2. Fix it"} {
		p := planning.NewReplanner(prompttest.Brief(), prompttest.Situation())
		p.Absorb(reply.Reply{Text: r})
		out := p.Outcome()
		if out.Kind != planning.OutcomePlanned {
			t.Fatalf("%s: ended %s: %s", r, out.Kind, out.Reason)
		}
		tail := out.Plan.Steps[2:]
		if got := strings.Join(tail[0].DependsOn, " "); len(tail) != 2 || got != "1 2" || len(tail[1].DependsOn) != 1 || tail[1].DependsOn[0] != tail[0].Index {
			t.Errorf("%s: the new steps are\n%s", r, plantest.Shape(tail))
		}
	}
}

func TestUnusableListItemsGetWarning(t *testing.T) {
	for _, r := range []string{`["Read the code",5,{"zzz":1},"Report what it does"]`, `{"steps":["Read the code",5,null,"Report what it does"]}`} {
		b := prompttest.Brief()
		b.Prompting.SkipAnalysis = true
		p := planning.NewPipeline(b)
		p.Absorb(reply.Reply{Text: r})
		out := p.Outcome()
		if out.Kind != planning.OutcomePlanned || plantest.Shape(out.Plan.Steps) != "1 self <> Read the code\n2 self <1> Report what it does" {
			t.Errorf("%s: %s with\n%s", r, out.Kind, plantest.Shape(out.Plan.Steps))
		}
		if len(out.Warnings) == 0 || out.Warnings[0].Code != plan.CodeUnusableItem || !strings.HasPrefix(out.Warnings[0].Message, "2 items of the model's list of steps left out, being no step: 5, ") {
			t.Errorf("%s: got the warnings %v", r, out.Warnings)
		}
		var stream reply.StepStream
		if got := plantest.Shape(stream.Feed(r)); got != plantest.Shape(out.Plan.Steps) {
			t.Errorf("%s: streamed\n%s", r, got)
		}
	}
}
