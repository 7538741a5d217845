package layout_test

import (
	"fmt"
	"testing"

	"replan/planning/plan/layout"
)

// BenchmarkRails lays out rails and draws every row, one lit. Ten times the steps must not take
// much more than ten times as long.
func BenchmarkRails(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		fork, join, hubs := make(layout.Graph, n), make(layout.Graph, n), make(layout.Graph, n)
		for i := range n - 1 {
			fork[i+1] = []int{0}
			join[n-1] = append(join[n-1], i)
			for hub := range 20 {
				if i+1 >= 20 {
					hubs[i+1] = append(hubs[i+1], hub)
				}
			}
		}
		shapes := map[string]layout.Graph{"a fork": fork, "a join": join, "twenty hubs": hubs}
		for _, shared := range []string{"chain", "fan"} {
			shapes[shared] = benchGraphs(n)[shared]
		}
		for name, g := range shapes {
			b.Run(fmt.Sprintf("%s of %d", name, n), func(b *testing.B) {
				for b.Loop() {
					r := layout.NewRails(g, 8)
					lit := r.Light(func(from, _ int) bool { return from == 0 })
					for node := range g {
						r.Row(node)
						r.Below(node)
						lit.Row(node)
						lit.Below(node)
					}
				}
			})
		}
	}
}
