package plan_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"

	"pgregory.net/rapid"
)

// stepsOf decodes a list of steps.
func stepsOf(t testing.TB, list string) []plan.Step {
	t.Helper()
	return mustPlan(t, `{"title":"T","steps":`+list+`}`).Steps
}

// diffText formats a diff as "-1 -2 +3 ~4".
func diffText(d plan.Diff) string {
	var words []string
	for _, index := range d.Removed {
		words = append(words, "-"+index)
	}
	for _, index := range d.Added {
		words = append(words, "+"+index)
	}
	for _, index := range d.Revised {
		words = append(words, "~"+index)
	}
	return strings.Join(words, " ")
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"nothing changed", `[{"tool":"t","args":{"a":1,"b":2}}]`, `[{"tool":"t","args":{"b":2.0,"a":1}}]`, ""},
		{"another title of a call", `[{"tool":"t","title":"a","args":{"a":1}}]`, `[{"tool":"t","title":"b","args":{"a":1}}]`, ""},
		{"another title for the model", `[{"tool":"t","title":"a"},{"executor":"self","title":"a"}]`, `[{"tool":"t","title":"b"},{"executor":"self","title":"b"}]`, "~1 ~2"},
		{"another dependency", `[{"tool":"t"},{"tool":"t"}]`, `[{"tool":"t"},{"tool":"t","depends_on":["1"]}]`, ""},
		{"missing and empty args", `[{"tool":"t"}]`, `[{"tool":"t","args":{}}]`, ""},
		{"another tool", `[{"tool":"t"}]`, `[{"tool":"u"}]`, "~1"},
		{"another arg", `[{"tool":"t","args":{"a":1}}]`, `[{"tool":"t","args":{"a":"1"}}]`, "~1"},
		{"another check", `[{"tool":"t"},{"tool":"t","check":{"expect":"result.a"}},{"tool":"t","check":{"tool":"r","args":{"a":1},"expect":"b"}}]`, `[{"tool":"t","check":{"expect":"result.a"}},{"tool":"t","check":[{"expect":"result.b"}]},{"tool":"t","check":{"tool":"r","args":{"a":2},"expect":"b"}}]`, "~1 ~2 ~3"},
		{"check with another title", `[{"tool":"t","check":{"title":"a","expect":"result.a"}}]`, `[{"tool":"t","check":{"title":"b","expect":"result.a"}}]`, ""},
		{"another executor and profile", `[{"executor":"self"},{"executor":"agent","profile":"p"}]`, `[{"executor":"agent"},{"executor":"agent","profile":"q"}]`, "~1 ~2"},
		{"removed and added", `[{"index":1},{"index":2},{"index":3}]`, `[{"index":5},{"index":3},{"index":4}]`, "-1 -2 +5 +4"},
		{"from empty", `[]`, `[{}]`, "+1"},
		{"to empty", `[{}]`, `[]`, "-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d := plan.Compare(stepsOf(t, tt.before), stepsOf(t, tt.after))
			if got := diffText(d); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestSameSteps(t *testing.T) {
	const tail = `[{"index":3,"title":"patch","tool":"p","args":{"a":1}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`
	for _, tt := range []struct {
		name, other string
		want        bool
	}{
		{"same steps", tail, true},
		{"another order", `[{"index":4,"title":"test","tool":"t","args":{},"depends_on":[1,3]},{"index":3,"title":"patch","tool":"p","args":{"a":1}}]`, true},
		{"other titles", `[{"index":3,"title":"x","tool":"p","args":{"a":1}},{"index":4,"title":"y","tool":"t","args":{},"depends_on":[3,1]}]`, true},
		{"renumbered", `[{"index":7,"title":"patch","tool":"p","args":{"a":1}},{"index":8,"title":"test","tool":"t","args":{},"depends_on":[7,1]}]`, true},
		{"another tool", `[{"index":3,"title":"patch","tool":"q","args":{"a":1}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`, false},
		{"another arg", `[{"index":3,"title":"patch","tool":"p","args":{"a":2}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`, false},
		{"another dependency", `[{"index":3,"title":"patch","tool":"p","args":{"a":1}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[1]}]`, false},
		{"without a dependency on a finished step", `[{"index":3,"title":"patch","tool":"p","args":{"a":1}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3]}]`, true},
		{"another list", `[{"index":3,"title":"patch","tool":"p","args":{"a":1},"for_each":["x"]},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`, false},
		{"another condition", `[{"index":3,"title":"patch","tool":"p","args":{"a":1},"when":"1 > found"},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`, false},
		{"another wait", `[{"index":3,"title":"patch","tool":"p","args":{"a":1},"until":{"expect":"result.ok","every":"1s","for":"1m"}},{"index":4,"title":"test","tool":"t","args":{},"depends_on":[3,1]}]`, false},
		{"one step fewer", `[{"index":3,"title":"patch","tool":"p","args":{"a":1}}]`, false},
		{"repeated index", `[{"index":3,"title":"patch","tool":"p","args":{"a":1}},{"index":3,"title":"patch","tool":"p","args":{"a":1}}]`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := stepsOf(t, tail)
			p, _ := plan.DecodePlan([]byte(`{"title":"T","steps":` + tt.other + `}`))
			if got := plan.SameSteps(a, p.Steps); got != tt.want {
				t.Errorf("got %t", got)
			}
			if got := plan.SameSteps(p.Steps, a); got != tt.want {
				t.Errorf("with the sides swapped: got %t", got)
			}
		})
	}
	if !plan.SameSteps(nil, nil) {
		t.Error("two empty lists are not the same")
	}
	think := stepsOf(t, `[{"title":"think","executor":"self"}]`)
	if plan.SameSteps(think, stepsOf(t, `[{"title":"write","executor":"self"}]`)) {
		t.Error("two different self steps are the same")
	}
	patch := stepsOf(t, `[{"title":"patch the handler","tool":"fs.patch"}]`)
	if plan.SameSteps(patch, stepsOf(t, `[{"title":"patch the test","tool":"fs.patch"}]`)) {
		t.Error("two calls with args to be filled in for different titles are the same")
	}
	if byName, byNumber := stepsOf(t, `[{"tool":"a","args":{},"result_variable":"x"},{"tool":"b","args":{"i":"${x}"}}]`),
		stepsOf(t, `[{"tool":"a","args":{},"result_variable":"x"},{"tool":"b","args":{"i":"${x}"},"depends_on":[1]}]`); !plan.SameSteps(byName, byNumber) {
		t.Error("a dependency through a variable differs from the same one by index")
	}
}

