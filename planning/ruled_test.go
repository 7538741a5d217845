package planning_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"replan/planning"
	"replan/planning/plan"
	"replan/planning/prompt"
)

// declares is a look at what a file declares: functions that have no comment.
func declares(index, file string, names ...string) (plan.Step, plan.HistoryItem) {
	step := plan.Step{Index: index, Title: "List", Executor: plan.ExecutorTool, Tool: "code.symbols", Args: map[string]any{"path": file}, DependsOn: []string{}}
	symbols := []any{map[string]any{"name": "Described", "kind": "function", "path": file, "exported": true, "doc": "Described is."}}
	for _, name := range names {
		symbols = append(symbols, map[string]any{"name": name, "kind": "function", "path": file, "exported": true})
	}
	result := map[string]any{"path": file, "symbols": symbols, "total": len(symbols), "truncated": false}
	return step, plan.HistoryItem{Index: index, Tool: step.Tool, Args: step.Args, Status: plan.ItemCompleted, Attempt: 1, Result: result}
}

func TestEachUndescribedDeclarationGetsAStep(t *testing.T) {
	const looked = `1 fs.read{"path":"auth/auth.go"}; 2 code.symbols{"path":"auth/auth.go"}`
	comment := func(index, name, needs string) string {
		return fmt.Sprintf(`; %s code.comment{"path":"auth/auth.go","symbol":%q} ←%s`, index, name, needs)
	}
	var many []string
	for i := range 13 {
		many = append(many, fmt.Sprintf("F%d", i))
	}
	for name, tt := range map[string]struct {
		goal, want string // want is "" if the model plans
		names      []string
		most       int
	}{
		"one after the other": {
			goal: "Add a doc comment to every exported function of auth/auth.go that has none", names: []string{"Make", "Reverse"},
			want: looked + comment("3", "Make", "1,2") + comment("4", "Reverse", "1,2,3"),
		},
		"and then the tests": {
			goal: "Document all functions of auth/auth.go and run the tests", names: []string{"Make"},
			want: looked + comment("3", "Make", "1,2") + "; 4 test.run{} ←3",
		},
		"none lacks one":         {goal: "Document all functions of auth/auth.go", want: looked},
		"more than a plan holds": {goal: "Document all functions of auth/auth.go", names: many},
		"more than there may be": {goal: "Document all functions of auth/auth.go", names: many[:3], most: 5},
		"another goal":           {goal: "Copy all functions of auth/auth.go", names: many[:3]},
	} {
		t.Run(name, func(t *testing.T) {
			for _, small := range []bool{true, false} {
				b := workplace(t, tt.goal, small)
				b.MaxSteps = tt.most
				read, text := reading("1", "auth/auth.go")
				list, symbols := declares("2", "auth/auth.go", tt.names...)
				b.Looks = []plan.Step{read, list}
				p := planning.NewPipeline(b)
				p.(planning.Looker).Looked([]plan.HistoryItem{text, symbols})
				if _, asks := p.Next(); asks != (tt.want == "") {
					t.Fatalf("small %v: the model is asked for the plan: %v", small, asks)
				}
				if got := drawn(p.Outcome().Plan); got != tt.want {
					t.Errorf("small %v: got\n     %s\nwant %s", small, got, tt.want)
				}
				if tt.want != "" && !strings.Contains(skipReasons(p), "each declaration") {
					t.Errorf("the skipped phases say %s", skipReasons(p))
				}
			}
		})
	}
}

func TestNamesOfFilteredFilesAreWrittenByRule(t *testing.T) {
	for name, tt := range map[string]struct {
		goal    string
		results []any
		want    string // "" if the model plans
	}{
		"those without a key": {
			"Write report.txt with the names of the JSON files in d/ that have no id field, one a line.",
			[]any{map[string]any{"id": 1}, map[string]any{"name": "b"}, map[string]any{"name": "c"}},
			`; 4 fs.write{"path":"report.txt","text":"2.json\n3.json\n"} ←1,2,3`,
		},
		"none of them": {
			"Write report.txt with the names of the JSON files in d/ that have no id field", []any{map[string]any{"id": 1}, map[string]any{"id": 2}}, "",
		},
		"a file that cannot be read as data": {
			"Write report.txt with the names of the JSON files in d/ that have no id field", []any{map[string]any{"id": 1}, "{"}, "",
		},
		"a file that exists": {
			"Write README.md with the names of the JSON files in d/ that have no id field", []any{map[string]any{"id": 1}, map[string]any{}}, "",
		},
	} {
		t.Run(name, func(t *testing.T) {
			for _, small := range []bool{true, false} {
				b := workplace(t, tt.goal, small)
				var looked []plan.HistoryItem
				want := ""
				for i, result := range tt.results {
					look, item := reading(fmt.Sprint(i+1), fmt.Sprintf("d/%d.json", i+1))
					item.Result = result
					b.Looks, looked = append(b.Looks, look), append(looked, item)
					want += fmt.Sprintf(`%d fs.read{"path":"d/%d.json"}; `, i+1, i+1)
				}
				p := planning.NewPipeline(b)
				p.(planning.Looker).Looked(looked)
				if _, asks := p.Next(); asks != (tt.want == "") && (!small || asks) {
					t.Fatalf("small %v: the model is asked for the plan: %v", small, asks)
				}
				if got := drawn(p.Outcome().Plan); tt.want != "" && got != strings.TrimSuffix(want, "; ")+tt.want {
					t.Errorf("small %v: got %s", small, got)
				}
			}
		})
	}
}

