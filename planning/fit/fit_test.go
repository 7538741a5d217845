package fit_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"replan/planning/fit"
	"replan/planning/plan"
)

// operators returns the operators of the workspace, as testdata holds them.
func operators(t *testing.T) plan.Catalogue {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "testdata", "tools", "operators.json"))
	if err != nil {
		t.Fatal(err)
	}
	var tools plan.Catalogue
	if err := json.Unmarshal(data, &tools); err != nil {
		t.Fatal(err)
	}
	return tools
}

func newSet(t *testing.T, own plan.Catalogue) fit.Set {
	t.Helper()
	set, err := fit.NewSet(operators(t), own)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// rules are those for the plan of a model.
func rules(c plan.Catalogue) plan.Rules {
	return plan.Rules{Catalogue: c, CheckTools: true, MaxSteps: 20, Planned: true, PartialArgs: true, Strict: true}
}

func TestKnownPlansAreValidAndScoreEverything(t *testing.T) {
	set := newSet(t, nil)
	texts := map[string]bool{}
	for _, goal := range set.Goals {
		texts[goal.Text] = true
		catalogue := set.Catalogue(goal)
		for i, known := range goal.Plans() {
			faults, _ := plan.Validate(known, rules(catalogue))
			if len(faults) > 0 {
				t.Errorf("%s: plan %d: %v", goal.Text, i+1, plan.FaultError(faults))
			}
			if score := goal.Score(catalogue, &known); score != (fit.Score{Valid: true, Tools: 1, Arguments: 1, Dependencies: 1}) {
				t.Errorf("%s: plan %d scores %+v against itself", goal.Text, i+1, score)
			}
		}
	}
	if len(texts) != 40 || len(set.Goals) != 40 {
		t.Errorf("there are %d goals, %d different ones, want 40", len(set.Goals), len(texts))
	}
}

func TestCatalogueHasItsSize(t *testing.T) {
	set := newSet(t, nil)
	goals := map[int]int{}
	for _, goal := range set.Goals {
		goals[goal.Tools]++
		catalogue := set.Catalogue(goal)
		names := catalogue.Names()
		if len(catalogue) != len(operators(t))+goal.Tools || len(slices.Compact(names)) != len(catalogue) {
			t.Errorf("%s: %d tools, want %d operators and %d others, each once", goal.Text, len(catalogue), len(operators(t)), goal.Tools)
		}
		for _, name := range names {
			if strings.Contains(name, ":") {
				t.Errorf("%s: two servers offer %s", goal.Text, name)
			}
		}
	}
	for _, size := range []int{5, 20, 60, 200} {
		if goals[size] != 10 {
			t.Errorf("%d goals with %d tools, want 10", goals[size], size)
		}
	}
}

func TestOwnToolsStandBesideTheGoal(t *testing.T) {
	own := plan.Catalogue{{Server: "mine", Name: "lamp_on"}, {Server: "mine", Name: "create_issue"}}
	set := newSet(t, append(plan.Catalogue{{Server: "files", Name: "read_text_file"}}, own...))
	for _, goal := range set.Goals {
		catalogue := set.Catalogue(goal)
		if _, err := catalogue.Find("lamp_on"); err != nil || goal.Tools != len(own) {
			t.Errorf("%s: %v", goal.Text, err)
		}
		if _, err := catalogue.Find("read_text_file"); err == nil {
			t.Errorf("%s: a plan with read_text_file in place of fs.read would be right too", goal.Text)
		}
		// A tool of the user's with the name of a known one would be right as well.
		if tool, err := catalogue.Find("create_issue"); err != nil || goal.Plans()[0].Steps[0].Tool == "create_issue" && tool.Server != "github" {
			t.Errorf("%s: %s, %v", goal.Text, tool.Server, err)
		}
	}
	if set.Version() == newSet(t, nil).Version() || set.Version() != newSet(t, own).Version() {
		t.Error("the version does not tell sets of tools apart")
	}
}

func TestScore(t *testing.T) {
	set := newSet(t, nil)
	const (
		restart = `{"index":"1","title":"a","tool":"rollout_restart","args":{"deployment":"web","namespace":"prod"}}`
		pods    = `{"index":"2","title":"b","tool":"pods_list_in_namespace","args":{"namespace":"prod"},"depends_on":["1"]}`
		here    = `{"index":"1","title":"a","tool":"fs.read","args":{"path":"./go.mod"},"result_variable":"here"}`
		there   = `{"index":"2","title":"b","tool":"get_file_contents","args":{"owner":"charmbracelet","repo":"bubbletea","path":"go.mod"},"result_variable":"there"}`
		diff    = `{"index":"3","title":"c","executor":"self","args":{"a":"${here}","b":"${there}"},"result_variable":"diff"}`
	)
	for name, c := range map[string]struct {
		goal  string // begins it
		steps []string
		want  fit.Score // with Valid
	}{
		"all right": {"Restart the Kubernetes", []string{restart, pods}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"qualified names and unequal spelling": {"Restart the Kubernetes", []string{
			`{"index":"1","title":"a","tool":"kubernetes:rollout_restart","args":{"deployment":" Web","namespace":"prod."}}`, pods,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"missing call": {"Restart the Kubernetes", []string{restart}, fit.Score{Tools: 0.5, Arguments: 2. / 3}},
		"wrong tool": {"Restart the Kubernetes", []string{
			restart, `{"index":"2","title":"b","tool":"pods_list","depends_on":["1"]}`,
		}, fit.Score{Tools: 0.5, Arguments: 2. / 3}},
		"superfluous call": {"Restart the Kubernetes", []string{
			restart, pods, `{"index":"3","title":"c","tool":"namespaces_list","args":{},"depends_on":["2"]}`, `{"index":"4","title":"d","tool":"namespaces_list","args":{}}`,
		}, fit.Score{Tools: 0.5, Arguments: 1, Dependencies: 1}},
		"sub-agent": {"Restart the Kubernetes", []string{
			restart, pods, `{"index":"3","title":"c","executor":"agent","profile":"explorer"}`,
		}, fit.Score{Tools: 2. / 3, Arguments: 1, Dependencies: 1}},
		"look into memory and own words": {"Restart the Kubernetes", []string{
			`{"index":"0","title":"z","tool":"memory.read"}`, restart, pods, `{"index":"3","title":"c","executor":"self","depends_on":["2"]}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"wrong argument": {"Restart the Kubernetes", []string{
			strings.Replace(restart, "web", "api", 1), pods,
		}, fit.Score{Tools: 1, Arguments: 2. / 3, Dependencies: 1}},
		"argument beside": {"Restart the Kubernetes", []string{
			restart, `{"index":"2","title":"b","tool":"pods_list_in_namespace","args":{"namespace":"prod","labelSelector":"app=web","fieldSelector":"x"},"depends_on":["1"]}`,
		}, fit.Score{Tools: 1, Arguments: 3. / 4, Dependencies: 1}},
		"missing dependency": {"Restart the Kubernetes", []string{
			restart, strings.Replace(pods, `["1"]`, `[]`, 1),
		}, fit.Score{Tools: 1, Arguments: 1}},
		"needless dependency": {"Read go.mod and", []string{
			`{"index":"1","title":"a","tool":"fs.read","args":{"path":"README.md"}}`, `{"index":"2","title":"b","tool":"fs.read","args":{"path":"go.mod","limit":2000},"depends_on":["1"]}`,
		}, fit.Score{Tools: 1, Arguments: 1}},
		"nothing right": {"Restart the Kubernetes", []string{`{"index":"1","title":"a","tool":"vcs.status"}`}, fit.Score{}},
		"reference through own words": {"Compare go.mod", []string{
			here, there, diff, `{"index":"4","title":"d","tool":"fs.write","args":{"path":"diff.md","text":"# Differences\n${diff}"}}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"text written when the step is ready": {"Compare go.mod", []string{
			here, there, `{"index":"3","title":"c","tool":"fs.write","args":{"path":"diff.md"},"depends_on":["1","2"]}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"reference to one of two": {"Compare go.mod", []string{
			here, there, `{"index":"3","title":"c","tool":"fs.write","args":{"path":"diff.md","text":"${here}"}}`,
		}, fit.Score{Tools: 1, Arguments: 5. / 6, Dependencies: 0.5}},
		"chain in place of a join": {"Compare go.mod", []string{
			here, strings.Replace(there, `"tool"`, `"depends_on":["1"],"tool"`, 1), `{"index":"3","title":"c","tool":"fs.write","args":{"path":"diff.md","text":"${here}${there}"}}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1. / 3}},
		"number as text, list in another order": {"Scale the Kubernetes", []string{
			`{"index":"1","title":"a","tool":"resources_scale","args":{"apiVersion":"apps/v1","kind":"deployment","name":"checkout","namespace":"shop","scale":"5.0"}}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"list in another order": {"Open an issue in acme/web", []string{
			`{"index":"1","title":"a","tool":"create_issue","args":{"owner":"acme","repo":"web","title":"Login test is flaky","labels":["ci","bug"],"assignees":[]}}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"list with one more": {"Open an issue in acme/web", []string{
			`{"index":"1","title":"a","tool":"create_issue","args":{"owner":"acme","repo":"web","title":"Login test is flaky","labels":["ci","bug","x"]}}`,
		}, fit.Score{Tools: 1, Arguments: 3. / 4, Dependencies: 1}},
		"text without its words": {"Log 2h 30m", []string{
			`{"index":"1","title":"a","tool":"jira_add_worklog","args":{"issue_key":"PROJ-77","time_spent":"2h 30m","comment":"work"}}`,
		}, fit.Score{Tools: 1, Arguments: 2. / 3, Dependencies: 1}},
		"other known plan": {"Find the declaration of Server", []string{
			`{"index":"1","title":"a","tool":"code.references","args":{"symbol":"Server"}}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
		"spare call": {"Replace the text", []string{
			`{"index":"1","title":"a","tool":"fs.read","args":{"path":"config.go"},"result_variable":"text"}`,
			`{"index":"2","title":"b","tool":"fs.patch","args":{"path":"config.go"},"depends_on":["1"]}`,
			`{"index":"3","title":"c","tool":"test.run","depends_on":["2"]}`,
		}, fit.Score{Tools: 1, Arguments: 1, Dependencies: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			goal := set.Goals[slices.IndexFunc(set.Goals, func(g fit.Goal) bool { return strings.HasPrefix(g.Text, c.goal) })]
			p, faults := plan.DecodePlan([]byte(`{"title":"x","steps":[` + strings.Join(c.steps, ",") + `]}`))
			if len(faults) > 0 {
				t.Fatal(plan.FaultError(faults))
			}
			c.want.Valid = true
			if got := goal.Score(set.Catalogue(goal), &p); !near(got, c.want) {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// near reports whether two scores differ by rounding alone.
func near(a, b fit.Score) bool {
	const most = 1e-9
	off := func(x, y float64) bool { return x-y > most || y-x > most }
	return a.Valid == b.Valid && !off(a.Tools, b.Tools) && !off(a.Arguments, b.Arguments) && !off(a.Dependencies, b.Dependencies)
}

func TestNoPlanScoresNothing(t *testing.T) {
	set := newSet(t, nil)
	if score := set.Goals[0].Score(set.Catalogue(set.Goals[0]), nil); score != (fit.Score{}) {
		t.Errorf("got %+v", score)
	}
}