func TestRevise(t *testing.T) {
	const story = `[
		{"index":1,"title":"read","tool":"fs.read","args":{"path":"a.go"},"result_variable":"code"},
		{"index":2,"title":"look","tool":"fs.search","args":{"q":"${code}"},"depends_on":[1]},
		{"index":3,"title":"patch","tool":"fs.patch","args":{"diff":"x"},"depends_on":[2],"gate":true},
		{"index":4,"title":"test","tool":"test.run","args":{},"depends_on":[3]}]`
	for _, tt := range []struct {
		name, finished, proposed string
		steps                    []string // "index tool deps variable" of the whole plan
		diff                     string
	}{
		{
			name: "index of a remaining step", finished: "1 2 3",
			proposed: `[{"index":4,"title":"test all","tool":"test.run","args":{"all":true},"depends_on":[3]}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "4 test.run 3 "},
			diff:     "~4",
		},
		{
			name: "index of a finished step becomes a fresh one", finished: "1 2 3",
			proposed: `[{"index":1,"title":"patch again","tool":"fs.patch","args":{"diff":"y"}},{"index":2,"title":"test again","tool":"test.run","args":{},"depends_on":[1]},{"index":4,"title":"look","tool":"fs.search","args":{"q":1},"depends_on":[2,3]}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "5 fs.patch  ", "6 test.run 5 ", "4 fs.search 6,3 "},
			diff:     "+5 +6 ~4",
		},
		{
			name: "fresh indices are above those of the proposal", finished: "1 2 3",
			proposed: `[{"index":2,"title":"patch","tool":"fs.patch","args":{"diff":"y"}},{"index":20,"title":"test","tool":"test.run","args":{},"depends_on":[2]}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "21 fs.patch  ", "20 test.run 21 "},
			diff:     "-4 +21 +20",
		},
		{
			name: "repeated finished step does not run again", finished: "1 2 3",
			proposed: `[{"index":1,"title":"read","tool":"fs.read","args":{"path":"a.go"},"result_variable":"code"},{"index":2,"title":"look","tool":"fs.search","args":{"q":"${code}"},"depends_on":[1]},{"index":4,"title":"test","tool":"test.run","args":{"v":"${code}"},"depends_on":[2]}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "4 test.run 2 "},
			diff:     "~4",
		},
		{
			name: "finished step after a new one runs again", finished: "1 2 3",
			proposed: `[{"index":5,"title":"patch","tool":"fs.patch","args":{"diff":"y"}},{"index":2,"title":"look","tool":"fs.search","args":{"q":"${code}"},"depends_on":[5]}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "5 fs.patch  ", "6 fs.search 5 "},
			diff:     "-4 +5 +6",
		},
		{
			name: "redefined result variable belongs to the proposal", finished: "1 2 3",
			proposed: `[{"index":5,"title":"read again","tool":"fs.read","args":{"path":"a.go","was":"${code}"},"result_variable":"code"},{"index":4,"title":"test","tool":"test.run","args":{"v":"${code}"}}]`,
			steps:    []string{"1 fs.read  code_1", "2 fs.search 1 ", "3 fs.patch 2 ", "5 fs.read  code", "4 test.run  "},
			diff:     "+5 ~4",
		},
		{
			name: "repetition with another result variable runs again", finished: "1 2 3",
			proposed: `[{"index":1,"title":"read","tool":"fs.read","args":{"path":"a.go"},"result_variable":"source"}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "5 fs.read  source"},
			diff:     "-4 +5",
		},
		{
			name: "repetition names an unnamed result", finished: "1 2 3",
			proposed: `[{"index":2,"title":"look","tool":"fs.search","args":{"q":"${code}"},"result_variable":"found"},{"index":4,"title":"test","tool":"test.run","args":{"v":"${found}"}}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 found", "3 fs.patch 2 ", "4 test.run  "},
			diff:     "~4",
		},
		{
			name: "empty proposal", finished: "1", proposed: `[]`,
			steps: []string{"1 fs.read  code"}, diff: "-2 -3 -4",
		},
		{
			name: "no finished steps", finished: "",
			proposed: `[{"index":1,"title":"test","tool":"test.run","args":{}}]`,
			steps:    []string{"1 test.run  "}, diff: "-2 -3 -4 ~1",
		},
		{
			name: "repeated index stays a fault", finished: "1 2 3",
			proposed: `[{"index":1,"title":"a","tool":"test.run","args":{}},{"index":1,"title":"b","tool":"test.run","args":{"x":1}}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "5 test.run  ", "5 test.run  "},
			diff:     "-4 +5 +5",
		},
		{
			name: "repeated index is no repetition", finished: "1 2 3",
			proposed: `[{"index":1,"title":"read","tool":"fs.read","args":{"path":"a.go"}},{"index":1,"title":"b","tool":"test.run","args":{}}]`,
			steps:    []string{"1 fs.read  code", "2 fs.search 1 ", "3 fs.patch 2 ", "5 fs.read  ", "5 test.run  "},
			diff:     "-4 +5 +5",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			current := mustPlan(t, `{"id":"i","title":"T","goal":"g","milestones":[{"title":"m","steps":[1,4]}],"steps":`+story+`}`)
			proposed := stepsOf(t, tt.proposed)
			before, asked := plan.CanonicalJSON(current), plan.CanonicalJSON(proposed)
			finished := make(map[string]bool)
			for _, index := range strings.Fields(tt.finished) {
				finished[index] = true
			}
			got := plan.Revise(current, finished, proposed)
			var steps []string
			for _, s := range got.Plan.Steps {
				steps = append(steps, strings.Join([]string{s.Index, s.Tool, strings.Join(s.DependsOn, ","), s.ResultVariable}, " "))
			}
			if !slices.Equal(steps, tt.steps) {
				t.Errorf("steps:\n got %q\nwant %q", steps, tt.steps)
			}
			if d := diffText(got.Diff); d != tt.diff {
				t.Errorf("diff: got %q, want %q", d, tt.diff)
			}
			if plan.CanonicalJSON(current) != before || plan.CanonicalJSON(proposed) != asked {
				t.Error("the arguments were changed")
			}
			tail := got.Plan.Steps[len(got.Plan.Steps)-len(got.Proposed):]
			if plan.CanonicalJSON(tail) != plan.CanonicalJSON(got.Proposed) {
				t.Error("the proposed steps are not those of the plan")
			}
			if got.Plan.ID != "i" || got.Plan.Goal != "g" {
				t.Error("the plan's id or goal changed")
			}
			for _, s := range got.Proposed {
				if s.Tool == "fs.patch" && !s.Gate {
					t.Errorf("step %s lost its gate", s.Index)
				}
			}
			for _, index := range got.Plan.Milestones[0].Steps {
				if _, ok := got.Plan.Step(index); !ok {
					t.Errorf("the milestone names the removed step %s", index)
				}
			}
		})
	}
}

