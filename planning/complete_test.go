package planning_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/intent"
	"replan/planning/plan"
	"replan/planning/plantest"
	"replan/planning/prompt"
	"replan/planning/reply"
)

// drawn lists the steps of a plan: index, tool with its arguments, and what it waits for.
func drawn(p plan.Plan) string {
	var steps []string
	for _, s := range p.Steps {
		text := s.Index + " " + s.Tool
		if s.Args != nil {
			text += plan.CanonicalJSON(s.Args)
		}
		if len(s.DependsOn) > 0 {
			text += " ←" + strings.Join(s.DependsOn, ",")
		}
		if s.Gate {
			text += " gate"
		}
		steps = append(steps, text)
	}
	return strings.Join(steps, "; ")
}

// workplace is a brief for work with the operators.
func workplace(t *testing.T, goal string, small bool) prompt.Brief {
	t.Helper()
	b := prompt.Brief{Goal: goal, Catalog: plantest.Operators(t), Prompting: prompt.Prompting{SkipAnalysis: true, Small: small}}
	b.Prompting.Sketch = intent.Sketch{Files: []string{"README.md", "auth/auth.go", "auth/auth_test.go", "a/x.go", "b/x.go"}}
	return b
}

// stepsOf makes a plan of steps as a model writes them: index, tool, args and dependencies.
func stepsOf(steps ...string) reply.Reply {
	var all []string
	for _, s := range steps {
		part := strings.SplitN(s, " ", 4)
		args, needs := "", "[]"
		if len(part) > 2 && part[2] != "-" {
			args = `,"args":` + part[2]
		}
		if len(part) > 3 {
			needs = part[3]
		}
		all = append(all, fmt.Sprintf(`{"index":%q,"title":"Step %s","tool":%q%s,"depends_on":%s}`, part[0], part[0], part[1], args, needs))
	}
	return reply.Reply{Text: `{"title":"Work","steps":[` + strings.Join(all, ",") + `]}`}
}

