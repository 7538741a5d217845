package tui

import (
	"slices"

	"replan/themes"
)

// The sides of a cell that a lane joins.
const (
	up uint8 = 1 << iota
	down
	left
	right
)

// lanes is the gutter beside the steps of a plan: which lane each step stands
// in and how the lanes run from row to row. Made in one pass over the rows, as
// a version history is drawn.
type lanes struct {
	steps []laneStep
	width int // lanes in use at the widest place
}

// laneStep is one step's part of the gutter: the row where lanes join before
// it, its own row, and the row where they part behind it.
type laneStep struct {
	join   []uint8 // nil where nothing joins
	row    []uint8
	fork   []uint8 // nil where nothing parts
	node   int     // the step's lane
	onward bool    // a lane leads on from it
	unseen []int   // the steps it depends on with no lane between them
	above  []edge  // the lanes that come in from above
	beyond []edge  // and those that go on below
}

// edge is a lane from one step to another that depends on it; one that leads
// nowhere has neither.
type edge struct{ from, to int32 }

// layLanes lays the lanes of n steps that stand in execution order. deps gives
// the steps that one depends on, by position and without those that follow from
// others. At most limit lanes run side by side; a dependency that finds no lane
// is left to be written out.
func layLanes(n int, deps [][]int, limit int) lanes {
	children := make([][]int, n)
	for s, ds := range deps {
		for _, d := range ds {
			children[d] = append(children[d], s)
		}
	}
	g := gutter{limit: limit}
	out := lanes{steps: make([]laneStep, n), width: 1}
	drawn := make([]int, n) // dependencies of each step that have a lane
	lane := make(map[[2]int]bool)
	for s := range n {
		step := &out.steps[s]
		if s > 0 {
			step.above = out.steps[s-1].beyond
		}
		g.enter(s, step)
		granted := g.leave(s, step, children[s])
		for _, child := range granted {
			drawn[child]++
			lane[[2]int{s, child}] = true
		}
		if drawn[s] < len(deps[s]) {
			for _, d := range deps[s] {
				if !lane[[2]int{d, s}] {
					step.unseen = append(step.unseen, d)
				}
			}
		}
		step.beyond = slices.Clone(g.lanes)
		out.width = max(out.width, len(step.row), len(step.join), len(step.fork))
	}
	return out
}

// free marks a lane that leads nowhere.
var free = edge{-1, -1}

// gutter is the lanes between two rows.
type gutter struct {
	lanes []edge
	limit int
}

// enter ends the lanes that lead to s and gives s its place.
func (g *gutter) enter(s int, step *laneStep) {
	var in []int
	for i, lane := range g.lanes {
		if int(lane.to) == s {
			in = append(in, i)
		}
	}
	switch len(in) {
	case 0:
		step.node = g.vacant(0)
		if step.node < 0 {
			step.node = g.limit // beside the lanes, with none of its own
		}
	default:
		step.node = in[0]
	}
	if len(in) > 1 {
		step.join = g.passing()
		last := in[len(in)-1]
		for i := in[0]; i <= last; i++ {
			step.join[i] |= left | right
		}
		step.join[in[0]] &^= left
		for _, i := range in[1:] {
			step.join[i] &^= down
			g.lanes[i] = free
		}
		step.join[last] &^= right
	}
	step.row = g.passing()
	for len(step.row) <= step.node {
		step.row = append(step.row, 0)
	}
}

// leave starts the lanes from s to those that depend on it, and returns the
// ones that got a lane.
func (g *gutter) leave(s int, step *laneStep, children []int) []int {
	own := step.node < g.limit
	if own {
		for len(g.lanes) <= step.node {
			g.lanes = append(g.lanes, free)
		}
		g.lanes[step.node] = free
	}
	var granted, at []int
	for _, child := range children {
		i := step.node
		if len(granted) > 0 || !own {
			if i = g.vacant(step.node); i < 0 {
				continue
			}
		}
		for len(g.lanes) <= i {
			g.lanes = append(g.lanes, free)
		}
		g.lanes[i] = edge{int32(s), int32(child)} // #nosec G115 -- positions in a plan
		granted, at = append(granted, child), append(at, i)
	}
	if len(at) > 1 || (len(at) == 1 && at[0] != step.node) {
		step.fork = g.parting(step.node, at)
	}
	g.trim()
	step.onward = len(granted) > 0
	return granted
}

