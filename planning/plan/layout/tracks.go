package layout

import "slices"

// tracks gives lanes and marks their columns, row by row.
type tracks struct {
	graph Graph
	feeds [][]int // the dependents of each node
	limit int
	rails *Rails

	open []int // the number of the lane in each column, -1 for none
	last []int // the node of the lowest mark in each column, -2 for none
	into []int // the lane to each node from those with no other dependent, -1 for none
	lone []int // how many nodes each node alone depends on; 0 if they cannot share a lane
}

const (
	// sharedLeast is the least number of nodes that share a lane to their one dependent. Lanes
	// of their own are easier to follow.
	sharedLeast = 5
	// leastColumns is the least number of columns in which no mark must stand below another one
	// that it is not connected with.
	leastColumns = 3
)

func newTracks(reduced Graph, limit int) *tracks {
	n := len(reduced)
	t := &tracks{
		graph: reduced, feeds: make([][]int, n), limit: limit, open: slices.Repeat([]int{-1}, limit), last: slices.Repeat([]int{-2}, limit), into: slices.Repeat([]int{-1}, n), lone: make([]int, n),
		rails: &Rails{Noted: make([][]int, n), marks: make([]int, n), in: make([][]int, n), out: make([][]int, n)},
	}
	for node, dependencies := range reduced {
		for _, d := range dependencies {
			t.feeds[d] = append(t.feeds[d], node)
		}
	}
	for _, dependents := range t.feeds {
		if len(dependents) == 1 {
			t.lone[dependents[0]]++
		}
	}
	return t
}

// place gives the next node its mark, ends the lanes that lead to it, and begins those that
// leave it.
func (t *tracks) place(node int) {
	mark := t.column(node)
	t.rails.marks[node], t.last[mark] = mark, node
	ended := t.coming(node)
	t.rails.in[node] = ended
	t.leave(node, mark)
	for _, number := range ended {
		if l := &t.rails.lanes[number]; l.last() == node && t.open[l.column] == number {
			t.open[l.column] = -1
		}
	}
}

// coming returns the open lanes that lead to a node.
func (t *tracks) coming(node int) (lanes []int) {
	for _, number := range t.open {
		if number < 0 {
			continue
		}
		if l := &t.rails.lanes[number]; l.into && l.hub == node || !l.into && slices.Contains(l.ends, node) {
			lanes = append(lanes, number)
		}
	}
	return lanes
}

// column returns the column of a node. A lane that goes on below the node is on its left: one
// on its right would look like one that the node leads to. A dependency that finds no such
// place is noted.
func (t *tracks) column(node int) int {
	least := 0
	var ending []int // columns of the lanes below one node that end here
	rightmost := -1  // lane that goes on
	for _, number := range t.coming(node) {
		switch l := &t.rails.lanes[number]; {
		case l.into:
		case l.last() == node:
			ending = append(ending, l.column)
		case l.column >= least:
			least, rightmost = l.column+1, number
		}
	}
	for _, column := range ending {
		if column >= least {
			return column
		}
	}
	if shared := t.into[node]; shared >= 0 && t.rails.lanes[shared].column >= least {
		column := t.rails.lanes[shared].column
		for column > least && t.isFree(column-1, node) { // as far left as no lane is in the way
			column--
		}
		return column
	}
	if column := t.free(least, node); column >= 0 {
		return column
	}
	if rightmost >= 0 {
		t.note(rightmost, node)
		return t.column(node)
	}
	return t.cutLongest(node)
}

// free returns the first free column from one on, -1 if there is none.
func (t *tracks) free(from, node int) int {
	for column := from; column < t.limit; column++ {
		if t.isFree(column, node) {
			return column
		}
	}
	return -1
}

// isFree reports whether the row of a node has room in a column. Below the mark of the node
// before, another mark would look like the next one on its lane.
func (t *tracks) isFree(column, node int) bool {
	return t.open[column] < 0 && t.last[column] != node-1
}

// note notes a dependency in place of the line to it.
func (t *tracks) note(number, to int) {
	l := &t.rails.lanes[number]
	l.ends = slices.DeleteFunc(l.ends, func(end int) bool { return end == to })
	t.rails.Noted[to] = append(t.rails.Noted[to], l.hub)
}

// leave begins the lane below a node, or joins the one to its only dependent.
func (t *tracks) leave(node, mark int) {
	dependents := t.feeds[node]
	if len(dependents) == 0 {
		return
	}
	if hub := dependents[0]; len(dependents) == 1 && t.lone[hub] >= sharedLeast {
		if t.into[hub] < 0 {
			column := t.free(mark+2, node) // one is left for the next of these nodes
			if column < 0 {
				column = t.free(mark+1, node)
			}
			if column >= 0 {
				t.into[hub] = t.begin(lane{column: column, hub: hub, into: true})
			}
		}
		if shared := t.into[hub]; shared >= 0 && t.rails.lanes[shared].column > mark {
			l := &t.rails.lanes[shared]
			l.ends = append(l.ends, node)
			t.rails.out[node] = []int{shared}
			return
		}
	}
	t.rails.out[node] = []int{t.begin(lane{column: mark, hub: node, ends: slices.Clone(dependents)})}
}

// begin opens a lane and returns its number.
func (t *tracks) begin(l lane) int {
	number := len(t.rails.lanes)
	t.rails.lanes = append(t.rails.lanes, l)
	t.open[l.column] = number
	return number
}

// cutLongest ends the lane that would run longest before a node, notes the dependencies that it
// would still show, and returns its column. A lane that leads to the node goes last, and the one
// of the node before, whose mark is in the way, stays.
func (t *tracks) cutLongest(node int) int {
	coming, longest := t.coming(node), -1
	for _, number := range t.open {
		if number < 0 || t.rails.lanes[number].hub == node-1 && !t.rails.lanes[number].into {
			continue
		}
		if longest < 0 {
			longest = number
			continue
		}
		leads, other := slices.Contains(coming, number), slices.Contains(coming, longest)
		if !leads && other || leads == other && t.rails.lanes[number].last() > t.rails.lanes[longest].last() {
			longest = number
		}
	}
	l := &t.rails.lanes[longest]
	t.open[l.column] = -1
	if l.into {
		for _, from := range l.ends {
			t.rails.Noted[l.hub] = append(t.rails.Noted[l.hub], from)
			t.rails.out[from] = nil
		}
		t.into[l.hub], t.lone[l.hub], l.ends = -1, 0, nil
		return l.column
	}
	l.ends = slices.DeleteFunc(l.ends, func(to int) bool {
		if to >= node {
			t.rails.Noted[to] = append(t.rails.Noted[to], l.hub)
		}
		return to >= node
	})
	if len(l.ends) == 0 {
		t.rails.out[l.hub] = nil
	}
	return l.column
}

// finish returns the rails once every node is placed.
func (t *tracks) finish() *Rails {
	r, columns := t.rails, 0
	for _, noted := range r.Noted {
		slices.Sort(noted)
	}
	for _, mark := range r.marks {
		columns = max(columns, mark+1)
	}
	for i := range r.lanes {
		columns = max(columns, r.lanes[i].column+1)
	}
	r.Width = max(2*columns-1, 0)
	r.columns = make([][]int, columns)
	for number := range r.lanes {
		if l := &r.lanes[number]; len(l.ends) > 0 {
			r.columns[l.column] = append(r.columns[l.column], number)
		}
	}
	return r
}