func TestNamedValueIsChangedByRule(t *testing.T) {
	const dev, prod, readme = "{\n  \"port\": 8080,\n  \"timeout\": 30\n}\n", "{\n  \"port\": 80,\n  \"timeout\": 30\n}\n", "# shop\n\nRequests time out after 30 seconds.\n"
	for name, tt := range map[string]struct {
		goal, want string // want is "" if the model plans
		files      map[string]string
	}{
		"in each file, and then the tests": {
			goal: "Change the timeout from 30 to 60 in a.json and README.md and run the tests", files: map[string]string{"a.json": dev, "README.md": readme},
			want: `; 3 fs.patch{"new":"Requests time out after 60 seconds.","old":"Requests time out after 30 seconds.","path":"README.md"} ←1,2` +
				`; 4 fs.patch{"new":"  \"timeout\": 60","old":"  \"timeout\": 30","path":"a.json"} ←1,2; 5 test.run{} ←3,4`,
		},
		"from another file": {
			goal: "Set the port in a.json to the one in b.json.", files: map[string]string{"a.json": dev, "b.json": prod},
			want: `; 3 fs.patch{"new":"  \"port\": 80,","old":"  \"port\": 8080,","path":"a.json"} ←1,2`,
		},
		"not where a file that the goal names was not read": {goal: "Change the timeout from 30 to 60 in a.json and c.json", files: map[string]string{"a.json": dev}},
		"not where one file has no place for it":            {goal: "Set the port to 90 in a.json and README.md", files: map[string]string{"a.json": dev, "README.md": readme}},
		"not where more is wanted":                          {goal: "Set the port to 90 in a.json and describe it in README.md", files: map[string]string{"a.json": dev, "README.md": readme}},
		"not in a file that the goal does not name":         {goal: "Set the timeout to 60", files: map[string]string{"a.json": dev}},
		"not from two files of one name": {
			goal: "Set the port in a.json to the one in b.json", files: map[string]string{"a.json": dev, "x/b.json": prod, "y/b.json": prod},
		},
		"not where the source has no value": {goal: "Set the port in a.json to the one in README.md", files: map[string]string{"a.json": dev, "README.md": readme}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, small := range []bool{true, false} {
				b := workplace(t, tt.goal, small)
				var looked []plan.HistoryItem
				want := ""
				for i, file := range slices.Sorted(maps.Keys(tt.files)) {
					look, item := reading(fmt.Sprint(i+1), file)
					item.Result = tt.files[file]
					b.Looks, looked = append(b.Looks, look), append(looked, item)
					want += fmt.Sprintf(`; %d fs.read{"path":%q}`, i+1, file)
				}
				p := planning.NewPipeline(b)
				p.(planning.Looker).Looked(looked)
				if _, asks := p.Next(); asks != (tt.want == "") && (!small || asks) {
					t.Fatalf("small %v: the model is asked for the plan: %v", small, asks)
				}
				if got := drawn(p.Outcome().Plan); tt.want == "" && strings.Contains(got, `"new"`) {
					t.Errorf("small %v: the value is set: %s", small, got)
				} else if tt.want != "" && got != want[2:]+tt.want {
					t.Errorf("small %v: got\n     %s\nwant %s", small, got, want[2:]+tt.want)
				}
			}
		})
	}
}

