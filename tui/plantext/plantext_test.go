package plantext_test

import (
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/charmbracelet/x/exp/golden"

	"replan/internal/untrusted"
	"replan/planning/plan"
	"replan/tui/plantext"
)

// twelve is a plan whose indices have one digit and two, listed out of order.
func twelve() plan.Plan {
	p := plan.Plan{Title: "Twelve"}
	for _, i := range []int{10, 1, 12, 2, 3, 4, 11, 5, 6, 7, 8, 9} {
		s := plan.Step{Index: strconv.Itoa(i), Title: untrusted.Text("Step " + strconv.Itoa(i)), Executor: plan.ExecutorTool, Tool: "look"}
		if i > 1 {
			s.DependsOn = []string{strconv.Itoa(i / 2)}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

func TestPlanAsText(t *testing.T) {
	diamond := plan.Plan{Title: "Diamond", Steps: []plan.Step{
		{Index: "1", Title: "Fetch data", Executor: plan.ExecutorTool, Tool: "fetch", ResultVariable: "data"},
		{Index: "2", Title: "Validate the schema", Executor: plan.ExecutorTool, Tool: "validate", Args: map[string]any{"in": "${data}"}},
		{Index: "3", Title: "Transform", Executor: plan.ExecutorTool, Tool: "web:transform", DependsOn: []string{"1"}},
		{Index: "4", Title: "Aggregate", Executor: plan.ExecutorTool, Tool: "aggregate", DependsOn: []string{"2", "3"}},
	}}
	models := plan.Plan{Title: "Models", Steps: []plan.Step{
		{Index: "read", Title: "Read", Executor: plan.ExecutorTool, Tool: "fs.read"},
		{Index: "fix", Title: "Fix the bug", Executor: plan.ExecutorAgent, Profile: "coder", DependsOn: []string{"read"}},
		{Index: "tell", Title: "Say what was done", Executor: plan.ExecutorSelf, DependsOn: []string{"fix"}},
	}}
	hostile := plan.Plan{Title: "Hostile", Steps: []plan.Step{
		{Index: "1", Title: "\x1b[2J\x1b]0;owned\a clear", Executor: plan.ExecutorTool, Tool: "a\r\x1b[31mb"},
		{Index: "2", Title: "two\nlines\tand \u202ereversed\u200b", Executor: plan.ExecutorTool, Tool: "t", DependsOn: []string{"1"}},
		{Index: "x\u009b\u2066", Title: "✓ 3. forged", Executor: "ag\x1bent", DependsOn: []string{"1", "2"}},
	}}
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		ascii bool
	}{
		{name: "diamond", plan: diamond},
		{name: "diamond in ascii", plan: diamond, ascii: true},
		{name: "numeric order", plan: twelve()},
		{name: "model steps name their executor", plan: models},
		{name: "hostile text is escaped", plan: hostile},
		{name: "plan without steps", plan: plan.Plan{Title: "Empty"}},
	} {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			got := plantext.Plan(tt.plan, tt.ascii)
			golden.RequireEqual(t, got)
			if lines := strings.Count(got, "\n"); lines != len(tt.plan.Steps) {
				t.Errorf("%d lines for %d steps", lines, len(tt.plan.Steps))
			}
			for _, r := range got {
				if r != '\n' && !unicode.IsPrint(r) || tt.ascii && r > unicode.MaxASCII {
					t.Errorf("%q is in the text", r)
				}
			}
		})
	}
}
