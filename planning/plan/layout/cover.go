package layout

import (
	"container/heap"
	"slices"
)

// laneBlock is a part of a lane: each node of to depends on each of from. One of
// the two has a single node.
type laneBlock struct {
	from, to []int
	// The units of from and to, -1 if they are parts of several.
	source, target int
}

func (b laneBlock) first() int { return b.from[0] }
func (b laneBlock) last() int  { return b.to[len(b.to)-1] }

// cover finds few and short blocks holding every dependency of a graph once.
//
// Its units are nodes, or twins: nodes with the same dependencies and the same
// dependents. Each dependency between units is a block of its own, or joins the
// star of one of its ends, which gathers several.
type cover struct {
	units [][]int // nodes of each
	edges []unitEdge
	out   [][]int // edges from and to each unit, not yet in a star
	in    [][]int
	stars []laneBlock
}

type unitEdge struct {
	from, to int
	taken    bool // by a star
}

func newCover(reduced Graph) *cover {
	feeds := make([][]int, len(reduced))
	for i, deps := range reduced {
		for _, d := range deps {
			feeds[d] = append(feeds[d], i)
		}
	}
	units, of := splitTwins(reduced, feeds, twins(reduced, feeds))
	c := &cover{units: units, out: make([][]int, len(units)), in: make([][]int, len(units))}
	for u, members := range units {
		for _, d := range reduced[members[0]] {
			if from := of[d]; d == units[from][0] { // once for all twins
				c.out[from] = append(c.out[from], len(c.edges))
				c.in[u] = append(c.in[u], len(c.edges))
				c.edges = append(c.edges, unitEdge{from: from, to: u})
			}
		}
	}
	c.gather()
	return c
}

// twins numbers the nodes so that twins share a number; a node without
// dependencies in either direction has no twin.
func twins(g Graph, feeds [][]int) []int {
	first := make(map[uint64][]int, len(g)) // by hash, the first node of each kind
	number := make([]int, len(g))
	for i := range g {
		number[i] = i
		if len(g[i])+len(feeds[i]) == 0 {
			continue
		}
		h := hash(g[i], feeds[i])
		known := slices.IndexFunc(first[h], func(j int) bool { return slices.Equal(g[i], g[j]) && slices.Equal(feeds[i], feeds[j]) })
		if known >= 0 {
			number[i] = first[h][known]
		} else {
			first[h] = append(first[h], i)
		}
	}
	return number
}

func hash(lists ...[]int) uint64 {
	h := uint64(14695981039346656037)
	for _, list := range lists {
		for _, n := range list {
			h = (h ^ uint64(n+1)) * 1099511628211 // #nosec G115 -- positions
		}
		h = (h ^ 0xffff) * 1099511628211
	}
	return h
}

// splitTwins makes units of twins. Of two groups of twins depending on each other,
// the smaller one falls apart: a lane could not show where one ends and the other
// begins.
func splitTwins(g Graph, feeds [][]int, number []int) (units [][]int, of []int) {
	size := make([]int, len(g))
	for _, n := range number {
		size[n]++
	}
	apart := make([]bool, len(g))
	for i := range g {
		if number[i] != i || size[i] < 2 {
			continue
		}
		for _, f := range feeds[i] {
			if n := number[f]; size[n] > 1 && !apart[n] && !apart[i] {
				if size[n] < size[i] {
					apart[n] = true
				} else {
					apart[i] = true
				}
			}
		}
	}
	of = make([]int, len(g))
	for i := range g {
		if n := number[i]; n != i && !apart[n] {
			of[i] = of[n]
			units[of[n]] = append(units[of[n]], i)
			continue
		}
		of[i] = len(units)
		units = append(units, []int{i})
	}
	return units, of
}

// The cost of one more lane, and of a lane broken off instead of continued, in
// rows of a lane's length.
const (
	laneCost  = 6
	breakCost = 3
)

// star is a set of edges of one unit able to share a lane.
type star struct {
	unit   int
	out    bool
	worth  int // rows saved
	forced int // edges unable to share a lane with others
}

