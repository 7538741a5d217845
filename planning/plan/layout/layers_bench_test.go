package layout_test

import (
	"math/rand"
	"testing"

	"replan/planning/plan/layout"
)

// benchGraphs returns graphs of n steps by their shape.
func benchGraphs(n int) map[string]layout.Graph {
	random := rand.New(rand.NewSource(1))
	graphs := map[string]layout.Graph{}
	deps := func(name string, of func(i int) []int) {
		g := make(layout.Graph, n)
		for i := range g {
			g[i] = of(i)
		}
		graphs[name] = g
	}
	deps("chain", func(i int) []int {
		if i == 0 {
			return nil
		}
		return []int{i - 1}
	})
	deps("fan", func(i int) []int {
		switch {
		case i == 0:
			return nil
		case i < n-1:
			return []int{0}
		}
		all := make([]int, 0, n)
		for j := 1; j < i; j++ {
			all = append(all, j)
		}
		return all
	})
	deps("sparse", func(i int) []int {
		var d []int
		for range min(i, 1+random.Intn(2)) {
			d = append(d, max(0, i-1-random.Intn(20)))
		}
		return d
	})
	deps("dense", func(i int) []int {
		var d []int
		for range min(i, 3+random.Intn(3)) {
			d = append(d, max(0, i-8-random.Intn(40)))
		}
		if i < 8 {
			return nil
		}
		return d
	})
	return graphs
}

// BenchmarkLayered lays out 200 steps.
func BenchmarkLayered(b *testing.B) {
	for name, g := range benchGraphs(200) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				layout.Layered(g, specs["line, down"])
			}
		})
	}
}
