package plan_test

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"

	"pgregory.net/rapid"
)

// graphOf builds a plan from lines such as "3: 1 2 $x =y": step 3 depends on 1
// and 2, refers to ${x} and puts its result into y.
func graphOf(lines ...string) plan.Plan {
	p := plan.Plan{Title: "p"}
	for _, line := range lines {
		index, rest, _ := strings.Cut(line, ":")
		s := plan.Step{Index: index, Title: untrusted.Text("step " + index), Executor: plan.ExecutorSelf}
		for _, word := range strings.Fields(rest) {
			switch word[0] {
			case '$':
				if s.Args == nil {
					s.Args = map[string]any{}
				}
				s.Args["a"+strconv.Itoa(len(s.Args))] = "${" + word[1:] + "}"
			case '=':
				s.ResultVariable = word[1:]
			default:
				s.DependsOn = append(s.DependsOn, word)
			}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func one(plan.Step) float64 { return 1 }

// batchText formats batches as "1 | 2 3 | 4".
func batchText(batches [][]string) string {
	var groups []string
	for _, b := range batches {
		groups = append(groups, strings.Join(b, " "))
	}
	return strings.Join(groups, " | ")
}

func TestGraph(t *testing.T) {
	for _, tt := range []struct {
		name                      string
		plan                      plan.Plan
		order, batches, path, cut string
	}{
		{"a diamond", graphOf("1:", "2: 1", "3: 1", "4: 2 3"), "1 2 3 4", "1 | 2 3 | 4", "1 2 4", ""},
		{"numeric order", graphOf("10:", "9:", "2:"), "2 9 10", "2 9 10", "2", ""},
		{"dotted indices", graphOf("5.10:", "5.2:", "5:"), "5 5.2 5.10", "5 5.2 5.10", "5", ""},
		{"words keep their order", graphOf("write:", "read:", "check: read"), "write read check", "write read | check", "read check", ""},
		{"numbers come before words", graphOf("b:", "2:", "a:", "1:"), "1 2 b a", "1 2 b a", "1", ""},
		{"reference to a result", graphOf("1: $x", "2: =x"), "2 1", "2 | 1", "2 1", ""},
		{"reference and dependency on one step", graphOf("1: =x", "2: 1 $x $x.f"), "1 2", "1 | 2", "1 2", ""},
		{"variable of no step", graphOf("1: $given"), "1", "1", "1", ""},
		{"step starts when it is ready", graphOf("1: 3", "2:", "3:"), "2 3 1", "2 3 | 1", "3 1", ""},
		{"batch in numeric order", graphOf("0:", "2: 0", "7:", "1: 7"), "0 2 7 1", "0 7 | 1 2", "0 2", ""},
		{"an empty plan", graphOf(), "", "", "", ""},
		{"unknown dependency", graphOf("1: 9"), "1", "1", "1", ""},
		{"dependency on itself", graphOf("1: 1 $x =x"), "1", "1", "1", ""},
		{"repeated index", graphOf("1:", "1: 2", "2: 1"), "1 2", "1 | 2", "1 2", ""},
		{"cycle with dependents", graphOf("1:", "2: 1 3", "3: 2", "4: 3", "5:"), "1 5", "1 5", "1", "2 3"},
		{"a cycle through a variable", graphOf("1: 2 =x", "2: $x"), "", "", "", "1 2"},
		{"shortest cycle through its first step", graphOf("1: 2", "2: 3 1", "3: 1"), "", "", "", "1 2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			g := plan.NewGraph(tt.plan)
			for _, check := range []struct{ name, got, want string }{
				{"order", strings.Join(g.Order(), " "), tt.order},
				{"batches", batchText(g.Batches()), tt.batches},
				{"critical path", strings.Join(g.CriticalPath(one), " "), tt.path},
				{"cycle", strings.Join(g.Cycle(), " "), tt.cut},
			} {
				if check.got != check.want {
					t.Errorf("%s: got %q, want %q", check.name, check.got, check.want)
				}
			}
		})
	}
}

func TestChecksMakeDependencies(t *testing.T) {
	p := mustPlan(t, `{"title":"T","variables":{"given":1},"steps":[
		{"title":"a","tool":"t","args":{},"result_variable":"x","check":[{"expect":"x.ok and result.n > given and args.b == x.b"}]},
		{"title":"b","tool":"t","args":{},"check":[{"expect":"result.ok"},{"expect":"result.n == y.n"}]},
		{"title":"c","tool":"t","args":{},"result_variable":"y","check":{"tool":"t","args":{"path":"${x.path}","by":"${item}"},"expect":"result.item == 1"}},
		{"title":"d","tool":"t","args":{},"result_variable":"item","check":{"expect":"(y"}}],"acceptance":[{"expect":"x.ok and y.ok"}]}`)
	g := plan.NewGraph(p)
	for index, want := range map[string]string{"1": "", "2": "3", "3": "1 4", "4": ""} {
		if got := strings.Join(g.Dependencies(index), " "); got != want {
			t.Errorf("step %s depends on %q, want %q", index, got, want)
		}
	}
	p.Steps[0].Checks = append(p.Steps[0].Checks, plan.Check{Expect: "result.n == y.n"})
	p.Steps[3].Checks = nil
	faults, _ := plan.Validate(p, plan.Rules{})
	if len(faults) != 1 || faults[0].Code != plan.CodeCycle || !slices.Equal(faults[0].Members, []string{"1", "3"}) {
		t.Errorf("got %v", faults)
	}
}

func TestGraphAnswersAboutOneStep(t *testing.T) {
	g := plan.NewGraph(graphOf("10: 2", "2: 1 1 =x", "1:", "3: 10 $x 1 2", "a: b", "b: a"))
	names := func(set map[string]bool) []string {
		return slices.SortedFunc(maps.Keys(set), plan.CompareIndices)
	}
	for _, check := range []struct {
		name      string
		got, want []string
	}{
		{"dependencies in numeric order", g.Dependencies("3"), []string{"1", "2", "10"}},
		{"dependents in numeric order", g.Dependents("2"), []string{"3", "10"}},
		{"dependents once", g.Dependents("1"), []string{"2", "3"}},
		{"ancestors", names(g.Ancestors("10")), []string{"1", "2"}},
		{"descendants", names(g.Descendants("1")), []string{"2", "3", "10"}},
		{"the first step depends on nothing", g.Dependencies("1"), nil},
		{"an unknown step depends on nothing", g.Dependencies("7"), nil},
		{"nothing depends on an unknown step", g.Dependents("7"), nil},
		{"a step is not its own ancestor, even on a cycle", names(g.Ancestors("a")), []string{"b"}},
		{"an unknown step has no ancestors", names(g.Ancestors("7")), nil},
	} {
		if !slices.Equal(check.got, check.want) {
			t.Errorf("%s: got %q, want %q", check.name, check.got, check.want)
		}
	}
}

func TestLongestIsHeaviestPathToEnd(t *testing.T) {
	g := plan.NewGraph(graphOf("1:", "2: 1", "3: 1", "4: 2 3", "5: 6", "6: 5"))
	weights := map[string]float64{"1": 1, "2": 10, "3": 3, "4": 0.5}
	weight := func(s plan.Step) float64 { return weights[s.Index] }
	if got, want := g.Longest(weight), map[string]float64{"1": 11.5, "2": 10.5, "3": 3.5, "4": 0.5}; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	weights["3"] = 30
	if got := g.CriticalPath(weight); !slices.Equal(got, []string{"1", "3", "4"}) {
		t.Errorf("critical path: got %q", got)
	}
}

func TestCompareIndices(t *testing.T) {
	inOrder := []string{"0", "1", "2", "2.0", "2.9", "2.10", "2.10.1", "2.x", "10", "99999999999999999999", "100000000000000000000", "a", "a.1", "a.b", "b"}
	for i, a := range inOrder {
		for j, b := range inOrder {
			got := plan.CompareIndices(a, b)
			if (got < 0) != (i < j) || (got > 0) != (i > j) {
				t.Errorf("CompareIndices(%q, %q) = %d", a, b, got)
			}
		}
	}
	if plan.CompareIndices("01", "1") == 0 {
		t.Error("different indices are never equal")
	}
	if plan.CompareIndices("01", "2") >= 0 {
		t.Error("a leading zero makes a number larger")
	}
}

// drawDAG draws a valid plan whose dependencies point to earlier steps, and
// shuffles it.
func drawDAG(t *rapid.T) plan.Plan {
	n := rapid.IntRange(1, 12).Draw(t, "steps")
	p := plan.Plan{Title: "p"}
	for i := range n {
		s := plan.Step{Index: strconv.Itoa(i + 1), Title: "s", Executor: plan.ExecutorSelf}
		if rapid.Bool().Draw(t, "defines") {
			s.ResultVariable = fmt.Sprintf("r%d", i+1)
		}
		for j := range i {
			switch rapid.IntRange(0, 6).Draw(t, "edge") {
			case 0:
				s.DependsOn = append(s.DependsOn, strconv.Itoa(j+1))
			case 1:
				if name := p.Steps[j].ResultVariable; name != "" {
					s.Args = map[string]any{"in": []any{"see ${" + name + "}"}}
				}
			case 2:
				if name := p.Steps[j].ResultVariable; name != "" {
					s.Checks = append(s.Checks,
						plan.Check{Tool: "fs.read", Args: map[string]any{"path": "${" + name + "}"}, Expect: "result.ok"},
						plan.Check{Tool: "fs.read", Args: map[string]any{"path": "a"}, Expect: "result.ok and " + name + " != nil"},
					)
				}
			}
		}
		p.Steps = append(p.Steps, s)
	}
	p.Steps = rapid.Permutation(p.Steps).Draw(t, "order")
	return p
}

func TestOrderAndBatchesRespectDependencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDAG(t)
		g := plan.NewGraph(p)
		if c := g.Cycle(); c != nil {
			t.Fatalf("got the cycle %v in a DAG", c)
		}
		place := make(map[string]int)
		for i, index := range g.Order() {
			place[index] = i
		}
		batch := make(map[string]int)
		members := 0
		for i, indices := range g.Batches() {
			if len(indices) == 0 {
				t.Fatal("got an empty batch")
			}
			for _, index := range indices {
				batch[index] = i
				members++
			}
		}
		if len(place) != len(p.Steps) || len(batch) != len(p.Steps) || members != len(p.Steps) {
			t.Fatalf("got %d steps, %d in the order and %d in batches", len(p.Steps), len(place), members)
		}
		for _, s := range p.Steps {
			latest := -1
			for _, index := range g.Dependencies(s.Index) {
				if place[index] >= place[s.Index] {
					t.Fatalf("%s comes before its dependency %s", s.Index, index)
				}
				latest = max(latest, batch[index])
				if !g.Ancestors(s.Index)[index] || !g.Descendants(index)[s.Index] {
					t.Fatalf("%s depends on %s, but is not related to it", s.Index, index)
				}
			}
			if batch[s.Index] != latest+1 {
				t.Fatalf("%s is in batch %d, its last dependency in %d", s.Index, batch[s.Index], latest)
			}
		}
	})
}

func TestLongestIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDAG(t)
		weights := make(map[string]float64)
		for _, s := range p.Steps {
			weights[s.Index] = float64(rapid.IntRange(0, 50).Draw(t, "weight"))
		}
		weight := func(s plan.Step) float64 { return weights[s.Index] }
		g := plan.NewGraph(p)
		longest := g.Longest(weight)
		heaviest := 0.0
		for _, s := range p.Steps {
			heaviest = max(heaviest, longest[s.Index])
			for _, index := range g.Dependencies(s.Index) {
				if longest[index] < longest[s.Index]+weights[index] {
					t.Fatalf("%s weighs less than its path through %s", index, s.Index)
				}
			}
		}
		sum := 0.0
		path := g.CriticalPath(weight)
		for i, index := range path {
			sum += weights[index]
			if i > 0 && !slices.Contains(g.Dependencies(index), path[i-1]) {
				t.Fatalf("%v is not a path", path)
			}
		}
		if sum != heaviest {
			t.Fatalf("the critical path weighs %v, want %v", sum, heaviest)
		}
	})
}

func TestPositionsAndIndicesAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawDAG(t)
		if rapid.Bool().Draw(t, "an index twice") {
			p.Steps = append(p.Steps, plan.Step{Index: p.Steps[0].Index, Title: "again"})
		}
		g := plan.NewGraph(p)
		if g.Len() != countIndices(p) {
			t.Fatalf("%d steps, want %d", g.Len(), countIndices(p))
		}
		longest, weights := g.Longest(one), g.Weights(one)
		named := func(positions []int) []string {
			var names []string
			for _, i := range positions {
				names = append(names, p.Steps[i].Index)
			}
			return names
		}
		for i := range g.Len() {
			index := p.Steps[i].Index
			if at, ok := g.Position(index); !ok || at != i {
				t.Fatalf("step %s: got position %d, want %d", index, i, at)
			}
			if !slices.Equal(named(g.Needs(i)), g.Dependencies(index)) || !slices.Equal(named(g.Feeds(i)), g.Dependents(index)) {
				t.Fatalf("step %s: by position needs %v, feeds %v; by index %v and %v", index, g.Needs(i), g.Feeds(i), g.Dependencies(index), g.Dependents(index))
			}
			if weights[i] != longest[index] {
				t.Fatalf("step %s weighs %v by position but %v by index", index, weights[i], longest[index])
			}
		}
		if _, ok := g.Position("nowhere"); ok {
			t.Fatal("a step that does not exist has a position")
		}
	})
}

