package layout

import (
	"cmp"
	"iter"
	"slices"
)

// The sides of a cell, joined by a line.
const (
	SideUp uint8 = 1 << iota
	SideDown
	SideLeft
	SideRight
)

// Cell is one character of the rails: the sides joined by its line, and the column of
// the lane that the line belongs to, -1 for none.
type Cell struct {
	Sides uint8
	Lane  int
}

// Rails are lines beside a list of nodes, one row a node, that join each node to what it
// depends on, as git log --graph does. The mark of a node stands in a column of its own
// row. Lines that come into a node from above end in its row, those that leave it begin
// below it:
//
//	○      a
//	├─○    b after a
//	○─╯    c after a and b
//
// A node with several dependents has a lane below its mark, which each of them but the
// last one branches off. Many nodes that only one node depends on share a lane on their
// right, which ends at that node:
//
//	├─○───╮
//	├───○─┤
//	├─○───┤
//
// Of two marks in one column with nothing between them, the lower one comes after the upper
// one. A lane keeps its column. A line that crosses a lane without joining it passes below it.
type Rails struct {
	Width int     // cells of a row
	Noted [][]int // the dependencies of each node that no line shows

	marks []int // the column of each node
	lanes []lane
	in    [][]int // the lanes that lead to each node from above, by number
	out   [][]int // the lanes on which each node leads to those below

	columns [][]int // the lanes in each column, from the top
}

// lane is dependencies that share one vertical line: those on one node, its hub, or those
// of the hub on several nodes.
type lane struct {
	column int
	hub    int
	into   bool  // leads to the hub
	ends   []int // the other nodes, in order
}

// first and last are the rows between which a lane runs.
func (l *lane) first() int {
	if l.into {
		return l.ends[0]
	}
	return l.hub
}

func (l *lane) last() int {
	if l.into {
		return l.hub
	}
	return l.ends[len(l.ends)-1]
}

// crosses reports whether a dependency that on accepts runs through the lane at a height: rows
// are even numbers, and the odd ones stand for what is between them.
func (l *lane) crosses(height int, on func(from, to int) bool) bool {
	return slices.ContainsFunc(l.ends, func(end int) bool {
		from, to := l.hub, end
		if l.into {
			from, to = end, l.hub
		}
		return 2*from <= height && height <= 2*to && on(from, to)
	})
}

// NewRails lays out the rails of a reduced graph. At most limit lanes and marks, but no fewer
// than three, stand side by side; dependencies that find no room are noted.
func NewRails(reduced Graph, limit int) *Rails {
	t := newTracks(reduced, max(limit, leastColumns))
	for node := range reduced {
		t.place(node)
	}
	return t.finish()
}

// Mark returns the cell in the row of a node in which its mark stands.
func (r *Rails) Mark(node int) int { return 2 * r.marks[node] }

// Row returns the cells beside a node, Width of them. The one of its mark is empty.
func (r *Rails) Row(node int) []Cell {
	cells := r.between(node, func(l *lane) bool { return l.first() < node && node < l.last() })
	mark := r.marks[node]
	join := func(number int, up, down bool) {
		l := &r.lanes[number]
		if l.column == mark {
			return
		}
		at := &cells[2*l.column]
		at.Lane = l.column
		at.Sides |= sides(up, down, l.column > mark, l.column < mark)
		step := 1
		if l.column < mark {
			step = -1
		}
		for c := 2*mark + step; c != 2*l.column; c += step {
			if cells[c].Sides&(SideUp|SideDown) == 0 {
				cells[c] = Cell{SideLeft | SideRight, l.column}
			}
		}
	}
	ends := slices.Concat(r.in[node], r.out[node])
	for _, number := range ends {
		l := &r.lanes[number]
		join(number, l.first() < node, node < l.last())
	}
	// A line to a farther lane runs through the ends of nearer ones.
	for _, number := range ends {
		near := r.lanes[number].column
		for _, other := range ends {
			far := r.lanes[other].column
			if near != mark && (mark < near && near < far || far < near && near < mark) {
				cells[2*near].Sides |= SideLeft | SideRight
			}
		}
	}
	cells[2*mark] = Cell{Lane: mark}
	return cells
}

// Below returns the cells between a node and the one after it.
func (r *Rails) Below(node int) []Cell {
	return r.between(node, func(l *lane) bool { return l.first() <= node && node < l.last() })
}

// between returns a row with the lanes at a node that run through it.
func (r *Rails) between(node int, runs func(*lane) bool) []Cell {
	cells := make([]Cell, r.Width)
	for i := range cells {
		cells[i].Lane = -1
	}
	for column := range r.columns {
		for l := range r.at(column, node) {
			if runs(l) {
				cells[2*column] = Cell{SideUp | SideDown, column}
			}
		}
	}
	return cells
}

// at yields the lanes in a column that begin, run or end at a node.
func (r *Rails) at(column, node int) iter.Seq[*lane] {
	return func(yield func(*lane) bool) {
		numbers := r.columns[column]
		first, _ := slices.BinarySearchFunc(numbers, node, func(number, node int) int { return cmp.Compare(r.lanes[number].last(), node) })
		for _, number := range numbers[first:] {
			if l := &r.lanes[number]; l.first() > node || !yield(l) {
				return
			}
		}
	}
}

// Lit reports which cells of the row of a node, or of what is below it, belong to a
// dependency that on accepts.
func (r *Rails) Lit(node int, below bool, on func(from, to int) bool) []bool {
	lit := make([]bool, r.Width)
	height := 2 * node
	if below {
		height++
	}
	passed := make([]bool, r.Width) // by a lane that does not end here
	for column := range r.columns {
		for l := range r.at(column, node) {
			lit[2*column] = lit[2*column] || l.crosses(height, on)
			passed[2*column] = passed[2*column] || l.first() < node && node < l.last()
		}
	}
	if below {
		return lit
	}
	mark := r.marks[node]
	for _, number := range slices.Concat(r.in[node], r.out[node]) {
		l := &r.lanes[number]
		from, to := min(l.hub, node), max(l.hub, node)
		if !on(from, to) {
			continue
		}
		for c := 2*min(mark, l.column) + 1; c < 2*max(mark, l.column); c++ {
			lit[c] = lit[c] || !passed[c]
		}
	}
	lit[2*mark] = false
	return lit
}

// sides returns the sides of a cell.
func sides(up, down, left, right bool) (s uint8) {
	for side, joined := range map[uint8]bool{SideUp: up, SideDown: down, SideLeft: left, SideRight: right} {
		if joined {
			s |= side
		}
	}
	return s
}
