package agent_test

import (
	"fmt"
	"strings"
	"testing"

	"replan/agent"
	"replan/planning"
)

// BenchmarkRun plays a plan of n no-op steps, each of which needs one before
// it, through the core alone; the figure is per step.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprintf("steps=%d", n), func(b *testing.B) {
			var steps []string
			for i := 1; i <= n; i++ {
				after := "[]"
				if i > 4 {
					after = fmt.Sprintf(`["%d"]`, i/2)
				}
				steps = append(steps, fmt.Sprintf(`{"index":"%d","title":"Step","tool":"look","args":{"at":%d},"depends_on":%s}`, i, i, after))
			}
			plan := `{"title":"Big","steps":[` + strings.Join(steps, ",") + `]}`
			for b.Loop() {
				w := newWorld(b)
				w.reply = func(r planning.Request) (string, error) {
					if r.Purpose == planning.PurposePlan {
						return plan, nil
					}
					return "done", nil
				}
				start := started(agent.Limits{MaxConcurrency: 4})
				start.Prompting.MaxTokens = 1 << 20
				if got := w.play(start); got.Reason != agent.ReasonGoalMet {
					b.Fatalf("%s: %s", got.Reason, got.Error)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/step")
		})
	}
}
