package plan

import (
	"cmp"
	"container/heap"
	"slices"
	"strings"
)

// Graph is the dependencies of a plan's steps, by name and by references to
// another step's result variable. It does not change and may be read by several
// goroutines.
type Graph struct {
	steps    []Step // one for each index, as the plan has them
	position map[string]int
	needs    [][]int // the dependencies of each step, by rank
	feeds    [][]int // the dependents of each step, by rank
	byRank   []int   // the steps by index
	rank     []int   // place of each step in byRank
	order    []int   // topological, ties by rank; steps on or behind a cycle are left out
	level    []int   // length of the longest chain before each step, -1 for those left out
}

// NewGraph builds the graph of a valid plan. For an invalid plan it ignores
// dependencies on missing steps or on the step itself, and takes the first of two
// steps with one index. Steps on or behind a cycle are missing from Order,
// Batches, Longest and CriticalPath. The graph shares the plan's list of steps.
func NewGraph(p Plan) *Graph { return newGraph(p, stepReferences(p)) }

// stepReferences returns the references in the args of each step of a plan.
func stepReferences(p Plan) [][]Reference {
	references := make([][]Reference, len(p.Steps))
	for i, s := range p.Steps {
		references[i] = References(s.Args)
		if s.ForEach != nil {
			references[i] = slices.DeleteFunc(references[i], func(r Reference) bool { return s.ForEach.Own(r.Name) })
			references[i] = append(references[i], References(s.ForEach.Items)...)
		}
	}
	return references
}

// checkVariables returns the variables that the condition and the checks of a step
// look at.
func checkVariables(s Step) []string {
	names := variablesOf(s.When)
	if s.Until != nil {
		names = append(names, variablesOf(s.Until.Expect)...)
	}
	for _, check := range s.Checks {
		names = append(names, variablesOf(check.Expect)...)
		for _, r := range References(check.Args) {
			names = append(names, r.Name)
		}
	}
	return slices.DeleteFunc(names, s.ForEach.Own)
}

// Needs reports whether a step looks at a variable: in its args, its condition or its checks.
func Needs(s Step, variable string) bool {
	if s.ForEach != nil && refersTo(s.ForEach.Items, variable) {
		return true
	}
	return refersTo(s.Args, variable) && !s.ForEach.Own(variable) || slices.Contains(checkVariables(s), variable)
}

// newGraph is NewGraph for a caller with the references of each step.
func newGraph(p Plan, references [][]Reference) *Graph {
	g := &Graph{steps: p.Steps, position: make(map[string]int, len(p.Steps))}
	for i, s := range p.Steps {
		if _, taken := g.position[s.Index]; !taken {
			g.position[s.Index] = i
		}
	}
	if len(g.position) < len(p.Steps) {
		references = g.dropDuplicates(references)
	}
	g.rankSteps()
	g.connect(references)
	g.sort()
	return g
}

// dropDuplicates leaves the first step of each index, and returns the
// references of those.
func (g *Graph) dropDuplicates(references [][]Reference) [][]Reference {
	var steps []Step
	var kept [][]Reference
	for i, s := range g.steps {
		if g.position[s.Index] == i {
			g.position[s.Index] = len(steps)
			steps = append(steps, s)
			kept = append(kept, references[i])
		}
	}
	g.steps = steps
	return kept
}

// rankSteps orders the steps for ties: numbers first, by number, then other
// indices in the order they were written.
func (g *Graph) rankSteps() {
	g.byRank = make([]int, len(g.steps))
	numeric := make([]bool, len(g.steps))
	for i, s := range g.steps {
		g.byRank[i] = i
		numeric[i] = isNumericIndex(s.Index)
	}
	slices.SortFunc(g.byRank, func(a, b int) int {
		switch {
		case numeric[a] && numeric[b]:
			return CompareIndices(g.steps[a].Index, g.steps[b].Index)
		case numeric[a]:
			return -1
		case numeric[b]:
			return 1
		}
		return cmp.Compare(a, b)
	})
	g.rank = make([]int, len(g.steps))
	for rank, i := range g.byRank {
		g.rank[i] = rank
	}
}

// connect draws the edges.
func (g *Graph) connect(references [][]Reference) {
	producer := make(map[string]int, len(g.steps))
	for i, s := range g.steps {
		if _, taken := producer[s.ResultVariable]; s.ResultVariable != "" && !taken {
			producer[s.ResultVariable] = i
		}
	}
	g.needs = make([][]int, len(g.steps))
	g.feeds = make([][]int, len(g.steps))
	for i, s := range g.steps {
		needs := slices.Grow([]int(nil), len(s.DependsOn)+len(references[i]))
		for _, index := range s.DependsOn {
			if j, ok := g.position[index]; ok && j != i {
				needs = append(needs, j)
			}
		}
		for _, r := range references[i] {
			if j, ok := producer[r.Name]; ok && j != i {
				needs = append(needs, j)
			}
		}
		for _, name := range checkVariables(s) {
			if j, ok := producer[name]; ok && j != i {
				needs = append(needs, j)
			}
		}
		g.sortByRank(needs)
		g.needs[i] = slices.Compact(needs)
	}
	count := make([]int, len(g.steps))
	for _, needs := range g.needs {
		for _, j := range needs {
			count[j]++
		}
	}
	for _, i := range g.byRank {
		for _, j := range g.needs[i] {
			g.feeds[j] = append(slices.Grow(g.feeds[j], count[j]-len(g.feeds[j])), i)
		}
	}
}

