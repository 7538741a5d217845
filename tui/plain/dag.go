package plain

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

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
	parallelTo := map[string]bool{}
	for _, members := range graph.Batches() {
		for _, m := range members {
			parallelTo[m] = len(members) > 1
		}
	}
	steps := make(map[string]planning.Step, len(p.Steps))
	width := 0
	for _, s := range p.Steps {
		if _, again := steps[s.Index]; !again {
			steps[s.Index] = s
		}
		if w := ansi.StringWidth(label(s)); w <= widest {
			width = max(width, w)
		}
	}
	var b strings.Builder
	for _, index := range graph.Order() {
		s := steps[index]
		text := label(s)
		line := pending + " " + text + strings.Repeat(" ", max(width-ansi.StringWidth(text), 0)) + "  [" + carrier(s) + "]"
		if needs := graph.Dependencies(index); len(needs) > 0 {
			line += "  " + after + untrusted.Line(strings.Join(needs, ", "))
		}
		if parallelTo[index] {
			line += "  " + parallel
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// widest is the longest title that others are aligned with, in cells; one long
// title does not push every tool off the screen.
const widest = 72

// carrier is what carries a step out: its tool, its profile or the model itself.
func carrier(s planning.Step) string {
	if s.Executor == planning.ExecutorAgent && s.Profile != "" {
		return "agent " + untrusted.Line(s.Profile)
	}
	return by(s.Executor, s.Tool)
}

func label(s planning.Step) string { return untrusted.Line(s.Index + ". " + s.Title) }
