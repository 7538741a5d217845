package planning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"replan/planning"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/prompttest"
)

func TestReplannerFollowsReplies(t *testing.T) {
	tooMany := `{"title":"Much","steps":[{"index":"5","title":"a","executor":"self"},{"index":"6","title":"b","executor":"self"},{"index":"7","title":"c","executor":"self"},{"index":"8","title":"d","executor":"self"},{"index":"9","title":"e","executor":"self"}]}`
	tests := []struct {
		name   string
		change func(*prompt.Brief, *prompt.Situation)
		turns  []turn
		kind   planning.OutcomeKind
		steps  string
		diff   string
		reason string
	}{
		{name: "new plan merges with finished steps", turns: []turn{{want: "replan", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "index of a finished step is replaced", turns: []turn{{want: "replan", reply: `{"title":"t","steps":[{"index":"1","title":"Sum up","executor":"self","depends_on":[]}]}`}}, kind: "planned", steps: "1 2 5", diff: "- 3 4 + 5 ~"},
		{name: "no steps gives up with the model's reason", turns: []turn{{want: "replan", reply: `{"title":"","steps":[],"reason":"a.go is generated"}`}}, kind: "gave_up", reason: "a.go is generated"},
		{name: "no steps and no reason gives up", turns: []turn{{want: "replan", reply: `[]`}}, kind: "gave_up", reason: "no way on"},
		{name: "repeated steps are refused", turns: []turn{{want: "replan", reply: plantest.SameTail}}, kind: "refused", reason: "repeats"},
		{name: "invalid plan is repaired", turns: []turn{{want: "replan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "repair gives up", turns: []turn{{want: "replan", reply: plantest.WrongPlan}, {want: "repair", reply: `{"steps":[]}`}}, kind: "gave_up"},
		{name: "repair is refused", turns: []turn{{want: "replan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.SameTail}}, kind: "refused"},
		{name: "plan stays invalid", turns: []turn{{want: "replan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.WrongPlan}}, kind: "failed", reason: "cannot be used"},
		{name: "no reply to the replan", turns: []turn{{want: "replan", fail: "timed out"}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "no reply at all", turns: []turn{{want: "replan", fail: "timed out"}, {want: "repair", fail: "timed out"}, {want: "repair", fail: "timed out"}}, kind: "failed", reason: "no plan, after 2 repairs: the model returned no repaired plan: timed out"},
		{name: "no reply to the first repair", turns: []turn{{want: "replan", reply: "?"}, {want: "repair", fail: "timed out"}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "too many steps are repaired", turns: []turn{{want: "replan", reply: tooMany}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "limit of the brief holds", change: func(b *prompt.Brief, s *prompt.Situation) { b.MaxSteps, s.StepsLeft = 2, -1 }, turns: []turn{{want: "replan", reply: plantest.NewTail}, {want: "repair", reply: plantest.NewTail}, {want: "repair", reply: plantest.NewTail}}, kind: "failed", reason: "at most 2 steps"},
		{name: "no step limit", change: func(b *prompt.Brief, s *prompt.Situation) { b.MaxSteps, s.StepsLeft = 0, -1 }, turns: []turn{{want: "replan", reply: tooMany}}, kind: "planned", steps: "1 2 5 6 7 8 9", diff: "- 3 4 + 5 6 7 8 9 ~"},
		{name: "no steps left", change: func(_ *prompt.Brief, s *prompt.Situation) { s.StepsLeft = 0 }, kind: "failed", reason: "max_steps"},
		{name: "only finished steps are repaired", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"1","title":"Read","tool":"fs.read","args":{"path":"a.go"},"result_variable":"source"}]}`}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "field of a finished step's result is known", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"5","title":"Read its twin","tool":"fs.read","args":{"path":"${source.twin}"},"depends_on":["1"]}]}`}, {want: "repair", reply: plantest.NewTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "index 0 is kept", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"0","title":"Sum up","executor":"self","depends_on":["1"]}]}`}}, kind: "planned", steps: "1 2 0", diff: "- 3 4 + 0 ~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, s := prompttest.Brief(), prompttest.Situation()
			if tt.change != nil {
				tt.change(&b, &s)
			}
			p := planning.NewReplanner(b, s)
			play(t, p, tt.turns)
			out := p.Outcome()
			if out.Kind != tt.kind || indices(out.Plan.Steps) != tt.steps || !strings.Contains(out.Reason, tt.reason) {
				t.Errorf("ended %s with steps %q (%s); want %s, %q (%s)", out.Kind, indices(out.Plan.Steps), out.Reason, tt.kind, tt.steps, tt.reason)
			}
			diff := strings.Join(strings.Fields(fmt.Sprint("- ", strings.Join(out.Diff.Removed, " "), " + ", strings.Join(out.Diff.Added, " "), " ~ ", strings.Join(out.Diff.Revised, " "))), " ")
			if tt.diff != "" && diff != tt.diff {
				t.Errorf("diff %q, want %q", diff, tt.diff)
			}
			if len(p.Skipped()) != 0 {
				t.Errorf("a replan has no phases, but skipped %v", p.Skipped())
			}
		})
	}
}

func TestReplanKeepsGateAndTimeout(t *testing.T) {
	p := planning.NewReplanner(prompttest.Brief(), prompttest.Situation())
	play(t, p, []turn{{want: "replan", reply: plantest.NewTail}})
	step, _ := p.Outcome().Plan.Step("3")
	if !step.Gate || step.Timeout != time.Minute {
		t.Errorf("step 3 lost its gate or its timeout: gate %v, timeout %v", step.Gate, step.Timeout)
	}
	if got := p.Outcome().Plan; got.Goal != "Make the tests pass" || got.ID != "fix" {
		t.Errorf("the plan changed: id %q, goal %q", got.ID, got.Goal)
	}
}

func TestReplanRequestNamesFailedFinishedAndRemainingSteps(t *testing.T) {
	p := planning.NewReplanner(prompttest.Brief(), prompttest.Situation())
	asked := play(t, p, []turn{{want: "replan", reply: plantest.WrongPlan}, {want: "repair", reply: plantest.NewTail}})
	for _, req := range asked {
		text := last(req)
		for _, want := range []string{
			"step 3, Patch (fs.patch)", "x was not found in a.go", "result ${source}", "package a", `{"passed":false}`,
			`"index":"4"`, "at most 4 steps",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %q:\n%s", req.Purpose, want, text)
			}
		}
	}
	if !strings.Contains(last(asked[0]), "2 further plans") {
		t.Error("the request lacks the number of remaining replans")
	}
}