func TestGraphNeverPanics(t *testing.T) {
	word := rapid.StringMatching(`[$=]?[1-6ax.]{0,2}`)
	rapid.Check(t, func(t *rapid.T) {
		var lines []string
		for range rapid.IntRange(0, 6).Draw(t, "steps") {
			lines = append(lines, word.Draw(t, "index")+": "+strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "words"), " "))
		}
		p := graphOf(lines...)
		g := plan.NewGraph(p)
		seen := make(map[string]bool)
		for _, index := range g.Order() {
			if seen[index] {
				t.Fatalf("%s is in the order twice", index)
			}
			seen[index] = true
		}
		if cycle := g.Cycle(); (cycle == nil) != (len(seen) == countIndices(p)) {
			t.Fatalf("cycle %v, order %v, plan %v", cycle, g.Order(), lines)
		} else {
			for i, index := range cycle {
				if next := cycle[(i+1)%len(cycle)]; !slices.Contains(g.Dependencies(index), next) {
					t.Fatalf("%v: %s does not depend on %s", cycle, index, next)
				}
			}
		}
		g.Batches()
		g.CriticalPath(one)
		plan.Validate(p, plan.Rules{})
	})
}

func countIndices(p plan.Plan) int {
	indices := make(map[string]bool)
	for _, s := range p.Steps {
		indices[s.Index] = true
	}
	return len(indices)
}