func (g *Graph) sortByRank(nodes []int) {
	slices.SortFunc(nodes, func(a, b int) int { return cmp.Compare(g.rank[a], g.rank[b]) })
}

// rankHeap yields the node of the lowest rank first.
type rankHeap struct {
	nodes []int
	rank  []int
}

func (h *rankHeap) Len() int           { return len(h.nodes) }
func (h *rankHeap) Less(i, j int) bool { return h.rank[h.nodes[i]] < h.rank[h.nodes[j]] }
func (h *rankHeap) Swap(i, j int)      { h.nodes[i], h.nodes[j] = h.nodes[j], h.nodes[i] }
func (h *rankHeap) Push(x any)         { h.nodes = append(h.nodes, x.(int)) }
func (h *rankHeap) Pop() any {
	last := h.nodes[len(h.nodes)-1]
	h.nodes = h.nodes[:len(h.nodes)-1]
	return last
}

// sort computes order and level.
func (g *Graph) sort() {
	g.level = make([]int, len(g.steps))
	open := make([]int, len(g.steps)) // dependencies not yet in the order
	ready := &rankHeap{rank: g.rank}
	for i := range g.steps {
		g.level[i] = -1
		open[i] = len(g.needs[i])
		if open[i] == 0 {
			ready.nodes = append(ready.nodes, i)
		}
	}
	heap.Init(ready)
	for ready.Len() > 0 {
		i := heap.Pop(ready).(int)
		g.order = append(g.order, i)
		level := 0
		for _, j := range g.needs[i] {
			level = max(level, g.level[j]+1)
		}
		g.level[i] = level
		for _, j := range g.feeds[i] {
			open[j]--
			if open[j] == 0 {
				heap.Push(ready, j)
			}
		}
	}
}

func (g *Graph) indices(nodes []int) []string {
	if len(nodes) == 0 {
		return nil
	}
	indices := make([]string, len(nodes))
	for i, n := range nodes {
		indices[i] = g.steps[n].Index
	}
	return indices
}

// Len returns the number of steps: positions run from 0 to one below it. They
// are those of the plan's steps, of which a second one with an index in use
// does not count.
func (g *Graph) Len() int { return len(g.steps) }

// Position returns the position of the step with the given index, and whether
// there is one.
func (g *Graph) Position(index string) (int, bool) {
	i, ok := g.position[index]
	return i, ok
}

// Rank returns the place of the step at position i among all: numbers first, by
// number, then other indices in the order they were written.
func (g *Graph) Rank(i int) int { return g.rank[i] }

// Needs returns the positions of the dependencies of the step at position i, in
// numeric order. The graph owns the list: it may not be changed.
func (g *Graph) Needs(i int) []int { return g.needs[i] }

// Feeds returns the positions of the dependents of the step at position i, in
// numeric order. The graph owns the list: it may not be changed.
func (g *Graph) Feeds(i int) []int { return g.feeds[i] }

// Dependencies returns the steps before the step with the given index, in numeric
// order; nil for a missing step.
func (g *Graph) Dependencies(index string) []string {
	i, ok := g.position[index]
	if !ok {
		return nil
	}
	return g.indices(g.needs[i])
}

// Dependents returns the steps waiting for the step with the given index, in
// numeric order; nil for a missing step.
func (g *Graph) Dependents(index string) []string {
	i, ok := g.position[index]
	if !ok {
		return nil
	}
	return g.indices(g.feeds[i])
}

// Ancestors returns all dependencies of the step with the given index, direct or
// not.
func (g *Graph) Ancestors(index string) map[string]bool { return g.reach(index, g.needs) }

// Descendants returns all dependents of the step with the given index, direct or
// not.
func (g *Graph) Descendants(index string) map[string]bool { return g.reach(index, g.feeds) }

func (g *Graph) reach(index string, next [][]int) map[string]bool {
	reached := make(map[string]bool)
	start, ok := g.position[index]
	if !ok {
		return reached
	}
	open := slices.Clone(next[start])
	for len(open) > 0 {
		i := open[len(open)-1]
		open = open[:len(open)-1]
		if name := g.steps[i].Index; !reached[name] {
			reached[name] = true
			open = append(open, next[i]...)
		}
	}
	delete(reached, index)
	return reached
}

// Order returns the steps in topological order; among possible next steps, the
// lowest index comes first.
func (g *Graph) Order() []string { return g.indices(g.order) }

