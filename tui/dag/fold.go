package dag

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"

	"replan/agent"
	"replan/internal/english"
	planlayout "replan/planning/plan/layout"
	"replan/tui/wording"
)

// groupFrom is the largest number of steps shown one by one. Larger plans collapse
// fan-outs and sequences of completed steps into groups.
const groupFrom = 50

// runLeast is the minimum number of consecutive completed steps to group.
const runLeast = 4

// foldLevel is how much of a plan is collapsed where the user has not expanded
// or collapsed a part.
type foldLevel int

// Levels of folding.
const (
	foldAuto foldLevel = iota // only large plans
	foldNone
	foldAll
)

// group is one line for several steps, with their counts by status.
type group struct {
	key        string
	Label      string
	First      string // index of the first and the last step in it
	Last       string
	members    []int
	Steps      []*agent.StepState // the steps of members
	Counts     wording.Counts
	Open       bool
	shown      []int // when collapsed: steps that keep a row of their own
	set        planlayout.Set
	stepCounts *stepCounts
}

// Class returns the class of its i-th step.
func (r *group) Class(i int) wording.StepClass { return r.stepCounts.class[r.members[i]] }

// folds records what is collapsed in a plan.
type folds struct {
	Level     foldLevel
	chosen    map[string]bool // groups that the user expanded (true) or collapsed
	collapsed map[string]bool // steps whose sole dependents are collapsed
}

func newFolds() folds { return folds{chosen: map[string]bool{}, collapsed: map[string]bool{}} }

func dependentsKey(index string) string { return "led " + index }
func fanKey(index string) string        { return "fan " + index }
func runKey(index string) string        { return "run " + index }

// node is a vertex of the drawn graph: a step, or a group of several steps.
type node struct {
	step  int    // -1 for a group
	group *group // nil for a step
	head  *group // an expanded sequence of steps that starts here
}

// members returns the steps of a node.
func (n *node) members() []int {
	if n.group != nil {
		return n.group.members
	}
	return []int{n.step}
}

// folder computes the nodes of a plan.
type folder struct {
	*folds
	chart      *chart
	stepCounts *stepCounts
	keep       int // the selected step, which always stays visible; -1 for none

	groups     []*group       // the group of each step
	dependents map[int]*group // the group of the sole dependents of each step
	nodes      []node
	of         []int // node of each step
}

// nodesOf returns the nodes of a plan, each after its dependencies, and the
// node of each step.
func nodesOf(f *folds, c *chart, t *stepCounts, keep int) ([]node, []int) {
	w := &folder{folds: f, chart: c, stepCounts: t, keep: keep, groups: make([]*group, len(c.Steps)), dependents: map[int]*group{}}
	w.foldDependents()
	w.foldFans()
	w.place()
	w.foldRuns()
	for i := range w.groups {
		t.groups[i] = nil
	}
	for i := range w.nodes {
		for _, r := range []*group{w.nodes[i].group, w.nodes[i].head} {
			if r == nil {
				continue
			}
			r.set = planlayout.NewSet(len(c.Steps))
			for _, m := range r.members {
				r.Counts[t.class[m]]++
				r.set.Add(m)
				t.groups[m] = r
			}
		}
	}
	return w.nodes, w.of
}

func (w *folder) newRollup(key, label string, members []int) *group {
	c := w.chart
	steps := make([]*agent.StepState, len(members))
	for i, m := range members {
		steps[i] = c.Steps[m]
	}
	return &group{
		key: key, Label: label, members: members, Steps: steps, stepCounts: w.stepCounts,
		First: c.Steps[members[0]].Step.Name(), Last: c.Steps[members[len(members)-1]].Step.Name(),
	}
}

// foldDependents collapses what the user collapsed below a step.
func (w *folder) foldDependents() {
	if len(w.collapsed) == 0 {
		return
	}
	for i, s := range w.chart.Steps {
		if !w.collapsed[s.Step.Index] || w.groups[i] != nil {
			continue
		}
		var members []int
		for _, t := range w.chart.soleDependents(i) {
			if w.groups[t] == nil {
				members = append(members, t)
			}
		}
		if len(members) == 0 {
			continue
		}
		r := w.newRollup(dependentsKey(s.Step.Index), english.Count(len(members), "step"), members)
		for _, m := range members {
			w.groups[m] = r
		}
		if slices.Contains(members, w.keep) {
			r.shown = []int{w.keep}
		}
		w.dependents[i] = r
	}
}

// foldFans groups fan-outs. At foldAuto, steps that run, wait or have failed
// keep their rows unless the user collapsed the fan-out.
func (w *folder) foldFans() {
	c := w.chart
	for _, fan := range c.fans {
		key := fanKey(c.Steps[fan[0]].Step.Index)
		open, chosen := w.chosen[key]
		groups := w.Level == foldAll || w.Level == foldAuto && len(c.Steps) > groupFrom
		if !chosen && !groups || chosen && open && !groups {
			continue
		}
		members := fan
		if len(w.dependents) > 0 {
			members = slices.DeleteFunc(slices.Clone(fan), func(m int) bool { return w.groups[m] != nil || w.dependents[m] != nil })
		}
		if len(members) < fanLeast {
			continue
		}
		r := w.newRollup(key, fmt.Sprintf("%d x %s", len(members), wording.StepTool(&c.Steps[members[0]].Step)), members)
		r.Open = chosen && open
		for _, m := range members {
			if r.Open || m == w.keep || !chosen && w.Level == foldAuto && !w.stepCounts.class[m].Quiet() {
				r.shown = append(r.shown, m)
			}
		}
		if !chosen && len(members)-len(r.shown) < 2 {
			continue
		}
		for _, m := range members {
			w.groups[m] = r
		}
	}
}

