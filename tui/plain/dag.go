package plain

import (
	"fmt"
	"strings"

	"replan/planning"
	"replan/tui/untrusted"
)

// Plan draws a plan as lines of text in execution order:
//
//	○ 1. Title   [tool]  ← after: 1, 2  ∥
//
// ∥ marks steps that may run at the same time as another one.
func Plan(p planning.Plan, ascii bool) string {
	pending, after, parallel := "○", "← after: ", "∥"
	if ascii {
		pending, after, parallel = "o", "<- after: ", "||"
	}
	graph := planning.NewGraph(p)
	batch := map[string]int{}
	for _, members := range graph.Batches() {
		for _, m := range members {
			batch[m] = len(members)
		}
	}
	width := 0
	for _, s := range p.Steps {
		width = max(width, len([]rune(label(s))))
	}
	var b strings.Builder
	for _, index := range graph.Order() {
		s, _ := p.Step(index)
		line := fmt.Sprintf("%s %-*s  [%s]", pending, width, label(s), by(s.Executor, s.Tool))
		if needs := graph.Dependencies(index); len(needs) > 0 {
			line += "  " + after + untrusted.Line(strings.Join(needs, ", "))
		}
		if batch[index] > 1 {
			line += "  " + parallel
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

func label(s planning.Step) string { return untrusted.Line(s.Index + ". " + s.Title) }