func TestFinishedStepGoesOnWithAnotherList(t *testing.T) {
	const change, tell, test = `{"index":2,"title":"change","tool":"fs.patch","args":{"f":"${item}"},"for_each":["a"],"result_variable":"changed"}`,
		`{"index":3,"title":"tell","tool":"fs.read","args":{"of":"${changed}"},"result_variable":"told"}`,
		`{"index":4,"title":"test","tool":"test.run","args":{"f":"${item}"},"for_each":"${changed}"}`
	longer := strings.Replace(change, `["a"]`, `["b","a"]`, 1)
	for name, tt := range map[string]struct {
		proposed, steps, diff string
	}{
		"longer":                            {longer, "1 3 4 2", "-5 ~2"},
		"with its name left out":            {strings.Replace(longer, `,"result_variable":"changed"`, "", 1), "1 3 4 2", "-5 ~2"},
		"after a finished step that waited": {strings.Replace(longer, `,"result`, `,"depends_on":[3],"result`, 1), "1 3 4 2", "-5 ~2"},
		"from its own results":              {strings.Replace(longer, `["b","a"]`, `"${told.files}"`, 1), "1 2 3 4 6", "-5 +6"},
		"after a new step":                  {`{"index":5,"title":"x","tool":"x","args":{}},` + strings.Replace(longer, `,"result`, `,"depends_on":[5],"result`, 1), "1 2 3 4 5 6", "+6 ~5"},
		"same":                              {change + `,{"index":5,"title":"x","tool":"x","args":{}}`, "1 2 3 4 5", "~5"},
		"before a step that uses it":        {longer + "," + tell, "1 3 4 2 6", "-5 +6 ~2"},
		"before a list of it":               {longer + "," + test, "1 3 2 4", "-5 ~2"},
	} {
		t.Run(name, func(t *testing.T) {
			current := mustPlan(t, `{"title":"T","steps":[{"index":1,"title":"a","tool":"a","args":{}},`+change+","+tell+","+test+`,{"index":5,"title":"y","tool":"y","args":{}}]}`)
			got := plan.Revise(current, map[string]bool{"1": true, "2": true, "3": true, "4": true}, stepsOf(t, "["+tt.proposed+"]"))
			var steps []string
			for _, s := range got.Plan.Steps {
				steps = append(steps, s.Index)
			}
			if text := strings.Join(steps, " "); text != tt.steps || diffText(got.Diff) != tt.diff {
				t.Errorf("got %s and %s, want %s and %s", text, diffText(got.Diff), tt.steps, tt.diff)
			}
			if cycle := plan.NewGraph(got.Plan).Cycle(); len(cycle) > 0 {
				t.Errorf("the steps %v wait for each other", cycle)
			}
			if s, ok := got.Plan.Step("2"); !ok || !strings.HasPrefix(s.ResultVariable, "changed") {
				t.Errorf("step 2 is %+v", s)
			}
		})
	}
}