// widePlan returns n steps in layers of ten; each depends on three steps of the
// previous layer, one of them through a variable.
func widePlan(n int) plan.Plan {
	p := plan.Plan{Title: "wide"}
	for i := range n {
		s := plan.Step{
			Index: strconv.Itoa(i + 1), Title: "s", Executor: plan.ExecutorTool, Tool: "fs.read",
			Args: map[string]any{"path": "some/file.go"}, ResultVariable: "r" + strconv.Itoa(i+1),
		}
		if base := (i/10 - 1) * 10; base >= 0 {
			s.DependsOn = []string{strconv.Itoa(base + i%10 + 1), strconv.Itoa(base + (i+3)%10 + 1)}
			s.Args["text"] = "see ${r" + strconv.Itoa(base+(i+7)%10+1) + ".lines[0]}"
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func BenchmarkGraph1000(b *testing.B) {
	p := widePlan(1000)
	for b.Loop() {
		g := plan.NewGraph(p)
		g.Order()
		g.Longest(one)
	}
}

func BenchmarkValidate1000(b *testing.B) {
	p := widePlan(1000)
	for b.Loop() {
		if faults, _ := plan.Validate(p, plan.Rules{}); len(faults) > 0 {
			b.Fatal(plan.FaultError(faults))
		}
	}
}
