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

// Cell is one character of the rails. It has the sides joined by its line, and the column
// of the lane that the line belongs to, -1 for none.
type Cell struct {
	Sides uint8
	Lane  int
}

// Rails are lines beside a list of nodes, one row a node. They join each node to what it
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

	marks   []int // the column of each node
	lanes   []lane
	meets   [][]int // the lanes that each node joins from their side, by number, the nearest first
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
func (l lane) first() int {
	if l.into {
		return l.ends[0]
	}
	return l.hub
}

func (l lane) last() int {
	if l.into {
		return l.hub
	}
	return l.ends[len(l.ends)-1]
}

// passes reports whether a lane begins above a row and ends below it.
func (l lane) passes(row int) bool { return l.first() < row && row < l.last() }

// NewRails lays out the rails of a reduced graph. At most limit lanes and marks, but no fewer
// than three, stand side by side; dependencies that find no room are noted.
func NewRails(reduced Graph, limit int) *Rails {
	r := &Rails{meets: make([][]int, len(reduced))}
	r.marks, r.lanes, r.Noted = layTracks(reduced, limit)
	for _, mark := range r.marks {
		r.widen(mark)
	}
	for number, l := range r.lanes {
		r.widen(l.column)
		r.columns[l.column] = append(r.columns[l.column], number)
		if l.into {
			r.meets[l.hub] = append(r.meets[l.hub], number)
		}
		for _, end := range l.ends {
			r.meets[end] = append(r.meets[end], number)
		}
	}
	for node, meets := range r.meets {
		away := func(number int) int {
			return max(r.lanes[number].column-r.marks[node], r.marks[node]-r.lanes[number].column)
		}
		slices.SortFunc(meets, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	}
	r.Width = max(2*len(r.columns)-1, 0)
	return r
}

// widen adds columns up to one.
func (r *Rails) widen(column int) {
	for len(r.columns) <= column {
		r.columns = append(r.columns, nil)
	}
}

// Mark returns the cell in the row of a node in which its mark stands.
func (r *Rails) Mark(node int) int { return 2 * r.marks[node] }

// Row returns the cells beside a node, Width of them. The one of its mark is empty.
func (r *Rails) Row(node int) []Cell {
	cells := r.between(node, func(l lane) bool { return l.passes(node) })
	mark := r.Mark(node)
	for _, number := range r.meets[node] {
		l := r.lanes[number]
		end, step := 2*l.column, cmp.Compare(2*l.column, mark)
		if step == 0 {
			continue
		}
		for c := mark + step; c != end; c += step {
			if cells[c].Sides == 0 {
				cells[c].Lane = l.column
			}
			if cells[c].Sides != SideUp|SideDown { // a lane that only passes
				cells[c].Sides |= SideLeft | SideRight
			}
		}
		cells[end].Lane = l.column
		cells[end].Sides |= sides(l.first() < node, node < l.last(), step > 0, step < 0)
	}
	cells[mark] = Cell{Lane: r.marks[node]}
	return cells
}

// Below returns the cells between a node and the one after it.
func (r *Rails) Below(node int) []Cell {
	return r.between(node, func(l lane) bool { return l.first() <= node && node < l.last() })
}

// between returns a row with the lanes at a node that run through it.
func (r *Rails) between(node int, runs func(lane) bool) []Cell {
	cells := make([]Cell, r.Width)
	for i := range cells {
		cells[i].Lane = -1
	}
	for number := range r.at(node) {
		if l := r.lanes[number]; runs(l) {
			cells[2*l.column] = Cell{SideUp | SideDown, l.column}
		}
	}
	return cells
}

// at yields the lanes that begin, run or end at a node.
func (r *Rails) at(node int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for _, numbers := range r.columns {
			first, _ := slices.BinarySearchFunc(numbers, node, func(number, node int) int { return cmp.Compare(r.lanes[number].last(), node) })
			for _, number := range numbers[first:] {
				if r.lanes[number].first() > node {
					break
				}
				if !yield(number) {
					return
				}
			}
		}
	}
}

// sides returns the sides of a cell.
func sides(up, down, left, right bool) (s uint8) {
	for i, joined := range [...]bool{up, down, left, right} {
		if joined {
			s |= SideUp << i
		}
	}
	return s
}
