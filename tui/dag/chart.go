package dag

import (
	"slices"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"replan/agent"
	"replan/planning/plan"
	planlayout "replan/planning/plan/layout"
	"replan/tui/wording"
)

// chart holds the steps of a plan as a graph, by position in execution order.
// It changes only with the plan, never with step status.
type chart struct {
	Steps  []*agent.StepState
	at     map[string]int   // step index → position
	deps   [][]int          // dependencies of each position
	feeds  [][]int          // dependents of each position
	before []planlayout.Set // all transitive dependencies
	places []int            // position of each step in run.Steps

	fans   [][]int // siblings with the same tool and the same dependencies
	fan    []int   // index into fans, -1 for none
	part   []int   // milestone of each step, -1 for none
	parts  []string
	agents []int // steps with rows of their own below them: those of agents, and with items

	widths textWidths // of its steps
}

// textWidths are the widths of the longest title, tool name and index of steps, in cells.
type textWidths struct{ title, tool, index int }

// with returns the widths with those of another step.
func (w textWidths) with(title, tool, index int) textWidths {
	return textWidths{max(w.title, title), max(w.tool, tool), max(w.index, index)}
}

// withStep returns the widths with those of a step.
func (w textWidths) withStep(s *agent.StepState) textWidths {
	return w.with(ansi.StringWidth(s.Step.Title.Line()), ansi.StringWidth(wording.StepTool(&s.Step)), ansi.StringWidth(s.Step.Name()))
}

// position returns the position of the step with an index.
func (c *chart) position(index string) (i int, known bool) {
	i, known = c.at[index]
	return i, known
}

// dependencies returns the direct dependencies of a step.
func (c *chart) dependencies(i int) []int { return c.deps[i] }

// dependents returns the steps that depend on a step directly.
func (c *chart) dependents(i int) []int { return c.feeds[i] }

// ancestors returns all steps that a step depends on.
func (c *chart) ancestors(i int) planlayout.Set { return c.before[i] }

// textWidths returns the widths of the texts of its steps.
func (c *chart) textWidths() textWidths { return c.widths }

// allFans returns the fan-outs, each as the steps in it.
func (c *chart) allFans() [][]int { return c.fans }

// fanOf returns the steps of the fan-out of a step, nil for none.
func (c *chart) fanOf(i int) []int {
	if c.fan[i] < 0 {
		return nil
	}
	return c.fans[c.fan[i]]
}

// milestone returns the number of the milestone of a step, -1 for none, and its title.
func (c *chart) milestone(i int) (number int, title string) {
	if c.part[i] < 0 {
		return -1, ""
	}
	return c.part[i], c.parts[c.part[i]]
}

// withInner returns the steps that may have rows of their own below them: those of agents, and
// with items.
func (c *chart) withInner() []int { return c.agents }

// newChart builds the chart of a run's steps.
func newChart(run *agent.Run) *chart {
	proposed := run.Plan
	proposed.Steps = make([]plan.Step, len(run.Steps))
	place := make(map[string]int, len(run.Steps))
	for i, s := range run.Steps {
		proposed.Steps[i] = s.Step
		place[s.Step.Index] = i
	}
	graph := plan.NewGraph(proposed)
	order := executionOrder(graph, proposed)
	n := len(order)
	c := &chart{
		at: make(map[string]int, n), Steps: make([]*agent.StepState, n), places: make([]int, n),
		deps: make([][]int, n), feeds: make([][]int, n), before: make([]planlayout.Set, n),
	}
	for i, index := range order {
		c.at[index] = i
		c.places[i] = place[index]
		c.Steps[i] = run.Steps[place[index]]
	}
	for i, index := range order {
		all := planlayout.NewSet(n)
		for _, d := range graph.Dependencies(index) {
			// A draft may contain cycles, so some dependencies come later.
			if p, ok := c.at[d]; ok && p < i {
				c.deps[i] = append(c.deps[i], p)
				c.feeds[p] = append(c.feeds[p], i)
				all.Union(c.before[p])
				all.Add(p)
			}
		}
		c.before[i] = all
		s := c.Steps[i]
		c.widths = c.widths.withStep(s)
		if s.Step.Executor == plan.ExecutorAgent || s.Step.ForEach != nil {
			c.agents = append(c.agents, i)
		}
	}
	c.findFans()
	c.findParts(proposed.Milestones)
	return c
}