func TestRedefinedVariableKeepsOldResult(t *testing.T) {
	current := mustPlan(t, `{"title":"T","variables":{"v_1":0},"steps":[
		{"tool":"a","title":"a","result_variable":"v"},
		{"tool":"b","title":"b","args":{"x":"old ${ v.f[0] } $${v}"}},
		{"tool":"c","title":"c"}]}`)
	got := plan.Revise(current, map[string]bool{"1": true, "2": true}, stepsOf(t, `[
		{"index":5,"title":"again","tool":"a","args":{"from":["${v}","${v_1}"],"n":1},"result_variable":"v"},
		{"index":6,"title":"use","tool":"b","args":{"x":"${v}"}}]`))
	// v_1 is already a variable of the plan.
	if name := got.Plan.Steps[0].ResultVariable; name != "v_1_" {
		t.Errorf("got the name %q for the old result", name)
	}
	for i, want := range map[int]string{1: `{"x":"old ${v_1_.f[0]} $${v}"}`, 2: `{"from":["${v_1_}","${v_1}"],"n":1}`, 3: `{"x":"${v}"}`} {
		if args := plan.CanonicalJSON(got.Plan.Steps[i].Args); args != want {
			t.Errorf("args of step %s: got %s, want %s", got.Plan.Steps[i].Index, args, want)
		}
	}
	if faults, _ := plan.Validate(got.Plan, plan.Rules{}); len(faults) > 0 {
		t.Error(plan.FaultError(faults))
	}
}