// below is the lanes right under the step's own row.
func (s *laneStep) below() []uint8 {
	row := slices.Clone(s.row)
	row[s.node] = 0
	if s.onward {
		row[s.node] = up | down
	}
	return row
}

// parting is the row in which lanes part from node to each of at.
func (g *gutter) parting(node int, at []int) []uint8 {
	row := g.passing()
	for len(row) <= node {
		row = append(row, 0)
	}
	low, high := node, node
	for _, i := range at {
		low, high = min(low, i), max(high, i)
		row[i] = down
	}
	if at[0] == node {
		row[node] = up | down
	} else {
		row[node] = up
	}
	for i := low; i <= high; i++ {
		if i > low {
			row[i] |= left
		}
		if i < high {
			row[i] |= right
		}
	}
	return row
}

// lead is where the lane in a cell under, over or beside a step's row belongs.
type lead int

// Which row of a step's part of the gutter a line is.
const (
	leadAbove lead = iota // over everything of it
	leadJoin              // where lanes join before it
	leadRow               // its own
	leadBelow             // under its own, before lanes part
	leadFork              // where they part
)

// lit is the cells of a row through which a lane runs that is lit, as bits.
func (s *laneStep) lit(at int, row lead, is func(edge) bool) uint32 {
	var cells uint32
	mark := func(from, to int) {
		for i := min(from, to); i <= max(from, to); i++ {
			cells |= 1 << (i % 32)
		}
	}
	switch row {
	case leadBelow, leadFork:
		for i, e := range s.beyond {
			switch {
			case e == free || !is(e):
			case row == leadFork && int(e.from) == at:
				mark(s.node, i)
			case int(e.from) == at:
				mark(s.node, s.node)
			default:
				mark(i, i)
			}
		}
	default:
		for i, e := range s.above {
			switch {
			case e == free || !is(e):
			case int(e.to) != at || row == leadAbove:
				mark(i, i)
			case row == leadJoin:
				mark(s.node, i)
			default:
				mark(s.node, s.node)
			}
		}
	}
	return cells
}

// over is the lanes over everything of the step's part.
func (s *laneStep) over() []uint8 {
	row := make([]uint8, len(s.above))
	for i, e := range s.above {
		if e != free {
			row[i] = up | down
		}
	}
	return row
}

// passing is a row that every lane runs through.
func (g *gutter) passing() []uint8 {
	row := make([]uint8, len(g.lanes))
	for i, lane := range g.lanes {
		if lane != free {
			row[i] = up | down
		}
	}
	return row
}

// vacant is a lane that is free, right of from where there is one; -1 means
// that the gutter is full.
func (g *gutter) vacant(from int) int {
	for i := max(from, 0); i < g.limit; i++ {
		if i >= len(g.lanes) || g.lanes[i] == free {
			return i
		}
	}
	for i := range g.lanes {
		if g.lanes[i] == free {
			return i
		}
	}
	return -1
}

// trim takes away free lanes at the right.
func (g *gutter) trim() {
	n := len(g.lanes)
	for n > 0 && g.lanes[n-1] == free {
		n--
	}
	g.lanes = g.lanes[:n]
}

// laneGlyph draws one cell.
func laneGlyph(l themes.Lanes, sides uint8) string {
	switch sides {
	case 0:
		return " "
	case up | down | right:
		return l.UDR
	case up | down | left:
		return l.UDL
	case up | down | left | right:
		return l.UDLR
	case down | left:
		return l.DL
	case down | right:
		return l.DR
	case up | left:
		return l.UL
	case up | right:
		return l.UR
	case left | right:
		return l.LR
	case down | left | right:
		return l.DLR
	case up | left | right:
		return l.ULR
	default:
		return l.UD
	}
}