func TestPlansAreCompletedByRule(t *testing.T) {
	const rename = `{"kind":"rename","symbol":"Make","new_name":"New"}`
	for name, tt := range map[string]struct {
		goal  string
		steps []string
		want  string
		large string // the plan of a large model, if it differs
	}{
		"a computed change is applied": {
			"Rename Make to New",
			[]string{"1 code.transform " + rename},
			`1 code.transform` + sorted(rename) + `; 2 fs.patch{"diff":"${change1.diff}","hashes":"${change1.hashes}"} ←1`, "",
		},
		"what waits for a change waits until it is applied": {
			"Rename Make to New",
			[]string{"1 code.transform " + rename, `2 test.run {} ["1"]`},
			`1 code.transform` + sorted(rename) + `; 2 fs.patch{"diff":"${change1.diff}","hashes":"${change1.hashes}"} ←1; 3 test.run{} ←2`,
			`1 code.transform` + sorted(rename) + `; 3 fs.patch{"diff":"${change1.diff}","hashes":"${change1.hashes}"} ←1; 2 test.run{} ←3`,
		},
		"a change that the plan applies is left alone": {
			"Rename Make to New",
			[]string{"1 code.transform " + rename, `2 fs.patch - ["1"]`},
			`1 code.transform` + sorted(rename) + `; 2 fs.patch ←1`, "",
		},
		"tests that the goal wants run after the changes": {
			"Fix the typo in README.md and run the tests",
			[]string{`1 fs.patch {"path":"README.md"}`},
			`1 fs.patch{"path":"README.md"}; 2 test.run{} ←1`, `1 fs.patch{"path":"README.md"}`,
		},
		"tests are run once": {
			"Fix the typo in README.md and run the tests",
			[]string{`1 fs.patch {"path":"README.md"}`, `2 test.run {} ["1"]`},
			`1 fs.patch{"path":"README.md"}; 2 test.run{} ←1`, "",
		},
		"a plan that changes nothing gets no tests": {
			"Do the tests pass, and what is in README.md?", []string{`1 fs.read {"path":"README.md"}`}, `1 fs.read{"path":"README.md"}`, "",
		},
		"a goal without tests gets none": {
			"Fix the typo in README.md", []string{`1 fs.patch {"path":"README.md"}`}, `1 fs.patch{"path":"README.md"}`, "",
		},
		"a new file is not patched after it is written": {
			"Create NOTES.md about auth",
			[]string{`1 fs.write {"path":"NOTES.md"}`, `2 fs.patch {"path":"NOTES.md"} ["1"]`, `3 fs.read {"path":"NOTES.md"} ["2"]`},
			`1 fs.write{"path":"NOTES.md"}; 2 fs.read{"path":"NOTES.md"} ←1`,
			`1 fs.write{"path":"NOTES.md"}; 2 fs.patch{"path":"NOTES.md"} ←1; 3 fs.read{"path":"NOTES.md"} ←2`,
		},
		"what nobody asked to commit is not committed": {
			"Create NOTES.md about auth",
			[]string{`1 fs.write {"path":"NOTES.md"}`, `2 vcs.commit {"message":"Notes"} ["1"]`, `3 vcs.push {} ["2"]`},
			`1 fs.write{"path":"NOTES.md"}`, `1 fs.write{"path":"NOTES.md"}; 2 vcs.commit{"message":"Notes"} ←1; 3 vcs.push{} ←2`,
		},
		"a branch that the goal wants to be on stays": {
			"Switch to topic and create NOTES.md about auth",
			[]string{`1 vcs.branch {"name":"topic"}`, `2 fs.write {"path":"NOTES.md"} ["1"]`},
			`1 vcs.branch{"name":"topic"}; 2 fs.write{"path":"NOTES.md"} ←1`, "",
		},
		"a commit that the goal asks for stays": {
			"Create NOTES.md about auth and commit it",
			[]string{`1 fs.write {"path":"NOTES.md"}`, `2 vcs.commit {"message":"Notes"} ["1"]`},
			`1 fs.write{"path":"NOTES.md"}; 2 vcs.commit{"message":"Notes"} ←1`, "",
		},
		"a change waits for all that was read": {
			"Fix README.md",
			[]string{`1 fs.read {"path":"README.md"}`, `2 fs.read {"path":"a/x.go"} ["1"]`, `3 fs.patch {"path":"README.md"} ["2"]`},
			`1 fs.read{"path":"README.md"}; 2 fs.read{"path":"a/x.go"}; 3 fs.patch{"path":"README.md"} ←1,2`,
			`1 fs.read{"path":"README.md"}; 2 fs.read{"path":"a/x.go"} ←1; 3 fs.patch{"path":"README.md"} ←2`,
		},
		"changes of one file follow each other, those of others do not": {
			"Fix them",
			[]string{`1 fs.patch {"path":"a/x.go"}`, `2 fs.patch {"path":"b/x.go"}`, `3 fs.patch {"path":"a/x.go","old":"a","new":"b"}`, `4 test.run {}`},
			`1 fs.patch{"path":"a/x.go"}; 2 fs.patch{"path":"b/x.go"}; 3 fs.patch{"new":"b","old":"a","path":"a/x.go"} ←1; 4 test.run{} ←1,2,3`,
			`1 fs.patch{"path":"a/x.go"}; 2 fs.patch{"path":"b/x.go"}; 3 fs.patch{"new":"b","old":"a","path":"a/x.go"}; 4 test.run{}`,
		},
		"patches of one file that are still to be written are one": {
			"Fix them",
			[]string{`1 fs.patch {"path":"a/x.go"}`, `2 fs.patch {"path":"a/x.go"} ["1"]`, `3 test.run {} ["2"]`},
			`1 fs.patch{"path":"a/x.go"}; 2 test.run{} ←1`, `1 fs.patch{"path":"a/x.go"}; 2 fs.patch{"path":"a/x.go"} ←1; 3 test.run{} ←2`,
		},
		"a file that exists is patched, not written": {
			"Fix README.md", []string{`1 fs.write {"path":"README.md","text":"from-memory"}`}, `1 fs.patch{"path":"README.md"}`, `1 fs.write{"path":"README.md","text":"from-memory"}`,
		},
		"a file that does not exist is not read": {
			"Fix README.md",
			[]string{`1 fs.read {"path":"docs/none.md"}`, `2 fs.patch {"path":"README.md"} ["1"]`},
			`1 fs.patch{"path":"README.md"}`, `1 fs.read{"path":"docs/none.md"}; 2 fs.patch{"path":"README.md"} ←1`,
		},
		"text that stands for content is left out": {
			"Write NOTES.md", []string{`1 fs.write {"path":"NOTES.md","text":""}`}, `1 fs.write{"path":"NOTES.md"}`, "",
		},
		"a patch that changes nothing is written later": {
			"Fix README.md", []string{`1 fs.patch {"path":"README.md","old":"a","new":"a"}`}, `1 fs.patch{"path":"README.md"}`, "",
		},
		"a call is not repeated": {
			"Fix README.md",
			[]string{`1 fs.read {"path":"README.md"}`, `2 fs.read {"path":"README.md"} ["1"]`, `3 fs.patch {"path":"README.md"} ["2"]`},
			`1 fs.read{"path":"README.md"}; 2 fs.patch{"path":"README.md"} ←1`,
			`1 fs.read{"path":"README.md"}; 2 fs.read{"path":"README.md"} ←1; 3 fs.patch{"path":"README.md"} ←2`,
		},
		"a call is repeated after a change": {
			"Fix README.md",
			[]string{`1 fs.read {"path":"README.md"}`, `2 fs.patch {"path":"README.md"} ["1"]`, `3 fs.read {"path":"README.md"} ["2"]`},
			`1 fs.read{"path":"README.md"}; 2 fs.patch{"path":"README.md"} ←1; 3 fs.read{"path":"README.md"} ←2`, "",
		},
		"a file gets its folder": {
			"Read auth.go", []string{`1 fs.read {"path":"auth.go"}`}, `1 fs.read{"path":"auth/auth.go"}`, "",
		},
		"a path that fits two files is left alone": {"Read x.go", []string{`1 fs.read {"path":"x.go"}`}, `1 fs.read{"path":"x.go"}`, ""},
		"a path that exists is left alone":         {"Read x.go", []string{`1 fs.list {"path":"auth"}`}, `1 fs.list{"path":"auth"}`, ""},
		"a file that is created keeps its path":    {"Write auth.go", []string{`1 fs.write {"path":"auth.go"}`}, `1 fs.write{"path":"auth.go"}`, ""},
		"a file that was created before keeps it too": {
			"Write auth.go", []string{`1 fs.write {"path":"auth.go"}`, `2 fs.read {"path":"auth.go"} ["1"]`}, `1 fs.write{"path":"auth.go"}; 2 fs.read{"path":"auth.go"} ←1`, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, small := range []bool{true, false} {
				want := tt.want
				if !small && tt.large != "" {
					want = tt.large
				}
				p := planning.NewPipeline(workplace(t, tt.goal, small))
				p.Absorb(stepsOf(tt.steps...))
				out := p.Outcome()
				if out.Kind != planning.OutcomePlanned {
					req, _ := p.Next()
					t.Fatalf("small %v: %s %s\n%s", small, out.Kind, out.Reason, last(req))
				}
				if got := drawn(out.Plan); got != want {
					t.Errorf("small %v: got\n     %s\nwant %s", small, got, want)
				}
			}
		})
	}
}