func TestRedefinedVariableKeepsOldResultInChecks(t *testing.T) {
	current := mustPlan(t, `{"title":"T","steps":[
		{"index":"a-1","tool":"a","title":"a","result_variable":"v","check":[{"expect":"v.ok and result.v"},{"tool":"r","args":{"x":"${v.x}"},"expect":"result.ok"}]},
		{"tool":"c","title":"c"}],"acceptance":{"expect":"v.ok"}}`)
	before := plan.CanonicalJSON(current)
	got := plan.Revise(current, map[string]bool{"a-1": true}, stepsOf(t, `[
		{"index":5,"title":"again","tool":"a","args":{"from":"${v}"},"result_variable":"v","check":{"expect":"v.ok and result.v"}}]`))
	if text := plan.CanonicalJSON(got.Plan.Steps[0].Checks); text != `[{"expect":"v_a_1.ok and result.v"},{"tool":"r","args":{"x":"${v_a_1.x}"},"expect":"result.ok"}]` {
		t.Errorf("checks of the finished step: got %s", text)
	}
	if again := got.Plan.Steps[1]; again.Args["from"] != "${v_a_1}" || again.Checks[0].Expect != "v.ok and result.v" {
		t.Errorf("step that redefines the result: got %s", plan.CanonicalJSON(again))
	}
	if faults, _ := plan.Validate(got.Plan, plan.Rules{}); len(faults) > 0 || len(got.Plan.Acceptance) != 1 {
		t.Errorf("got %v for %s", faults, plan.CanonicalJSON(got.Plan))
	}
	if plan.CanonicalJSON(current) != before {
		t.Error("the plan before was changed")
	}
}

func TestReplannedStepKeepsItsChecks(t *testing.T) {
	current := mustPlan(t, `{"title":"T","steps":[
		{"tool":"a","title":"a","result_variable":"v","check":{"title":"c","expect":"v.ok"}},
		{"tool":"b","title":"b","check":{"expect":"result.ok"}},
		{"executor":"self","title":"s","check":{"tool":"r","expect":"result.ok"}}]}`)
	for proposed, want := range map[string]string{
		`[{"tool":"a","title":"x","args":{"new":1}}]`:                               `[{"title":"c","expect":"v.ok"}]`,
		`[{"tool":"a","title":"x","result_variable":"w"}]`:                          `[{"title":"c","expect":"w.ok"}]`,
		`[{"tool":"a","title":"x","check":{"expect":"result.better"}}]`:             `[{"expect":"result.better"}]`,
		`[{"tool":"b","title":"x"}]`:                                                `null`,
		`[{"index":9,"tool":"a","title":"x"}]`:                                      `null`,
		`[{"index":3,"executor":"self","title":"x"}]`:                               `[{"tool":"r","expect":"result.ok"}]`,
		`[{"index":2,"tool":"b","title":"x"},{"index":3,"tool":"t","title":"new"}]`: `[{"expect":"result.ok"}]`,
	} {
		got := plan.Revise(current, nil, stepsOf(t, proposed))
		if checks := plan.CanonicalJSON(got.Proposed[0].Checks); checks != want {
			t.Errorf("%s: got %s, want %s", proposed, checks, want)
		}
		if faults, _ := plan.Validate(got.Plan, plan.Rules{}); len(faults) > 0 {
			t.Errorf("%s: %v", proposed, plan.FaultError(faults))
		}
	}
}

func TestOtherChecksMakeNoOtherWork(t *testing.T) {
	a, b := stepsOf(t, `[{"tool":"t","args":{}}]`), stepsOf(t, `[{"tool":"t","args":{},"check":{"expect":"result.ok"}}]`)
	if !plan.SameSteps(a, b) {
		t.Error("a plan with another check counts as another plan")
	}
	p := plan.Plan{Title: "T", Steps: a}
	if got := plan.Revise(p, map[string]bool{"1": true}, b); len(got.Proposed) > 0 {
		t.Errorf("the finished step was proposed again: %s", plan.CanonicalJSON(got.Proposed))
	}
}

func TestRenamedStepKeepsGateOfItsTool(t *testing.T) {
	current := mustPlan(t, `{"title":"T","steps":[{"tool":"s:deploy","title":"d","gate":true},{"executor":"self","title":"say","gate":true},{"tool":"t","title":"t"}]}`)
	got := plan.Revise(current, nil, stepsOf(t, `[
		{"index":9,"title":"d","tool":"deploy"},{"index":2,"title":"x","tool":"t"},{"index":8,"title":"y","executor":"self"},{"index":3,"title":"t","tool":"t"}]`))
	var gated []string
	for _, s := range got.Proposed {
		if s.Gate {
			gated = append(gated, s.Index)
		}
	}
	if !slices.Equal(gated, []string{"9", "2"}) {
		t.Errorf("got the gated steps %q", gated)
	}
}

