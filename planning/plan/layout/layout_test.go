package layout_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"replan/planning/plan"
	"replan/planning/plan/layout"
)

// randomGraph draws a graph with at most that many nodes.
func randomGraph(t *rapid.T, most int) layout.Graph {
	n := rapid.IntRange(1, most).Draw(t, "nodes")
	g := make(layout.Graph, n)
	for i := 1; i < n; i++ {
		g[i] = rapid.SliceOfN(rapid.IntRange(max(0, i-12), i-1), 0, 4).Draw(t, "deps")
	}
	return g
}

func reaches(g layout.Graph, from, to int) bool {
	for _, d := range g[to] {
		if d == from || d > from && reaches(g, from, d) {
			return true
		}
	}
	return false
}

func TestReduceKeepsReachabilityWithoutImpliedEdges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t, 14)
		reduced := g.Reduce()
		for to := range g {
			for from := range to {
				if reaches(g, from, to) != reaches(reduced, from, to) {
					t.Fatalf("%v reduces to %v: the path from %d to %d differs", g, reduced, from, to)
				}
			}
			for n, d := range reduced[to] {
				without := slices.Clone(reduced)
				without[to] = slices.Delete(slices.Clone(reduced[to]), n, n+1)
				if reaches(without, d, to) {
					t.Fatalf("%v reduces to %v: the edge from %d to %d is implied", g, reduced, d, to)
				}
			}
		}
	})
}

func TestStepsOfCycleComeLast(t *testing.T) {
	p := plan.Plan{Steps: []plan.Step{
		{Index: "1", DependsOn: []string{"2"}},
		{Index: "2", DependsOn: []string{"1"}},
		{Index: "3"},
	}}
	graph := plan.NewGraph(p)
	order := layout.Order(graph)
	if !slices.Equal(order, []int{2, 0, 1}) {
		t.Fatalf("got the order %v", order)
	}
	g := layout.OfPlan(graph, order)
	if len(g[1]) != 0 || !slices.Equal(g[2], []int{1}) {
		t.Errorf("got the dependencies %v", g)
	}
}