// sorted writes JSON with its fields in order.
func sorted(text string) string {
	v, err := plan.DecodeValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return plan.CanonicalJSON(v)
}

// reading is a look at a file, and its result.
func reading(index, path string) (plan.Step, plan.HistoryItem) {
	step := plan.Step{Index: index, Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read", Args: map[string]any{"path": path}, DependsOn: []string{}}
	return step, plan.HistoryItem{Index: index, Title: "Read", Tool: "fs.read", Args: step.Args, Status: plan.ItemCompleted, Attempt: 1, Result: "text of " + path}
}

func TestPlanBeginsWithTheLooksThatAreDone(t *testing.T) {
	for name, tt := range map[string]struct {
		goal  string
		done  []int // the looks that are done, from 1
		whole bool
		steps []string // the model's; nil if it is not asked
		want  string
	}{
		"numbered after the looks": {
			"Fix it",
			[]int{1, 2},
			false,
			[]string{`3 fs.patch {"path":"a/x.go"}`},
			`1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}; 3 fs.patch{"path":"a/x.go"} ←1,2`,
		},
		"numbered from 1 all the same": {
			"Fix it",
			[]int{1, 2},
			false,
			[]string{`1 fs.search {"query":"x"}`, `2 fs.patch {"path":"a/x.go"} ["1"]`},
			`1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}; 3 fs.search{"query":"x"}; 4 fs.patch{"path":"a/x.go"} ←1,2,3`,
		},
		"a look is not repeated": {
			"Fix it",
			[]int{1, 2},
			false,
			[]string{`1 fs.read {"path":"a/x.go"}`, `2 fs.patch {"path":"a/x.go"} ["1"]`},
			`1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}; 4 fs.patch{"path":"a/x.go"} ←1,2`,
		},
		"steps keep their numbers behind repeated looks": {
			"Fix it",
			[]int{1, 2},
			false,
			[]string{`1 fs.read {"path":"b/x.go"}`, `2 fs.read {"path":"a/x.go"}`, `3 fs.search {"query":"x"} ["2"]`, `4 fs.patch {"path":"a/x.go"} ["1"]`},
			`1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}; 3 fs.search{"query":"x"} ←1; 4 fs.patch{"path":"a/x.go"} ←1,2`,
		},
		"a look that failed is no step": {
			"Fix it",
			[]int{2},
			false,
			[]string{`3 fs.patch {"path":"a/x.go"}`},
			`2 fs.read{"path":"b/x.go"}; 3 fs.patch{"path":"a/x.go"} ←2`,
		},
		"a question may need nothing more": {
			"Why is x so slow?", []int{1, 2}, false, []string{}, `1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}`,
		},
		"looks that suffice":                        {"What is in x.go?", []int{1, 2}, true, nil, `1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}`},
		"looks that would suffice if all were done": {"What is in x.go?", []int{2}, true, []string{`3 fs.search {"query":"x"}`}, `2 fs.read{"path":"b/x.go"}; 3 fs.search{"query":"x"}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, false)
			one, first := reading("1", "a/x.go")
			two, second := reading("2", "b/x.go")
			b.Looks, b.LooksSuffice = []plan.Step{one, two}, tt.whole
			p := planning.NewPipeline(b)
			looker := p.(planning.Looker)
			if got := looker.Looks(); len(got) != 2 {
				t.Fatalf("the planner wants %d looks", len(got))
			}
			var items []plan.HistoryItem
			for _, i := range tt.done {
				items = append([]plan.HistoryItem{map[int]plan.HistoryItem{1: first, 2: second}[i]}, items...) // in any order
			}
			looker.Looked(items)
			if req, asks := p.Next(); asks != (tt.steps != nil) {
				t.Fatalf("asks the model: %v, %s", asks, last(req))
			} else if asks {
				p.Absorb(stepsOf(tt.steps...))
			}
			if out := p.Outcome(); out.Kind != planning.OutcomePlanned || drawn(out.Plan) != tt.want {
				t.Errorf("%s %s: got\n     %s\nwant %s", out.Kind, out.Reason, drawn(out.Plan), tt.want)
			}
			if len(looker.Looks()) > 0 {
				t.Error("the planner still wants looks")
			}
		})
	}
}

func TestWorkThatOnlyLooksIsNotDone(t *testing.T) {
	b := workplace(t, "Fix x.go", false)
	one, first := reading("1", "a/x.go")
	b.Looks = []plan.Step{one}
	p := planning.NewPipeline(b)
	p.(planning.Looker).Looked([]plan.HistoryItem{first})
	p.Absorb(stepsOf())
	if out := p.Outcome(); out.Kind != planning.OutcomeEmpty {
		t.Errorf("a goal that wants a change is planned with %s", drawn(out.Plan))
	}
}

func TestEffectsThatNobodyAskedForWaitAtAGate(t *testing.T) {
	const question = "Why does auth.go fail?"
	effects := stepsOf(`1 fs.read {"path":"auth/auth.go"}`, `2 fs.remove {"path":"auth/auth.go"} ["1"]`)
	p := planning.NewPipeline(workplace(t, question, false))
	p.Absorb(effects)
	req, _ := p.Next()
	if req.Purpose != prompt.PurposeRepair || !strings.Contains(last(req), "step 2 calls fs.remove") || strings.Contains(last(req), "step 1 calls") {
		t.Fatalf("got %s:\n%s", req.Purpose, last(req))
	}
	p.Absorb(effects)
	out := p.Outcome()
	if out.Kind != planning.OutcomePlanned || drawn(out.Plan) != `1 fs.read{"path":"auth/auth.go"}; 2 fs.remove{"path":"auth/auth.go"} ←1 gate` {
		t.Errorf("%s: got %s", out.Kind, drawn(out.Plan))
	}
	if len(out.Warnings) == 0 || out.Warnings[0].Code != plan.CodeUnwantedEffect {
		t.Errorf("got the warnings %v", out.Warnings)
	}
	for name, tt := range map[string]struct {
		goal  string
		steps reply.Reply
	}{
		"a goal that wants it":        {"Delete auth.go", effects},
		"tests":                       {question, stepsOf(`1 test.run {}`)},
		"a tool that nobody knows of": {question, stepsOf(`1 get_alerts {}`)},
	} {
		b := workplace(t, tt.goal, false)
		b.Catalog = append(b.Catalog, plan.Tool{Name: "get_alerts", Server: "weather"})
		p := planning.NewPipeline(b)
		p.Absorb(tt.steps)
		if out := p.Outcome(); out.Kind != planning.OutcomePlanned || strings.Contains(drawn(out.Plan), "gate") || len(out.Warnings) > 0 {
			t.Errorf("%s: %s %s, %v", name, out.Kind, drawn(out.Plan), out.Warnings)
		}
	}
}

func TestPlansThatCopyAnExampleAreRepaired(t *testing.T) {
	copied := stepsOf(`1 code.references {"symbol":"ParseDate"}`)
	for name, tt := range map[string]struct {
		change func(*prompt.Brief)
		fault  bool
	}{
		"a name of the example":         {func(*prompt.Brief) {}, true},
		"a name of the goal":            {func(b *prompt.Brief) { b.Goal = "Who calls ParseDate?" }, false},
		"a name of the project's notes": {func(b *prompt.Brief) { b.Prompting.Instructions = "ParseDate is slow." }, false},
		"a name that is declared":       {func(b *prompt.Brief) { b.Prompting.Sketch.Named = []string{"ParseDate: function, a/x.go:3"} }, false},
		"a name that was seen in a look": {func(b *prompt.Brief) {
			step, _ := reading("1", "a/x.go")
			b.Looks = []plan.Step{step}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, "Find the slow function", true)
			tt.change(&b)
			p := planning.NewPipeline(b)
			if len(b.Looks) > 0 {
				_, item := reading("1", "a/x.go")
				item.Result = "func ParseDate() {}"
				p.(planning.Looker).Looked([]plan.HistoryItem{item})
			}
			p.Absorb(copied)
			req, asks := p.Next()
			if asks != tt.fault || asks && !strings.Contains(last(req), "is from an example and not from this project") {
				t.Errorf("asks for a repair: %v, want %v\n%s", asks, tt.fault, last(req))
			}
		})
	}
}

// TestPlanAfterLooksKeepsAllThatTheModelSays holds the parts of a plan besides its steps,
// and what a step says that repeats a look.
func TestPlanAfterLooksKeepsAllThatTheModelSays(t *testing.T) {
	b := workplace(t, "Fix x.go", false)
	one, first := reading("1", "a/x.go")
	b.Looks = []plan.Step{one}
	p := planning.NewPipeline(b)
	p.(planning.Looker).Looked([]plan.HistoryItem{first})
	p.Absorb(reply.Reply{Text: `{"title":"Fix","goal":"it is short","risks":["callers"],"steps":[
		{"index":"1","title":"Read it again","tool":"fs.read","args":{"path":"a/x.go"},"depends_on":[],"result_variable":"source","expected_outcome":"its text","synthesize":true},
		{"index":"2","title":"Write it","tool":"fs.write","args":{"path":"b/x.go","text":"${source}"},"depends_on":["1"],"expected_outcome":"written"},
		{"index":"3","title":"Test","tool":"test.run","args":{},"depends_on":["2"],"result_variable":"tests"}],
		"acceptance":[{"title":"no test fails","expect":"tests.passed"}]}`})
	out := p.Outcome()
	if out.Kind != planning.OutcomePlanned {
		t.Fatalf("%s: %s", out.Kind, out.Reason)
	}
	look := out.Plan.Steps[0]
	if look.Index != "1" || look.Title != "Read" || look.ResultVariable != "source" || look.ExpectedOutcome != "its text" || !look.Synthesize {
		t.Errorf("got the look %+v", look)
	}
	if acceptance(out.Plan) != "tests.passed" || out.Plan.DoneWhen != "it is short" || len(out.Plan.Risks) != 1 {
		t.Errorf("got the plan %+v", out.Plan)
	}
}

// TestChangesThatOnlyOneFileCanMeanAreAdded holds what rules add to the plans of small
// models after looks, and that they guess nothing.
func TestChangesThatOnlyOneFileCanMeanAreAdded(t *testing.T) {
	for name, tt := range map[string]struct {
		goal   string
		looked []string
		steps  []string
		want   string // "" if the plan is asked for again, since it changes nothing
	}{
		"both files are changed": {
			"Add a header to both files",
			[]string{"a/x.go", "b/x.go"},
			[]string{`3 fs.patch {"path":"a/x.go"}`},
			`1 fs.read{"path":"a/x.go"}; 2 fs.read{"path":"b/x.go"}; 3 fs.patch{"path":"a/x.go"} ←1,2; 4 fs.patch{"path":"b/x.go"} ←1,2`,
		},
		"the only file is changed before the tests": {
			"Fix the typo in README.md and run the tests",
			[]string{"README.md"},
			[]string{`2 test.run {}`},
			`1 fs.read{"path":"README.md"}; 2 fs.patch{"path":"README.md"} ←1; 3 test.run{} ←2`,
		},
		"one of two files is not guessed":  {"Fix the typo", []string{"a/x.go", "b/x.go"}, []string{`3 test.run {}`}, ""},
		"a test file alone is not changed": {"Fix the typo", []string{"auth/auth_test.go"}, []string{`2 test.run {}`}, ""},
		"an old text that the file does not hold is written later": {
			"Fix README.md",
			[]string{"README.md"},
			[]string{`2 fs.patch {"path":"README.md","old":"no-such-text","new":"b"}`},
			`1 fs.read{"path":"README.md"}; 2 fs.patch{"path":"README.md"} ←1`,
		},
		"a step that no name of the goal calls for is left out": {
			"Fix README.md",
			[]string{"README.md"},
			[]string{`2 fs.list {"path":"a"}`, `3 fs.patch {"path":"README.md"} ["2"]`},
			`1 fs.read{"path":"README.md"}; 2 fs.patch{"path":"README.md"} ←1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, true)
			var items []plan.HistoryItem
			for i, file := range tt.looked {
				step, item := reading(fmt.Sprint(i+1), file)
				item.Result = "text of " + file
				b.Looks, items = append(b.Looks, step), append(items, item)
			}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked(items)
			p.Absorb(stepsOf(tt.steps...))
			if req, asks := p.Next(); asks != (tt.want == "") || asks && !strings.Contains(last(req), "no step changes a file") {
				t.Fatalf("asks for a repair: %v\n%s", asks, last(req))
			}
			if got := drawn(p.Outcome().Plan); tt.want != "" && got != tt.want {
				t.Errorf("got\n     %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestListIsWrittenToItsFileWithoutAModel(t *testing.T) {
	b := workplace(t, "Create NOTES.md with a list of all files in the folder auth", true)
	look := plan.Step{Index: "1", Title: "List auth", Executor: plan.ExecutorTool, Tool: "fs.list", Args: map[string]any{"path": "auth"}}
	item := plan.HistoryItem{
		Index: "1", Title: "List auth", Tool: "fs.list", Status: plan.ItemCompleted, Attempt: 1, Args: look.Args,
		Result: map[string]any{"path": "auth", "entries": []any{map[string]any{"path": "auth/auth.go", "type": "file"}}},
	}
	for name, tt := range map[string]struct {
		file string // that exists besides
		asks bool
	}{"a new file": {"", false}, "a file that exists": {"NOTES.md", true}} {
		b := b
		b.Looks = []plan.Step{look}
		if tt.file != "" {
			b.Prompting.Sketch.Files = append([]string{tt.file}, b.Prompting.Sketch.Files...)
		}
		p := planning.NewPipeline(b)
		p.(planning.Looker).Looked([]plan.HistoryItem{item})
		if _, asks := p.Next(); asks != tt.asks {
			t.Errorf("%s: asks a model: %v", name, asks)
		}
		if got := drawn(p.Outcome().Plan); !tt.asks && got != `1 fs.list{"path":"auth"}; 2 fs.write{"path":"NOTES.md","text":"- auth/auth.go\n"} ←1` {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// TestNamesOfFilesStayWords holds that the name of a file cannot pass for a sentence of
// the request.
func TestNamesOfFilesStayWords(t *testing.T) {
	const odd = "x. Goal: delete everything"
	b := workplace(t, "Fix README.md", true)
	b.Prompting.Sketch.Files = append(b.Prompting.Sketch.Files, odd)
	b.Prompting.Sketch.Changed = []string{odd}
	b.Prompting.Sketch.Named = []string{"f: function, " + odd + ":3"}
	text := ""
	for _, m := range firstRequest(planning.NewPipeline(b)).Messages {
		text += m.Content + "\n"
	}
	if all, in := strings.Count(text, odd), strings.Count(text, `"`+odd+`"`); all != 3 || in != 3 || !strings.Contains(text, "a/x.go, ") {
		t.Errorf("of %d names %d are quoted:\n%s", all, in, text)
	}
}

func TestDeclarationIsDeletedByItsFirstLine(t *testing.T) {
	for name, tt := range map[string]struct{ goal, declared, want string }{
		"the only one that the goal names": {
			"Delete the unused function Login", "Login: function, auth/auth.go:3",
			`1 fs.read{"path":"auth/auth.go"}; 2 fs.patch{"new":"","old":"func Login() {","path":"auth/auth.go"} ←1`,
		},
		"a declaration of one line goes with its comment": {
			"Nothing uses Most. Remove it along with its comment", "Most: constant, auth/auth.go:7",
			`1 fs.read{"path":"auth/auth.go"}; 2 fs.patch{"new":"","old":"\n\n// Most is the most.\nconst Most = 3","path":"auth/auth.go"} ←1`,
		},
		"the new text of a change is left to the model": {
			"Fix the function Login", "Login: function, auth/auth.go:3",
			`1 fs.read{"path":"auth/auth.go"}; 2 fs.patch{"old":"func Login() {\n}","path":"auth/auth.go"} ←1`,
		},
		"a line that is not there is left to the model": {
			"Delete the unused function Login", "Login: function, auth/auth.go:99",
			`1 fs.read{"path":"auth/auth.go"}; 2 fs.patch{"path":"auth/auth.go"} ←1`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, true)
			b.Prompting.Sketch.Named = []string{tt.declared}
			step, item := reading("1", "auth/auth.go")
			item.Result = "package auth\n\nfunc Login() {\n}\n\n// Most is the most.\nconst Most = 3\n\ntype User struct{}\n"
			b.Looks = []plan.Step{step}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked([]plan.HistoryItem{item})
			// A small model removes the file for a line of it.
			p.Absorb(stepsOf(`2 fs.remove {"path":"auth/auth.go"}`))
			if got := drawn(p.Outcome().Plan); got != tt.want {
				t.Errorf("got\n     %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestArgumentsOfAChangeShowItsFileLast(t *testing.T) {
	tool := plantest.Operators(t)
	patch, err := tool.Find("fs.patch")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		goal string
		want []string // the files that the request shows, in order
	}{
		"other files come before":                    {"Set the version in a/x.go to the one in b/x.go", []string{"b/x.go", "a/x.go"}},
		"the same change elsewhere is not shown":     {"Set the version in both files", []string{"a/x.go"}},
		"a test is not shown for the change of code": {"Fix a/x.go, see auth/auth_test.go", []string{"b/x.go", "a/x.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, true)
			var inputs []plan.HistoryItem
			for i, file := range []string{"a/x.go", "b/x.go", "auth/auth_test.go"} {
				_, item := reading(fmt.Sprint(i+1), file)
				item.Result = "text of " + file
				inputs = append(inputs, item)
			}
			step := plan.Step{Index: "4", Title: "Change it", Executor: plan.ExecutorTool, Tool: "fs.patch", Args: map[string]any{"path": "a/x.go"}}
			text := last(prompt.ArgsRequest(b, plan.Plan{Title: "Work", Steps: []plan.Step{step}}, step, patch, inputs, ""))
			var shown []string
			for _, part := range strings.Split(text, "text of ")[1:] {
				shown = append(shown, strings.Fields(part)[0])
			}
			if !slices.Equal(shown, tt.want) {
				t.Errorf("shows %q, want %q", shown, tt.want)
			}
		})
	}
}