func TestReviseKeepsFinishedStepsAndMakesValidPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		current := drawDAG(t)
		current.Acceptance = []plan.Check{{Tool: "t", Expect: "result.ok"}}
		graph := plan.NewGraph(current)
		finished := make(map[string]bool)
		for _, index := range graph.Order() {
			ready := true
			for _, before := range graph.Dependencies(index) {
				ready = ready && finished[before]
			}
			if ready && rapid.Bool().Draw(t, "finished "+index) {
				finished[index] = true
			}
		}
		proposal := drawDAG(t)
		for i := range proposal.Steps {
			proposal.Steps[i].Title = untrusted.Text(fmt.Sprintf("new %d", i))
			proposal.Steps[i].Executor = plan.ExecutorAgent // else they keep checks, perhaps of results that are gone
		}
		got := plan.Revise(current, finished, proposal.Steps)
		if faults, _ := plan.Validate(got.Plan, plan.Rules{}); len(faults) > 0 {
			t.Fatalf("a valid plan and a valid proposal gave an invalid plan: %v\n%s", plan.FaultError(faults), plan.CanonicalJSON(got.Plan))
		}
		if plan.CanonicalJSON(got.Plan.Acceptance) != plan.CanonicalJSON(current.Acceptance) {
			t.Fatal("the acceptance changed")
		}
		revised := plan.NewGraph(got.Plan)
		place := 0
		for _, s := range current.Steps {
			if !finished[s.Index] {
				continue
			}
			kept := got.Plan.Steps[place]
			place++
			if kept.Index != s.Index || kept.Title != s.Title {
				t.Fatalf("the finished step %s became %s", s.Index, plan.CanonicalJSON(kept))
			}
			if !slices.Equal(revised.Dependencies(s.Index), graph.Dependencies(s.Index)) {
				t.Fatalf("the finished step %s depends on %v, want %v", s.Index, revised.Dependencies(s.Index), graph.Dependencies(s.Index))
			}
		}
		if len(got.Proposed) != len(proposal.Steps) || len(got.Plan.Steps) != place+len(got.Proposed) {
			t.Fatalf("%d steps were proposed, but %d are in the plan", len(proposal.Steps), len(got.Proposed))
		}
		for i, s := range got.Proposed {
			asked := proposal.Steps[i]
			if (s.Index == asked.Index) == finished[asked.Index] {
				t.Fatalf("step %s was proposed as %s", s.Index, asked.Index)
			}
			if n, err := strconv.Atoi(s.Index); finished[asked.Index] && (err != nil || n <= len(current.Steps)) {
				t.Fatalf("%s is not a fresh index", s.Index)
			}
		}
	})
}

func TestChangedArgsComparesValuesAsJSON(t *testing.T) {
	before := map[string]any{"kept": json.Number("1.0"), "gone": nil, "changed": "a"}
	after := map[string]any{"kept": 1, "new": nil, "changed": "b"}
	if got, want := plan.ChangedArgs(before, after), []string{"changed", "gone", "new"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := plan.ChangedArgs(nil, nil); len(got) > 0 {
		t.Errorf("got %q for steps without arguments", got)
	}
}

func TestPlanWithFewerStepsDropsTheChecksOfTheirResults(t *testing.T) {
	p := plan.Plan{
		Variables: map[string]any{"limit": 3},
		Steps:     []plan.Step{{Index: "1", ResultVariable: "a"}, {Index: "2", ResultVariable: "b"}},
		Acceptance: []plan.Check{
			{Title: "first", Expect: "a.n > limit"}, {Title: "both", Expect: "a.n > b.n"}, {Title: "second", Tool: "look", Args: map[string]any{"at": "${b}"}, Expect: "result.ok"},
		},
	}
	left := p.With(p.Steps[:1])
	if len(left.Acceptance) != 1 || left.Acceptance[0].Title != "first" || len(p.Acceptance) != 3 {
		t.Errorf("got %+v", left.Acceptance)
	}
	if left := p.With(p.Steps); len(left.Acceptance) != 3 {
		t.Errorf("got %+v with all steps", left.Acceptance)
	}
}
