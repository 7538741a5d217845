package intent

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"replan/internal/english"
	"replan/planning/plan"
)

// Composition is a chain as a graph that can be run.
type Composition struct {
	Graph          Graph `json:"graph"`
	ExecutionOrder []int `json:"execution_order"`
	// Parallelizable are groups of two nodes or more that may run at once: none
	// waits for another, and all can begin after as many steps.
	Parallelizable      [][]int    `json:"parallelizable"`
	EstimatedComplexity Complexity `json:"estimated_complexity"`
	PolicyGates         []int      `json:"policy_gates"`
	Plan                plan.Plan  `json:"plan"`
}

// Graph is the nodes of a chain and the edges between them, by position.
type Graph struct {
	Nodes []Node   `json:"nodes"`
	Edges [][2]int `json:"edges"` // from a node to one that waits for it
	Entry []int    `json:"entry"` // wait for nothing
	Exit  []int    `json:"exit"`  // nothing waits for them
}

// Complexity is a rough size of the work.
type Complexity string

// A chain is low if it only looks, in at most two steps. It is high if a model
// must write something, if it asks more than once, or if it has more than eight
// steps. Otherwise it is medium.
const (
	Low    Complexity = "low"
	Medium Complexity = "medium"
	High   Complexity = "high"
)

// Complexity estimates the work of a chain.
func (c Chain) Complexity() Complexity {
	gates := len(c.PolicyGates())
	switch {
	case c.NeedsModel(), gates > 1, len(c.Nodes) > 8:
		return High
	case gates > 0, len(c.Nodes) > 2:
		return Medium
	default:
		return Low
	}
}

// Compose compiles a chain to a graph and a plan of the goal. It fails if nodes
// wait for each other in a circle, for themselves, or for missing nodes.
func Compose(c Chain, goal string) (Composition, error) {
	if err := c.check(); err != nil {
		return Composition{}, err
	}
	p := c.Plan(goal)
	g := plan.NewGraph(p)
	out := Composition{
		Graph:               Graph{Nodes: orEmpty(slices.Clone(c.Nodes)), Edges: [][2]int{}, Entry: []int{}, Exit: []int{}},
		ExecutionOrder:      positions(g, g.Order()),
		Parallelizable:      [][]int{},
		EstimatedComplexity: c.Complexity(),
		PolicyGates:         c.PolicyGates(),
		Plan:                p,
	}
	for i, n := range out.Graph.Nodes {
		out.Graph.Nodes[i].DependsOn = orEmpty(n.DependsOn)
		for _, needed := range g.Needs(i) {
			out.Graph.Edges = append(out.Graph.Edges, [2]int{needed, i})
		}
		if len(g.Needs(i)) == 0 {
			out.Graph.Entry = append(out.Graph.Entry, i)
		}
		if len(g.Feeds(i)) == 0 {
			out.Graph.Exit = append(out.Graph.Exit, i)
		}
	}
	slices.SortFunc(out.Graph.Edges, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
	for _, batch := range g.Batches() {
		if len(batch) > 1 {
			out.Parallelizable = append(out.Parallelizable, slices.Sorted(slices.Values(positions(g, batch))))
		}
	}
	return out, nil
}

// positions turns step indices, counted from 1, into positions of nodes, counted
// from 0.
func positions(g *plan.Graph, indices []string) []int {
	all := make([]int, len(indices))
	for i, index := range indices {
		all[i], _ = g.Position(index)
	}
	return all
}

// check returns the first fault of a chain, in one sentence.
func (c Chain) check() error {
	for i, n := range c.Nodes {
		_, isOperator := operators[n.Tool]
		switch {
		case n.Executor == plan.ExecutorTool && !isOperator:
			return fmt.Errorf("node %d: there is no operator %.80q; there are %s", i, n.Tool, strings.Join(slices.Sorted(maps.Keys(operators)), ", "))
		case n.Executor == plan.ExecutorSelf && !IsModelWork(n.Tool):
			return fmt.Errorf("node %d: %.80q is no work for a model; say %s", i, n.Tool, english.List(slices.Sorted(maps.Keys(works)), "or"))
		case n.Executor != plan.ExecutorTool && n.Executor != plan.ExecutorSelf:
			return fmt.Errorf("node %d: the executor must be tool or self, not %.80q", i, n.Executor)
		}
	}
	if faults, _ := plan.Validate(c.Plan(""), plan.Rules{}); len(faults) > 0 {
		return fmt.Errorf("the chain makes no plan: %s (its steps are counted from 1)", faults[0].Message)
	}
	return nil
}
