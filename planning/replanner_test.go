package planning_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// situation returns a run whose third of four steps failed.
func situation() prompt.Situation {
	p := plan.Plan{ID: "fix", Title: "Fix", Goal: "Make the tests pass", Steps: []plan.Step{
		{Index: "1", Title: "Read", Executor: "tool", Tool: "fs.read", Args: map[string]any{"path": "a.go"}, ResultVariable: "source", ExpectedOutcome: "the source"},
		{Index: "2", Title: "Run tests", Executor: "tool", Tool: "test.run", Args: map[string]any{}, ExpectedOutcome: "the failure"},
		{Index: "3", Title: "Patch", Executor: "tool", Tool: "fs.patch", Args: map[string]any{"path": "a.go", "edits": []any{map[string]any{"old": "x", "new": "y"}}}, DependsOn: []string{"1", "2"}, Timeout: time.Minute, Gate: true},
		{Index: "4", Title: "Test again", Executor: "tool", Tool: "test.run", Args: map[string]any{"target": "./..."}, DependsOn: []string{"3"}, ExpectedOutcome: "all pass"},
	}}
	return prompt.Situation{
		Plan: p,
		History: []plan.HistoryItem{
			{Index: "1", Title: "Read", Tool: "fs.read", Status: plan.ItemCompleted, Attempt: 1, Result: "package a", ExpectedOutcome: "the source"},
			{Index: "2", Title: "Run tests", Tool: "test.run", Status: plan.ItemCompleted, Attempt: 1, Result: map[string]any{"passed": false}},
			{Index: "3", Title: "Patch", Tool: "fs.patch", Status: plan.ItemFailed, Attempt: 1, Error: "x was not found in a.go"},
		},
		Finished: map[string]bool{"1": true, "2": true}, Remaining: p.Steps[2:],
		Failed: "3", Error: "x was not found in a.go", StepsLeft: 4, ReplansLeft: 2,
	}
}

const newTail = `{"title":"Look first","steps":[
	{"index":"5","title":"Search","executor":"tool","tool":"fs.search","args":{"pattern":"x"},"depends_on":[],"expected_outcome":"where x is"},
	{"index":"3","title":"Patch","executor":"tool","tool":"fs.patch","args":{"path":"a.go","edits":[{"old":"X","new":"y"}]},"depends_on":["1","5"],"expected_outcome":"changed"},
	{"index":"4","title":"Test again","executor":"tool","tool":"test.run","args":{"target":"./..."},"depends_on":["3"],"expected_outcome":"all pass"}]}`

const sameTail = `{"title":"Again","steps":[
	{"index":"3","title":"Patch","executor":"tool","tool":"fs.patch","args":{"edits":[{"new":"y","old":"x"}],"path":"a.go"},"depends_on":["1","2"]},
	{"index":"4","title":"Test again","executor":"tool","tool":"test.run","args":{"target":"./..."},"depends_on":["3"]}]}`

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
		{name: "new plan merges with finished steps", turns: []turn{{want: "replan", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "index of a finished step is replaced", turns: []turn{{want: "replan", reply: `{"title":"t","steps":[{"index":"1","title":"Sum up","executor":"self","depends_on":[]}]}`}}, kind: "planned", steps: "1 2 5", diff: "- 3 4 + 5 ~"},
		{name: "no steps gives up with the model's reason", turns: []turn{{want: "replan", reply: `{"title":"","steps":[],"reason":"a.go is generated"}`}}, kind: "gave_up", reason: "a.go is generated"},
		{name: "no steps and no reason gives up", turns: []turn{{want: "replan", reply: `[]`}}, kind: "gave_up", reason: "no way on"},
		{name: "repeated steps are refused", turns: []turn{{want: "replan", reply: sameTail}}, kind: "refused", reason: "repeats"},
		{name: "invalid plan is repaired", turns: []turn{{want: "replan", reply: wrongPlan}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "repair gives up", turns: []turn{{want: "replan", reply: wrongPlan}, {want: "repair", reply: `{"steps":[]}`}}, kind: "gave_up"},
		{name: "repair is refused", turns: []turn{{want: "replan", reply: wrongPlan}, {want: "repair", reply: sameTail}}, kind: "refused"},
		{name: "plan stays invalid", turns: []turn{{want: "replan", reply: wrongPlan}, {want: "repair", reply: wrongPlan}, {want: "repair", reply: wrongPlan}}, kind: "failed", reason: "cannot be used"},
		{name: "no reply to the replan", turns: []turn{{want: "replan", fail: "timed out"}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "no reply at all", turns: []turn{{want: "replan", fail: "timed out"}, {want: "repair", fail: "timed out"}, {want: "repair", fail: "timed out"}}, kind: "failed", reason: "no plan, after 2 repairs: the model returned no repaired plan: timed out"},
		{name: "no reply to the first repair", turns: []turn{{want: "replan", reply: "?"}, {want: "repair", fail: "timed out"}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "too many steps are repaired", turns: []turn{{want: "replan", reply: tooMany}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "limit of the brief holds", change: func(b *prompt.Brief, s *prompt.Situation) { b.MaxSteps, s.StepsLeft = 2, -1 }, turns: []turn{{want: "replan", reply: newTail}, {want: "repair", reply: newTail}, {want: "repair", reply: newTail}}, kind: "failed", reason: "at most 2 steps"},
		{name: "no step limit", change: func(b *prompt.Brief, s *prompt.Situation) { b.MaxSteps, s.StepsLeft = 0, -1 }, turns: []turn{{want: "replan", reply: tooMany}}, kind: "planned", steps: "1 2 5 6 7 8 9", diff: "- 3 4 + 5 6 7 8 9 ~"},
		{name: "no steps left", change: func(_ *prompt.Brief, s *prompt.Situation) { s.StepsLeft = 0 }, kind: "failed", reason: "max_steps"},
		{name: "only finished steps are repaired", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"1","title":"Read","tool":"fs.read","args":{"path":"a.go"},"result_variable":"source"}]}`}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "field of a finished step's result is known", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"5","title":"Read its twin","tool":"fs.read","args":{"path":"${source.twin}"},"depends_on":["1"]}]}`}, {want: "repair", reply: newTail}}, kind: "planned", steps: "1 2 5 3 4", diff: "- + 5 ~ 3"},
		{name: "index 0 is kept", turns: []turn{{want: "replan", reply: `{"steps":[{"index":"0","title":"Sum up","executor":"self","depends_on":["1"]}]}`}}, kind: "planned", steps: "1 2 0", diff: "- 3 4 + 0 ~"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b, s := brief(), situation()
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
	p := planning.NewReplanner(brief(), situation())
	play(t, p, []turn{{want: "replan", reply: newTail}})
	step, _ := p.Outcome().Plan.Step("3")
	if !step.Gate || step.Timeout != time.Minute {
		t.Errorf("step 3 lost its gate or its timeout: gate %v, timeout %v", step.Gate, step.Timeout)
	}
	if got := p.Outcome().Plan; got.Goal != "Make the tests pass" || got.ID != "fix" {
		t.Errorf("the plan changed: id %q, goal %q", got.ID, got.Goal)
	}
}

func TestReplanRequestNamesFailedFinishedAndRemainingSteps(t *testing.T) {
	p := planning.NewReplanner(brief(), situation())
	asked := play(t, p, []turn{{want: "replan", reply: wrongPlan}, {want: "repair", reply: newTail}})
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