// place puts steps and groups in order.
func (w *folder) place() {
	c := w.chart
	n := len(c.Steps)
	w.of = make([]int, n)
	for i := range w.of {
		w.of[i] = -1
	}
	add := func(d node) {
		for _, m := range d.members() {
			w.of[m] = len(w.nodes)
		}
		w.nodes = append(w.nodes, d)
	}
	for i := range n {
		if w.of[i] >= 0 {
			continue
		}
		if r := w.groups[i]; r != nil {
			add(node{step: -1, group: r})
			continue
		}
		add(node{step: i})
		if r := w.dependents[i]; r != nil {
			add(node{step: -1, group: r})
		}
	}
	if len(w.nodes) < n {
		w.sort()
	}
}

// minHeap yields the lowest number first.
type minHeap []int

func (h minHeap) Len() int           { return len(h) }
func (h minHeap) Less(i, j int) bool { return h[i] < h[j] }
func (h minHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *minHeap) Push(x any)        { *h = append(*h, x.(int)) }
func (h *minHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// sort puts the nodes after their dependencies. A group takes the place of
// its first step, which may precede a dependency of its other steps.
func (w *folder) sort() {
	deps := nodeDeps(w.chart, w.nodes, w.of)
	feeds, open := make([][]int, len(deps)), make([]int, len(deps))
	var ready minHeap
	for i, ds := range deps {
		open[i] = len(ds)
		for _, d := range ds {
			feeds[d] = append(feeds[d], i)
		}
		if open[i] == 0 {
			ready = append(ready, i)
		}
	}
	heap.Init(&ready)
	order := make([]node, 0, len(deps))
	for ready.Len() > 0 {
		i := heap.Pop(&ready).(int)
		for _, m := range w.nodes[i].members() {
			w.of[m] = len(order)
		}
		order = append(order, w.nodes[i])
		for _, f := range feeds[i] {
			if open[f]--; open[f] == 0 {
				heap.Push(&ready, f)
			}
		}
	}
	w.nodes = order
}

// nodeDeps returns the dependencies of each node.
func nodeDeps(c *chart, nodes []node, of []int) [][]int {
	deps := make([][]int, len(nodes))
	seen := make([]int, len(nodes))
	for i := range nodes {
		for _, m := range nodes[i].members() {
			for _, d := range c.deps[m] {
				if k := of[d]; k >= 0 && k != i && seen[k] != i+1 {
					seen[k] = i + 1
					deps[i] = append(deps[i], k)
				}
			}
		}
		slices.Sort(deps[i])
	}
	return deps
}

// foldRuns groups sequences of completed steps, in chunks that stay in place
// while the run continues.
func (w *folder) foldRuns() {
	if w.Level == foldNone || w.Level == foldAuto && len(w.chart.Steps) <= groupFrom {
		return
	}
	var out []node
	portion := max(20, len(w.nodes)/20)
	many := len(w.nodes) > groupFrom || w.Level == foldAll
	for i := 0; i < len(w.nodes); {
		end := i
		for end < len(w.nodes) && (end == i || end%portion != 0 && w.partOf(end) == w.partOf(i)) && w.settled(&w.nodes[end], many) {
			end++
		}
		least := runLeast
		if w.Level == foldAll {
			least = 2
		}
		if end-i < least {
			end = max(end, i+1)
			out = append(out, w.nodes[i:end]...)
			i = end
			continue
		}
		out = append(out, w.run(w.nodes[i:end])...)
		i = end
	}
	if len(out) == len(w.nodes) {
		return
	}
	w.nodes = out
	for i := range out {
		for _, m := range out[i].members() {
			w.of[m] = i
		}
	}
}

// run returns the nodes for completed steps: one group if they are collapsed,
// else the steps below a heading.
func (w *folder) run(nodes []node) []node {
	c := w.chart
	var members []int
	for i := range nodes {
		members = append(members, nodes[i].members()...)
	}
	first := nodes[0].members()[0]
	r := w.newRollup(runKey(c.Steps[first].Step.Index), w.runLabel(members), members)
	if r.Open = w.chosen[r.key]; r.Open {
		opened := slices.Clone(nodes)
		opened[0].head = r
		return opened
	}
	if slices.Contains(members, w.keep) {
		r.shown = []int{w.keep}
	}
	return []node{{step: -1, group: r}}
}

// runLabel names a sequence of steps after their milestone, or by their number
// if there is none.
func (w *folder) runLabel(members []int) string {
	label := english.Count(len(members), "step")
	if p := w.chart.part[members[0]]; p >= 0 && w.chart.parts[p] != "" {
		label = cmp.Or(w.chart.parts[p], label)
	}
	return label
}

// partOf returns the milestone of a node.
func (w *folder) partOf(i int) int { return w.chart.part[w.nodes[i].members()[0]] }

// settled reports whether a node and its direct dependents are over, so that the
// most recent steps stay visible. Fan-outs count only if there are many rows.
func (w *folder) settled(n *node, many bool) bool {
	if n.head != nil || n.group != nil && (!many || n.group.Open || w.Level == foldAll) {
		return false
	}
	for _, m := range n.members() {
		if !w.stepCounts.class[m].Over() {
			return false
		}
		for _, f := range w.chart.feeds[m] {
			if !w.stepCounts.class[f].Over() {
				return false
			}
		}
	}
	return true
}

// Large reports whether the plan has more rows than fit the view.
func (d *Pane) Large() bool {
	return d.chart != nil && len(d.chart.Steps) > max(d.Height, 1)
}
