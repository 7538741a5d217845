package layout

import "replan/planning/plan"

// Graph lists the dependencies of each node, by position. Nodes are in execution
// order: a node depends only on nodes before it. A repeated dependency counts
// once.
type Graph [][]int

// Order returns the steps of a plan in the order in which they are drawn, by
// their positions in graph. That is the execution order. The steps on or behind
// a cycle, as a draft may have them, come last.
func Order(graph *plan.Graph) []int {
	order := make([]int, 0, graph.Len())
	placed := make([]bool, graph.Len())
	for _, index := range graph.Order() {
		i, _ := graph.Position(index)
		placed[i] = true
		order = append(order, i)
	}
	for i := range placed {
		if !placed[i] {
			order = append(order, i)
		}
	}
	return order
}

// OfPlan returns the dependencies of a plan's steps in the given order, by their
// positions in graph. Dependencies against the order, as in a cycle, are left out.
func OfPlan(graph *plan.Graph, order []int) Graph {
	row := make([]int, graph.Len())
	for i := range row {
		row[i] = -1
	}
	for i, at := range order {
		row[at] = i
	}
	g := make(Graph, len(order))
	for i, at := range order {
		for _, need := range graph.Needs(at) {
			if d := row[need]; d >= 0 && d < i {
				g[i] = append(g[i], d)
			}
		}
	}
	return g
}

// Levels returns for each node the length of the longest chain before it.
func (g Graph) Levels() []int {
	level := make([]int, len(g))
	for i, deps := range g {
		for _, d := range deps {
			level[i] = max(level[i], level[d]+1)
		}
	}
	return level
}
