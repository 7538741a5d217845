package plan_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/planning/plantest"
)

// benchPlan returns a plan of n steps in one of several shapes, with references
// in the args of every second step.
func benchPlan(shape string, n int) plan.Plan {
	p := plan.Plan{Title: untrusted.Text(shape), Goal: untrusted.Text(shape), Variables: map[string]any{"root": "src"}}
	p.Steps = make([]plan.Step, n)
	for i := range n {
		tool := "tool." + strconv.Itoa(i%40)
		if i%5 == 0 {
			tool = "one:" + tool
		}
		s := plan.Step{
			Index: strconv.Itoa(i + 1), Title: untrusted.Text("Step " + strconv.Itoa(i+1)), Executor: plan.ExecutorTool, Tool: tool,
			Args: map[string]any{"path": "${root}/file" + strconv.Itoa(i) + ".go", "lines": json.Number("10")}, ResultVariable: "r" + strconv.Itoa(i+1),
		}
		dependOn := func(i int) { s.DependsOn = append(s.DependsOn, strconv.Itoa(i+1)) }
		switch shape {
		case "chain": // each step after the one before
			if i > 0 {
				dependOn(i - 1)
			}
		case "fan": // the first step feeds all, all feed the last
			switch {
			case i == n-1:
				for j := range i {
					dependOn(j)
				}
			case i > 0:
				dependOn(0)
			}
		case "layers": // each of ten steps on three of the ten before, one of them by its result
			if base := (i/10 - 1) * 10; base >= 0 {
				dependOn(base + i%10)
				dependOn(base + (i+3)%10)
				s.Args["text"] = fmt.Sprintf("see ${r%d.lines[0]} and $${that}", base+(i+7)%10+1)
			}
		}
		p.Steps[i] = s
	}
	return p
}

var (
	benchShapes = []string{"chain", "fan", "layers"}
	benchSizes  = []int{10_000, 100_000}
)

// BenchmarkCheckPlan does the work of `plan check`. The target is at most 50 ms
// for 10,000 steps, and ten times as much for 100,000.
func BenchmarkCheckPlan(b *testing.B) {
	rules := plan.Rules{CheckTools: true, Catalog: plantest.Wide()}
	for _, shape := range benchShapes {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				data, err := plan.EncodeJSON(benchPlan(shape, n))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, faults, _ := plan.CheckPlan(data, rules); len(faults) > 0 {
						b.Fatal(faults[0])
					}
				}
			})
		}
	}
}

// BenchmarkGraph builds the graph of a plan and computes everything that the
// display and the scheduler use.
func BenchmarkGraph(b *testing.B) {
	for _, shape := range benchShapes {
		for _, n := range benchSizes {
			b.Run(fmt.Sprintf("%s/%d", shape, n), func(b *testing.B) {
				p := benchPlan(shape, n)
				b.ReportAllocs()
				for b.Loop() {
					g := plan.NewGraph(p)
					if len(g.Batches()) == 0 || len(g.CriticalPath(one)) == 0 || len(g.Weights(one)) != n || len(g.Order()) != n {
						b.Fatal("the graph is incomplete")
					}
				}
			})
		}
	}
}

// BenchmarkCheckPlanFullOfFaults checks a plan with cycles, unknown names and bad
// args in every step: reporting them must not become quadratic.
func BenchmarkCheckPlanFullOfFaults(b *testing.B) {
	rules := plan.Rules{CheckTools: true, Catalog: plantest.Wide()}
	for _, n := range benchSizes {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			p := benchPlan("layers", n)
			for i := range p.Steps {
				s := &p.Steps[i]
				switch i % 4 {
				case 0:
					s.Tool = "no.such"
				case 1:
					s.Args = map[string]any{"path": "${nope}", "lines": "many"}
				case 2:
					s.DependsOn = append(s.DependsOn, "x"+strconv.Itoa(i))
				case 3: // waits for a step that waits for it
					s.DependsOn = append(s.DependsOn, strconv.Itoa(min(i+11, n)))
				}
			}
			data, err := plan.EncodeJSON(p)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, faults, _ := plan.CheckPlan(data, rules); len(faults) < n/2 {
					b.Fatal("faults are missing")
				}
			}
		})
	}
}

// BenchmarkFit fits long lists of texts to numbers. The target for 1,600 items is
// well under 100 ms, also if some items do not fit.
func BenchmarkFit(b *testing.B) {
	for name, items := range map[string]string{
		"list":          `{"type":"array","items":{"type":"integer"}}`,
		"optional list": `{"anyOf":[{"type":"array","items":{"type":"integer"}},{"type":"null"}]}`,
		"optional item": `{"type":"array","items":{"anyOf":[{"type":"integer"},{"type":"null"}]}}`,
		"bad items":     `{"type":"array","items":{"type":"integer","maximum":99}}`,
		"unique items":  `{"type":"array","items":{"type":"integer"},"uniqueItems":true}`,
	} {
		for _, n := range []int{100, 1_600} {
			b.Run(name+"/"+strconv.Itoa(n), func(b *testing.B) {
				signature, err := plan.NewSignature(plan.Tool{Name: "it", InputSchema: json.RawMessage(`{"type":"object","properties":{"v":` + items + `}}`)})
				if err != nil {
					b.Fatal(err)
				}
				list := make([]any, n)
				for i := range list {
					list[i] = strconv.Itoa(i)
				}
				if name == "unique items" {
					list[0] = list[1]
				}
				for b.Loop() {
					if _, coercions := signature.Coerce(map[string]any{"v": list}); len(coercions) == 0 {
						b.Fatal("nothing is fitted")
					}
				}
			})
		}
	}
}

// BenchmarkResolveEscapes resolves a text full of escapes before one brace: the
// time per byte must not grow with the length.
func BenchmarkResolveEscapes(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			text := strings.Repeat("$${", n) + "}"
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := plan.Resolve(text, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkManyDependencies reports the memory for a plan whose steps have a hundred
// dependencies each.
func BenchmarkManyDependencies(b *testing.B) {
	p := plan.Plan{Title: "T"}
	for i := range 2000 {
		step := plan.Step{Index: strconv.Itoa(i), Title: "s", Tool: "t"}
		for j := max(0, i-100); j < i; j++ {
			step.DependsOn = append(step.DependsOn, strconv.Itoa(j))
		}
		p.Steps = append(p.Steps, step)
	}
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := p.MarshalJSON(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("graph", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			_ = plan.NewGraph(p)
		}
	})
}