// starHeap yields the star with the highest worth.
type starHeap []star

func (h starHeap) Len() int { return len(h) }
func (h starHeap) Less(i, j int) bool {
	a, b := h[i], h[j]
	switch {
	case a.worth != b.worth:
		return a.worth > b.worth
	case a.forced != b.forced:
		return a.forced > b.forced
	case a.unit != b.unit:
		return a.unit < b.unit
	}
	return a.out && !b.out
}
func (h starHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *starHeap) Push(x any)   { *h = append(*h, x.(star)) }
func (h *starHeap) Pop() any {
	old := *h
	last := old[len(old)-1]
	*h = old[:len(old)-1]
	return last
}

// gather makes stars as long as one saves anything, the best first.
func (c *cover) gather() {
	var stars starHeap
	for u := range c.units {
		for _, out := range []bool{true, false} {
			if s, _ := c.star(u, out); s.worth > 0 {
				stars = append(stars, s)
			}
		}
	}
	heap.Init(&stars)
	for stars.Len() > 0 {
		best := heap.Pop(&stars).(star)
		s, edges := c.star(best.unit, best.out)
		switch {
		case s.worth <= 0:
		case s != best: // others have taken some of it since
			heap.Push(&stars, s)
		default:
			c.take(s, edges)
		}
	}
}

// star is the best one of a unit's edges in one direction: of all edges, or only
// of those with lanes ending at their other ends.
func (c *cover) star(unit int, out bool) (star, []int) {
	s := star{unit: unit, out: out}
	edges := c.in[unit]
	if out {
		edges = c.out[unit]
	}
	if len(c.units[unit]) > 1 || len(edges) < 2 {
		return s, nil
	}
	var loose []int
	allWorth, looseWorth := -laneCost, -laneCost
	allReach, looseReach := 0, 0
	for _, e := range edges {
		other := c.edges[e].from
		degree, across := len(c.out[other]), len(c.in[other])
		if out {
			other = c.edges[e].to
			degree, across = len(c.in[other]), len(c.out[other])
		}
		if degree == 1 {
			s.forced++
		}
		length := c.length(e)
		allWorth += length
		allReach = max(allReach, length)
		if degree > across {
			allWorth += laneCost
			loose = append(loose, e)
			looseWorth += length + laneCost
			looseReach = max(looseReach, length)
		} else {
			allWorth -= breakCost
		}
	}
	allWorth, looseWorth = allWorth-allReach, looseWorth-looseReach
	if len(loose) > 1 && looseWorth >= allWorth {
		s.worth = looseWorth
		return s, loose
	}
	s.worth = allWorth
	return s, slices.Clone(edges)
}

// length is how many rows an edge runs through.
func (c *cover) length(edge int) int {
	e := c.edges[edge]
	to := c.units[e.to]
	return to[len(to)-1] - c.units[e.from][0]
}

// take makes a block of the common edges of one unit.
func (c *cover) take(s star, edges []int) {
	b := laneBlock{source: -1, target: -1}
	for _, e := range edges {
		edge := &c.edges[e]
		edge.taken = true
		if s.out {
			b.to = append(b.to, c.units[edge.to]...)
		} else {
			b.from = append(b.from, c.units[edge.from]...)
		}
		same := func(other int) bool { return other == e }
		c.out[edge.from] = slices.DeleteFunc(c.out[edge.from], same)
		c.in[edge.to] = slices.DeleteFunc(c.in[edge.to], same)
	}
	if s.out {
		b.from, b.source = c.units[s.unit], s.unit
	} else {
		b.to, b.target = c.units[s.unit], s.unit
	}
	slices.Sort(b.from)
	slices.Sort(b.to)
	c.stars = append(c.stars, b)
}

// blocks returns the stars and the edges outside of them.
func (c *cover) blocks() []laneBlock {
	blocks := c.stars
	for i := range c.edges {
		if e := &c.edges[i]; !e.taken {
			blocks = append(blocks, laneBlock{from: c.units[e.from], to: c.units[e.to], source: e.from, target: e.to})
		}
	}
	return blocks
}