// Batches returns the steps in groups: the first depends on nothing, each other
// only on groups before it, as early as possible. They are for display; a step
// starts as soon as its dependencies are done.
func (g *Graph) Batches() [][]string {
	var batches [][]int
	for _, i := range g.order {
		for len(batches) <= g.level[i] {
			batches = append(batches, nil)
		}
		batches[g.level[i]] = append(batches[g.level[i]], i)
	}
	named := make([][]string, len(batches))
	for level, nodes := range batches {
		g.sortByRank(nodes)
		named[level] = g.indices(nodes)
	}
	return named
}

// Weights returns, by position, the weight of the heaviest path from a step to an end of
// the plan, the step included. It is 0 for steps on or behind a cycle. It asks for the
// weight of each step once; a weight is never negative.
func (g *Graph) Weights(weight func(Step) float64) []float64 {
	longest := make([]float64, len(g.steps))
	for _, i := range slices.Backward(g.order) {
		rest := 0.0
		for _, j := range g.feeds[i] {
			rest = max(rest, longest[j])
		}
		longest[i] = weight(g.steps[i]) + rest
	}
	return longest
}

// CriticalPath returns the heaviest path from a beginning of the plan to an end;
// of several equal ones, the one with the lowest indices.
func (g *Graph) CriticalPath(weight func(Step) float64) []string {
	longest := g.Weights(weight)
	heaviest := func(nodes []int) int {
		best := -1
		for _, i := range nodes {
			if g.level[i] >= 0 && (best < 0 || longest[i] > longest[best]) {
				best = i
			}
		}
		return best
	}
	var beginnings []int
	for _, i := range g.order {
		if g.level[i] == 0 {
			beginnings = append(beginnings, i)
		}
	}
	var path []int
	for i := heaviest(beginnings); i >= 0; i = heaviest(g.feeds[i]) {
		path = append(path, i)
	}
	return g.indices(path)
}

// knots returns the groups of steps depending on each other, each group and the groups by
// rank. They are the strongly connected components, by Kosaraju's algorithm. Walked
// backward from the step that was left last, a group reaches only itself and groups found
// before.
func (g *Graph) knots() [][]int {
	if len(g.order) == len(g.steps) {
		return nil
	}
	var left []int // steps on or behind a cycle, each after the steps it needs
	visited := make([]bool, len(g.steps))
	for i := range g.steps {
		left = g.walk(i, g.needs, visited, left)
	}
	clear(visited)
	var knots [][]int
	for _, i := range slices.Backward(left) {
		if knot := g.walk(i, g.feeds, visited, nil); len(knot) > 1 {
			g.sortByRank(knot)
			knots = append(knots, knot)
		}
	}
	slices.SortFunc(knots, func(a, b []int) int { return cmp.Compare(g.rank[a[0]], g.rank[b[0]]) })
	return knots
}

// walk visits the steps on or behind a cycle that are reached from step i along next,
// depth first. It appends each to left when it is done with it.
func (g *Graph) walk(i int, next [][]int, visited []bool, left []int) []int {
	if visited[i] || g.level[i] >= 0 {
		return left
	}
	visited[i] = true
	for _, j := range next[i] {
		left = g.walk(j, next, visited, left)
	}
	return append(left, i)
}

// loop finds a shortest cycle through the first member of a knot.
func (g *Graph) loop(knot []int) []int {
	start := knot[0]
	members := make(map[int]bool, len(knot))
	for _, i := range knot {
		members[i] = true
	}
	previous := map[int]int{start: start}
	for open := []int{start}; len(open) > 0; open = open[1:] {
		i := open[0]
		for _, j := range g.needs[i] {
			if j == start {
				loop := []int{i}
				for i != start {
					i = previous[i]
					loop = append(loop, i)
				}
				slices.Reverse(loop)
				return loop
			}
			if _, seen := previous[j]; !seen && members[j] {
				previous[j] = i
				open = append(open, j)
			}
		}
	}
	return knot
}

// CompareIndices orders indices. It orders numbers by their value ("2" before "10"),
// dotted ones part by part ("5.2" before "5.10", "5" before "5.1"). Numbers are before
// words, and words are ordered as text.
func CompareIndices(a, b string) int {
	restA, restB, moreA, moreB := a, b, true, true
	for moreA && moreB {
		var partA, partB string
		partA, restA, moreA = strings.Cut(restA, ".")
		partB, restB, moreB = strings.Cut(restB, ".")
		if c := compareParts(partA, partB); c != 0 {
			return c
		}
	}
	switch {
	case moreA:
		return 1
	case moreB:
		return -1
	}
	return strings.Compare(a, b)
}

func compareParts(a, b string) int {
	wholeA, wholeB := isWhole(a), isWhole(b)
	switch {
	case wholeA && wholeB:
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case wholeA:
		return -1
	case wholeB:
		return 1
	}
	return strings.Compare(a, b)
}

// isWhole reports whether text is a whole number, of any size.
func isWhole(text string) bool {
	return text != "" && strings.Trim(text, "0123456789") == ""
}

// isNumericIndex reports whether an index is a number or a dotted one.
func isNumericIndex(index string) bool {
	for part := range strings.SplitSeq(index, ".") {
		if !isWhole(part) {
			return false
		}
	}
	return true
}