// executionOrder returns every step of the plan once. Steps missing from the
// graph, as in an incomplete draft, come last.
func executionOrder(graph *plan.Graph, plan plan.Plan) []string {
	order := graph.Order()
	seen := make(map[string]bool, len(plan.Steps))
	for _, index := range order {
		seen[index] = true
	}
	for _, s := range plan.Steps {
		if !seen[s.Index] {
			seen[s.Index] = true
			order = append(order, s.Index)
		}
	}
	return order
}

// fanLeast is the minimum number of siblings in a fan-out.
const fanLeast = 3

// findFans finds steps with the same tool and the same dependencies, level by
// level. Dependencies on different steps of one fan-out count as the same, so a
// fan-out of whole chains becomes a chain of fan-outs.
func (c *chart) findFans() {
	n := len(c.Steps)
	depth, deepest := make([]int, n), -1
	for i := range n {
		for _, d := range c.deps[i] {
			depth[i] = max(depth[i], depth[d]+1)
		}
		deepest = max(deepest, depth[i])
	}
	levels := make([][]int, deepest+1)
	for i := range n {
		levels[depth[i]] = append(levels[depth[i]], i)
	}
	c.fan = make([]int, n)
	for i := range c.fan {
		c.fan[i] = -1
	}
	for _, level := range levels {
		if len(level) < fanLeast {
			continue
		}
		alike := make(map[string][]int)
		var names []string
		for _, i := range level {
			name := c.likeness(i)
			if _, known := alike[name]; !known {
				names = append(names, name)
			}
			alike[name] = append(alike[name], i)
		}
		for _, name := range names {
			if members := alike[name]; len(members) >= fanLeast {
				for _, i := range members {
					c.fan[i] = len(c.fans)
				}
				c.fans = append(c.fans, members)
			}
		}
	}
}

// likeness returns a key made of a step's tool and its dependencies. Any step
// of a fan-out counts as the fan-out itself.
func (c *chart) likeness(i int) string {
	ids := make([]int, 0, len(c.deps[i]))
	for _, d := range c.deps[i] {
		if f := c.fan[d]; f >= 0 {
			ids = append(ids, -1-f)
		} else {
			ids = append(ids, d)
		}
	}
	slices.Sort(ids)
	var b strings.Builder
	b.WriteString(wording.StepTool(&c.Steps[i].Step))
	for k, id := range ids {
		if k == 0 || id != ids[k-1] {
			b.WriteByte(' ')
			b.WriteString(strconv.Itoa(id))
		}
	}
	return b.String()
}

// findParts records the milestone of each step.
func (c *chart) findParts(milestones []plan.Milestone) {
	c.part = make([]int, len(c.Steps))
	for i := range c.part {
		c.part[i] = -1
	}
	for m, part := range milestones {
		c.parts = append(c.parts, part.Title.Line())
		for _, index := range part.Steps {
			if i, ok := c.at[index]; ok && c.part[i] < 0 {
				c.part[i] = m
			}
		}
	}
}

// stands reports whether the chart still matches the steps of the run.
func (c *chart) stands(run *agent.Run) bool {
	if len(run.Steps) != len(c.Steps) {
		return false
	}
	for i, place := range c.places {
		if run.Steps[place] != c.Steps[i] {
			return false
		}
	}
	return true
}

// soleDependents returns the steps reachable only through step i: every path to them
// passes it.
func (c *chart) soleDependents(i int) []int {
	var out []int
	inside := planlayout.NewSet(len(c.Steps))
	inside.Add(i)
	for t := i + 1; t < len(c.Steps); t++ {
		if len(c.deps[t]) == 0 {
			continue
		}
		all := true
		for _, d := range c.deps[t] {
			all = all && inside.Has(d)
		}
		if all {
			inside.Add(t)
			out = append(out, t)
		}
	}
	return out
}
