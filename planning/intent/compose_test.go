package intent_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"replan/planning/intent"
	"replan/planning/plan"
)

func composed(t *testing.T, words string) intent.Composition {
	t.Helper()
	c := nowhere.Route(intent.Parse(words), intent.Policy{})
	out, err := intent.Compose(c, words)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestComposeBuildsAGraph(t *testing.T) {
	for words, want := range map[string]struct {
		edges       [][2]int
		entry, exit []int
		order       []int
		groups      [][]int
		complexity  intent.Complexity
		gates       []int
	}{
		"rename Foo to Bar": {
			[][2]int{{0, 1}, {1, 2}, {1, 3}, {3, 4}},
			[]int{0},
			[]int{2, 4},
			[]int{0, 1, 2, 3, 4},
			[][]int{{2, 3}},
			intent.Medium,
			[]int{3},
		},
		"why does TestFoo fail": {
			[][2]int{{0, 2}, {1, 2}},
			[]int{0, 1},
			[]int{2},
			[]int{0, 1, 2},
			[][]int{{0, 1}},
			intent.Medium,
			[]int{},
		},
		"find X":                {[][2]int{}, []int{0}, []int{0}, []int{0}, [][]int{}, intent.Low, []int{}},
		"find main.go":          {[][2]int{}, []int{0, 1}, []int{0, 1}, []int{0, 1}, [][]int{{0, 1}}, intent.Low, []int{}},
		"what is X":             {[][2]int{{0, 1}}, []int{0}, []int{1}, []int{0, 1}, [][]int{}, intent.Low, []int{}},
		"push":                  {[][2]int{{0, 1}}, []int{0}, []int{1}, []int{0, 1}, [][]int{}, intent.Medium, []int{1}},
		"add tests for a.go":    {[][2]int{{0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}, {3, 4}}, []int{0, 1}, []int{4}, []int{0, 1, 2, 3, 4}, [][]int{{0, 1}}, intent.High, []int{3}},
		"what do you mean, no?": {[][2]int{}, []int{}, []int{}, []int{}, [][]int{}, intent.Low, []int{}},
	} {
		got := composed(t, words)
		if !reflect.DeepEqual(got.Graph.Edges, want.edges) || !slices.Equal(got.Graph.Entry, want.entry) || !slices.Equal(got.Graph.Exit, want.exit) {
			t.Errorf("%q: got edges %v, entry %v, exit %v", words, got.Graph.Edges, got.Graph.Entry, got.Graph.Exit)
		}
		if !slices.Equal(got.ExecutionOrder, want.order) || !reflect.DeepEqual(got.Parallelizable, want.groups) {
			t.Errorf("%q: got order %v, groups %v", words, got.ExecutionOrder, got.Parallelizable)
		}
		if got.EstimatedComplexity != want.complexity || !slices.Equal(got.PolicyGates, want.gates) {
			t.Errorf("%q: got complexity %s, gates %v", words, got.EstimatedComplexity, got.PolicyGates)
		}
	}
}

func TestComposedPlanHasTheGoal(t *testing.T) {
	p := composed(t, "please rename Foo to Bar").Plan
	if p.Goal != "please rename Foo to Bar" || p.Title != "Rename Foo to Bar" || len(p.Steps) != 5 {
		t.Fatalf("%+v", p)
	}
	last := p.Steps[4]
	if p.Steps[0].Index != "1" || last.Index != "5" || !p.Steps[3].Gate || last.Gate || !slices.Equal(last.DependsOn, []string{"4"}) {
		t.Errorf("%+v", p.Steps)
	}
	work := composed(t, "fix bug in a.go").Plan.Steps[2]
	if work.Executor != plan.ExecutorSelf || work.Tool != "" || work.Args != nil || work.Title != "Fix a.go" {
		t.Errorf("%+v", work)
	}
}

func TestChainsReadBackUnchanged(t *testing.T) {
	for _, words := range []string{"rename Foo to Bar", "fix bug in a.go", "why does TestFoo fail", "show the last commits", "rename Foo", "hello there"} {
		c := nowhere.Route(intent.Parse(words), intent.Policy{})
		c.Goal = words
		written, err := plan.EncodeJSON(c)
		if err != nil {
			t.Fatal(err)
		}
		read, err := intent.DecodeChain(written)
		if err != nil {
			t.Fatalf("%q: %v", words, err)
		}
		if again, err := plan.EncodeJSON(read); err != nil || string(again) != string(written) {
			t.Errorf("%q is\n%s\nand read back\n%s (%v)", words, written, again, err)
		}
		before, _ := intent.Compose(c, "")
		after, err := intent.Compose(read, "")
		if err != nil || string(after.Plan.Goal) != words || !reflect.DeepEqual(before.ExecutionOrder, after.ExecutionOrder) {
			t.Errorf("%q: %+v, then %+v (%v)", words, before, after, err)
		}
	}
}

func TestNodesHaveDefaults(t *testing.T) {
	c, err := intent.DecodeChain([]byte(`{"nodes":[
		{"tool":"fs.read","args":{"path":"a.go"},"result_variable":"text"},
		{"tool":"fix"},
		{"tool":"fs.patch","args":null},
		{"tool":"code.summarize","args":{"text":"${text}"},"depends_on":[]}],"policy_gates":[2],"more":1}`))
	if got, want := draw(c), `fs.read{"path":"a.go"}; <fix> ←0; fs.patch~! ←1; code.summarize{"text":"${text}"}`; err != nil || got != want {
		t.Errorf("got %s (%v), want %s", got, err, want)
	}
}

func TestImpossibleChainsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		``:                               "is not JSON",
		`[]`:                             "must be an object, not array",
		`{}`:                             "has no nodes",
		`{"nodes":{}}`:                   "nodes must be an array, not object",
		`{"nodes":[1]}`:                  "nodes must be an object, not number",
		`{"nodes":[{}]}`:                 "node 0 names no tool",
		`{"nodes":[]}`:                   "",
		`{"nodes":[{"tool":"fs.reed"}]}`: `there is no operator "fs.reed"; there are code.definition`,
		`{"nodes":[{"tool":7}]}`:         "nodes.tool must be a string, not number",
		`{"nodes":[{"tool":"fs.read","args":[]}]}`:                                                      "args must be an object, not array",
		`{"nodes":[{"tool":"fs.read","gate":"yes"}]}`:                                                   "gate must be true or false, not string",
		`{"nodes":[{"tool":"fs.read","depends_on":[1]}]}`:                                               "step 1 depends on step 2, which does not exist",
		`{"nodes":[{"tool":"fs.read","depends_on":[-1]}]}`:                                              "depends on step 0, which does not exist",
		`{"nodes":[{"tool":"fs.read","depends_on":["1"]}]}`:                                             "depends_on must be a whole number, not string",
		`{"nodes":[{"tool":"fs.read","depends_on":[0]}]}`:                                               "depends on itself",
		`{"nodes":[{"tool":"fs.read","depends_on":[1]},{"tool":"fs.list","depends_on":[0]}]}`:           "steps 1 and 2 wait for each other",
		`{"nodes":[{"tool":"fs.read","args":{"path":"${x}"}}]}`:                                         "refers to ${x}",
		`{"nodes":[{"tool":"fs.list","result_variable":"a"},{"tool":"fs.stat","result_variable":"a"}]}`: "both put their result",
		`{"nodes":[{"tool":"fix","executor":"tool"}]}`:                                                  `no operator "fix"`,
		`{"nodes":[{"tool":"fs.read","executor":"self"}]}`:                                              "is no work for a model",
		`{"nodes":[{"tool":"fs.read","executor":"agent"}]}`:                                             "must be tool or self",
		`{"nodes":[{"tool":"fs.read"}],"policy_gates":[1]}`:                                             "policy_gates names node 1",
		`{"nodes":[{"tool":"fs.read"}],"missing":[1]}`:                                                  "missing must be a string, not number",
		`{"nodes":[],"intent":{"category":"vcs","action":"rename"}}`:                                    "no action \"rename\" in a category \"vcs\"",
	} {
		_, err := intent.DecodeChain([]byte(text))
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", text, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestIntentsReadBackUnchanged(t *testing.T) {
	for _, words := range []string{"rename Foo to Bar", "commit", "hello"} {
		written, err := plan.EncodeJSON(intent.Parse(words))
		if err != nil {
			t.Fatal(err)
		}
		read, err := intent.DecodeIntent(written)
		if err != nil || !reflect.DeepEqual(read, intent.Parse(words)) {
			t.Errorf("%q: %+v (%v)", words, read, err)
		}
	}
	in, err := intent.DecodeIntent([]byte(`{"category":"refactor","action":"rename","target":"foo"}`))
	if err != nil || in.Confidence != 1 || in.Params == nil {
		t.Errorf("%+v: %v", in, err)
	}
	if c := nowhere.Route(in, intent.Policy{}); len(c.Nodes) != 5 || !slices.Equal(c.PolicyGates(), []int{3}) {
		t.Errorf("got %s", draw(c))
	}
	for text, want := range map[string]string{
		`x`:                              "is not JSON",
		`"find X"`:                       "must be an object, not string",
		`{"category":"navigate"}`:        `no action "" in a category "navigate"`,
		`{"category":1,"action":"find"}`: "category must be a string",
		`{"category":"vcs","action":"push","params":{"a":1}}`:      "params must be a string",
		`{"category":"vcs","action":"push","confidence":2}`:        "from 0 to 1",
		`{"category":"vcs","action":"push","confidence":"likely"}`: "must be a number",
	} {
		if _, err := intent.DecodeIntent([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestRouteJSON(t *testing.T) {
	c := nowhere.Route(intent.Parse("rename Foo to Bar"), intent.Policy{})
	data, err := plan.EncodeJSON(c)
	if err != nil {
		t.Fatal(err)
	}
	var route struct {
		Intent struct{ Category string }
		Nodes  []struct {
			Tool string
			Args map[string]any
			Gate bool
		}
		PolicyGates    []int `json:"policy_gates"`
		EstimatedSteps int   `json:"estimated_steps"`
	}
	if err := json.Unmarshal(data, &route); err != nil {
		t.Fatal(err)
	}
	if route.Intent.Category != "refactor" || len(route.Nodes) != 5 || !route.Nodes[3].Gate || route.EstimatedSteps != 5 || !slices.Equal(route.PolicyGates, []int{3}) {
		t.Errorf("%s", data)
	}
	if empty, err := plan.EncodeJSON(intent.Chain{}); err != nil || !strings.Contains(string(empty), `"nodes":[],"policy_gates":[]`) {
		t.Errorf("%s: %v", empty, err)
	}
}
