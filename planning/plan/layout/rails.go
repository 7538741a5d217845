package layout

import "slices"

// The sides of a cell, joined by a line.
const (
	SideUp uint8 = 1 << iota
	SideDown
	SideLeft
	SideRight
)

// Cell is one character of the rails: the sides joined by its line, and the lane
// of the line, -1 for none.
type Cell struct {
	Sides uint8
	Lane  int
}

// Rails are lines left of a list of nodes, one row a node, that join each node
// to what it depends on.
//
// A lane runs down the rows. A node on the lane, drawn ├ and a blank, depends
// on those above it on that lane and comes before those below it. Nodes beside
// the lane, drawn ├─, are passed: they depend on the node on the lane above
// them, not on each other, and the next node on the lane depends on all of
// them. A lane begins at ┌ and ends at └, which may be on it or beside it.
// Where a lane passes a node that is no part of it, it is drawn │, also across
// the line of another lane.
type Rails struct {
	Width int     // cells of a row
	Lanes []Lane  // in the order in which they begin
	Noted [][]int // the dependencies of each node without a lane

	rows   [][]place // of each node, one for each column
	column int       // columns in use
}

// Lane is groups of nodes: each node of a group depends on each of the group
// before. A group of one node stands on the lane, those of a larger one stand
// beside it. Of two neighboring groups one has a single node.
type Lane struct {
	Groups [][]int
	Column int
}

// first and last are the rows between which the lane runs.
func (l *Lane) first() int { return l.Groups[0][0] }

func (l *Lane) last() int {
	g := l.Groups[len(l.Groups)-1]
	return g[len(g)-1]
}

// place is the shape of a lane in a row.
type place struct {
	lane   int // one more than its position; 0 for no lane
	up     bool
	down   bool
	on     bool // the node is part of the lane
	beside bool
}

// NewRails lays out the rails of a reduced graph. At most limit lanes run side by
// side; dependencies without a lane are noted.
func NewRails(reduced Graph, limit int) *Rails {
	r := &Rails{Noted: make([][]int, len(reduced)), rows: make([][]place, len(reduced))}
	lanes, dropped := fit(joinBlocks(newCover(reduced).blocks()), len(reduced), limit)
	r.Lanes = lanes
	for _, b := range dropped {
		for _, to := range b.to {
			r.Noted[to] = append(r.Noted[to], b.from...)
		}
	}
	for _, noted := range r.Noted {
		slices.Sort(noted)
	}
	for i := range lanes {
		r.column = max(r.column, lanes[i].Column+1)
	}
	for i := range r.rows {
		r.rows[i] = make([]place, r.column)
	}
	for i := range lanes {
		r.run(i)
	}
	r.Width = 2 * r.column
	if !r.barred() {
		r.Width = max(r.Width-1, 0)
	}
	return r
}

// run enters a lane into the rows.
func (r *Rails) run(lane int) {
	l := &r.Lanes[lane]
	at := l.Column
	first, last := l.first(), l.last()
	for row := first; row <= last; row++ {
		r.rows[row][at] = place{lane: lane + 1, up: row > first, down: row < last}
	}
	for _, group := range l.Groups {
		for _, node := range group {
			p := &r.rows[node][at]
			p.on, p.beside = true, len(group) > 1
		}
	}
}

// barred reports whether a line leads from a lane to the right edge.
func (r *Rails) barred() bool {
	return slices.ContainsFunc(r.rows, func(row []place) bool {
		for _, p := range slices.Backward(row) {
			if p.on {
				return p.beside
			}
		}
		return false
	})
}

// Row returns the cells beside a node, Width of them.
func (r *Rails) Row(node int) []Cell {
	cells := make([]Cell, 2*r.column)
	bar := -1 // the lane whose line runs to the right
	for i, p := range r.rows[node] {
		at, gap := &cells[2*i], &cells[2*i+1]
		at.Lane, gap.Lane = p.lane-1, -1
		switch {
		case p.lane == 0:
			if bar >= 0 {
				*at = Cell{SideLeft | SideRight, bar}
			}
		case !p.on:
			at.Sides = SideUp | SideDown
		default:
			at.Sides = p.sides(bar >= 0)
			bar = -1
			if p.beside {
				bar = p.lane - 1
			}
		}
		if bar >= 0 {
			*gap = Cell{SideLeft | SideRight, bar}
		}
	}
	return cells[:r.Width]
}

// sides are those joined by the lane's own cell beside a node of it.
func (p place) sides(bar bool) uint8 {
	var sides uint8
	if p.up {
		sides |= SideUp
	}
	if p.down {
		sides |= SideDown
	}
	if bar {
		sides |= SideLeft
	}
	if p.beside || !bar {
		sides |= SideRight
	}
	return sides
}

// Below returns the cells between a node and the one after it.
func (r *Rails) Below(node int) []Cell {
	cells := make([]Cell, 2*r.column)
	for i := range cells {
		cells[i].Lane = -1
	}
	for i, p := range r.rows[node] {
		if p.down {
			cells[2*i] = Cell{SideUp | SideDown, p.lane - 1}
		}
	}
	return cells[:r.Width]
}

// Span is the rows of a part of a lane, both ends included.
type Span struct{ First, Last int }

// Spans returns the parts of a lane between two nodes of a set.
func (l *Lane) Spans(in []bool) []Span {
	var spans []Span
	for i := 1; i < len(l.Groups); i++ {
		first := slices.IndexFunc(l.Groups[i-1], func(node int) bool { return in[node] })
		if first < 0 {
			continue
		}
		to := l.Groups[i]
		for last := len(to) - 1; last >= 0; last-- {
			if in[to[last]] {
				spans = append(spans, Span{l.Groups[i-1][first], to[last]})
				break
			}
		}
	}
	return spans
}
