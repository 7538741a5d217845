package layout

import "replan/planning"

// Graph lists what each node depends on, by position. Nodes stand in execution
// order: a node depends only on nodes before it. A dependency listed twice
// counts once.
type Graph [][]int

// Order returns the steps of a plan in the order in which they are drawn, by
// their positions in graph: execution order, and behind it the steps on or
// behind a cycle, as a draft may have them.
func Order(graph *planning.Graph) []int {
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

// OfPlan returns the dependencies of a plan's steps in the given order, which
// names them by their positions in graph. Dependencies that run against the
// order, as in a cycle, are left out.
func OfPlan(graph *planning.Graph, order []int) Graph {
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

// Parallel reports for each node whether another one shares its level: the two
// may run at the same time.
func (g Graph) Parallel() []bool {
	level := g.Levels()
	members := make([]int, len(g)+1)
	for _, l := range level {
		members[l]++
	}
	parallel := make([]bool, len(g))
	for i, l := range level {
		parallel[i] = members[l] > 1
	}
	return parallel
}