func TestRulesPlanWhereASmallModelCannot(t *testing.T) {
	const copied = `1 fs.write {"path":"docs/setup.md","text":"x"}`
	for name, tt := range map[string]struct {
		goal, want string // want is "" if the model is asked again
		small      bool
		other      bool // a second file was looked at
	}{
		"the change of the only file": {
			goal: "auth/auth.go lets everybody in. Write a fix.", small: true,
			want: `1 fs.read{"path":"auth/auth.go"}; 2 fs.patch{"path":"auth/auth.go"} ←1`,
		},
		"not if two files can be meant": {goal: "auth/auth.go lets everybody in. Write a fix.", small: true, other: true},
		"not for a large model":         {goal: "auth/auth.go lets everybody in. Write a fix."},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, tt.small)
			look, item := reading("1", "auth/auth.go")
			item.Result = "package auth\n"
			b.Looks = []plan.Step{look}
			looked := []plan.HistoryItem{item}
			if tt.other {
				second, text := reading("2", "auth/more.go")
				b.Looks, looked = append(b.Looks, second), append(looked, text)
			}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked(looked)
			p.Absorb(stepsOf(copied))
			if _, asks := p.Next(); asks != (tt.want == "") {
				t.Fatalf("the model is asked again: %v", asks)
			}
			out := p.Outcome()
			if got := drawn(out.Plan); got != tt.want {
				t.Errorf("got\n     %s\nwant %s", got, tt.want)
			}
			if tt.want != "" && (len(out.Warnings) != 1 || out.Warnings[0].Code != plan.CodePlannedByRule) {
				t.Errorf("the warnings are %+v", out.Warnings)
			}
		})
	}
}

func TestSmallModelAnswersFromWhatWasLookedAt(t *testing.T) {
	for _, small := range []bool{true, false} {
		b := workplace(t, "What does Login do if the password is empty?", small)
		b.Prompting.SkipAnalysis = false
		look, item := reading("1", "auth/auth.go")
		item.Result = "package auth\n"
		b.Looks = []plan.Step{look}
		p := planning.NewPipeline(b)
		p.(planning.Looker).Looked([]plan.HistoryItem{item})
		if _, asks := p.Next(); asks == small {
			t.Errorf("small %v: the model plans: %v", small, asks)
		}
		if got := drawn(p.Outcome().Plan); small && got != `1 fs.read{"path":"auth/auth.go"}` {
			t.Errorf("the plan is %s", got)
		}
	}
}

func TestSmallModelIsNotAskedForThePlanOfAnEdit(t *testing.T) {
	const code = "package auth\n\nfunc Login() bool {\n\treturn true\n}\n\nfunc Out() {\n}\n"
	for name, tt := range map[string]struct {
		goal, want string // want is "" if the model plans
		files      []string
		named      []string // such as "Login: function, auth/auth.go:3"
	}{
		"each named file": {
			goal: `add "retries": 3 to a/x.go and README.md`, files: []string{"a/x.go", "README.md"},
			want: `; 3 fs.patch{"path":"a/x.go"} ←1,2; 4 fs.patch{"path":"README.md"} ←1,2`,
		},
		"the named function": {
			goal: "Login lets everybody in. Fix it and run the tests.", files: []string{"auth/auth.go"}, named: []string{"Login: function, auth/auth.go:3"},
			want: `; 2 fs.patch{"old":"func Login() bool {\n\treturn true\n}","path":"auth/auth.go"} ←1; 3 test.run{} ←2`,
		},
		"what a named test tests": {
			goal: "TestLogin fails. Fix the code.", files: []string{"auth/auth_test.go", "auth/auth.go"}, named: []string{"TestLogin: function, auth/auth_test.go:1"},
			want: `; 3 fs.patch{"path":"auth/auth.go"} ←1,2; 4 test.run{} ←3`,
		},
		"a new function": {
			goal: "Add a function Name to auth/auth.go that returns a name", files: []string{"auth/auth.go"},
			want: `; 2 code.insert{"path":"auth/auth.go"} ←1`,
		},
		"a new method": {
			goal: "Add a method Name to User", files: []string{"auth/auth.go"}, named: []string{"User: type, auth/auth.go:3"},
			want: `; 2 code.insert{"path":"auth/auth.go","symbol":"User","where":"inside"} ←1`,
		},
		"a new test, with the tests": {
			goal: "Write a test for Login", files: []string{"auth/auth.go"}, named: []string{"Login: function, auth/auth.go:3"},
			want: `; 2 code.insert{"path":"auth/auth_test.go"} ←1; 3 test.run{} ←2`,
		},
		"a new section":                    {goal: "Add a section about tests to the README", files: []string{"README.md"}, want: `; 2 code.insert{"path":"README.md"} ←1`},
		"a new file":                       {goal: "Create USERS.md with the functions of auth/auth.go and what each does", files: []string{"auth/auth.go"}, want: `; 2 fs.write{"path":"USERS.md"} ←1`},
		"not a new file beside an edit":    {goal: "Fix auth/auth.go and say so in NEWS.md", files: []string{"auth/auth.go"}},
		"not more files than it can watch": {goal: "Fix README.md, a/x.go, b/x.go, auth/auth.go and auth/auth_test.go", files: []string{"README.md", "a/x.go", "b/x.go", "auth/auth.go", "auth/auth_test.go"}},
		"not a file that only holds words": {goal: "Make the users stay", files: []string{"auth/auth.go"}},
		"nor other work":                   {goal: "Fix auth/auth.go and commit it", files: []string{"auth/auth.go"}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, small := range []bool{true, false} {
				b := workplace(t, tt.goal, small)
				b.Prompting.Sketch.Named = tt.named
				var looked []plan.HistoryItem
				want := ""
				for i, file := range tt.files {
					look, item := reading(fmt.Sprint(i+1), file)
					if file == "auth/auth.go" {
						item.Result = code
					}
					b.Looks, looked = append(b.Looks, look), append(looked, item)
					want += fmt.Sprintf(`; %d fs.read{"path":%q}`, i+1, file)
				}
				p := planning.NewPipeline(b)
				p.(planning.Looker).Looked(looked)
				if _, asks := p.Next(); asks != (tt.want == "" || !small) {
					t.Fatalf("small %v: the model is asked for the plan: %v", small, asks)
				}
				if got := drawn(p.Outcome().Plan); small && tt.want != "" && got != want[2:]+tt.want {
					t.Errorf("got\n     %s\nwant %s", got, want[2:]+tt.want)
				}
			}
		})
	}
}

func TestWordsAreReplacedAndFilesMovedByRule(t *testing.T) {
	const code = "port := env(\"SHOP_PORT\")\n"
	list := func(b *prompt.Brief, looked []plan.HistoryItem) []plan.HistoryItem {
		look, item := reading(fmt.Sprint(len(looked)+1), "config")
		look.Tool, item.Tool, item.Result = "fs.list", "fs.list", map[string]any{"entries": []any{}}
		b.Looks = append(b.Looks, look)
		return append(looked, item)
	}
	for name, tt := range map[string]struct {
		goal, want string // want is "" if the model plans
		files      []string
		listed     bool // a folder was listed, too
		most       int
	}{
		"a word": {
			goal: "Replace SHOP_PORT with HTTP_PORT in a/x.go and run the tests", files: []string{"a/x.go"},
			want: `; 2 fs.patch{"new":"port := env(\"HTTP_PORT\")","old":"port := env(\"SHOP_PORT\")","path":"a/x.go"} ←1; 3 test.run{} ←2`,
		},
		"no word in a folder that was not read": {goal: "Replace SHOP_PORT with HTTP_PORT in a/x.go and config/", files: []string{"a/x.go"}, listed: true},
		"no word in a file that was not read":   {goal: "Replace SHOP_PORT with HTTP_PORT in a/x.go and b/x.go", files: []string{"a/x.go"}},
		"no more steps than a plan may have":    {goal: "Replace SHOP_PORT with HTTP_PORT in a/x.go and run the tests", files: []string{"a/x.go"}, most: 2},
		"a move":                                {goal: "Move a/x.go to lib/", files: []string{"a/x.go"}, want: `; 2 fs.move{"from":"a/x.go","to":"lib/x.go"} ←1`},
		"no move of what a file holds":          {goal: "Move the constants in a/x.go to lib/", files: []string{"a/x.go"}},
		"no more moves than steps that may be":  {goal: "Move a/x.go to lib/", files: []string{"a/x.go"}, most: 1},
	} {
		t.Run(name, func(t *testing.T) {
			b := workplace(t, tt.goal, true)
			b.MaxSteps = tt.most
			var looked []plan.HistoryItem
			want := ""
			for i, file := range tt.files {
				look, item := reading(fmt.Sprint(i+1), file)
				item.Result = code
				b.Looks, looked = append(b.Looks, look), append(looked, item)
				want += fmt.Sprintf(`; %d fs.read{"path":%q}`, i+1, file)
			}
			if tt.listed {
				looked = list(&b, looked)
			}
			p := planning.NewPipeline(b)
			p.(planning.Looker).Looked(looked)
			got := drawn(p.Outcome().Plan)
			if tt.want != "" && got != want[2:]+tt.want || tt.want == "" && (strings.Contains(got, `"new"`) || strings.Contains(got, "fs.move")) {
				t.Errorf("got\n     %s\nwant %s", got, want[2:]+tt.want)
			}
		})
	}
}
