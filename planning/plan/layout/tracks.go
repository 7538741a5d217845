package layout

import "slices"

// tracks gives lanes and marks their columns, row by row.
type tracks struct {
	feeds [][]int // the dependents of each node
	limit int     // columns at most

	marks  []int   // the column of each node so far
	noted  [][]int // the dependencies of each node that no line shows
	tracks []track // lanes, in the order in which they begin

	open []int // the number of the track in each column, -1 for none
	last []int // the node of the lowest mark in each column, -2 for none
	into []int // the track to each node from those with no other dependent, -1 for none
	lone []int // how many nodes each node alone depends on; 0 if they cannot share a lane
}

// track is a lane and the nodes below that it still leads to, in order.
type track struct {
	lane
	rest []int
}

// leadsTo reports whether a track leads to a node, which is the next one.
func (t track) leadsTo(node int) bool { return len(t.rest) > 0 && t.rest[0] == node }

// until returns the last node that an open track leads to.
func (t track) until() int { return t.rest[len(t.rest)-1] }

const (
	// sharedLeast is the least number of nodes that share a lane to their one dependent. Lanes
	// of their own are easier to follow.
	sharedLeast = 5
	// leastColumns is the least number of columns in which no mark must stand below another one
	// that it is not connected with.
	leastColumns = 3
)

// layTracks returns the columns of the nodes of a reduced graph, their lanes in the order in
// which they begin. It also returns the dependencies of each node for which there is no
// room.
func layTracks(reduced Graph, limit int) (marks []int, lanes []lane, noted [][]int) {
	t := newTracks(reduced, max(limit, leastColumns))
	for node := range reduced {
		t.place(node)
	}
	for _, track := range t.tracks {
		if len(track.ends) > 0 {
			lanes = append(lanes, track.lane)
		}
	}
	for _, dependencies := range t.noted {
		slices.Sort(dependencies)
	}
	return t.marks, lanes, t.noted
}

func newTracks(reduced Graph, limit int) *tracks {
	n := len(reduced)
	t := &tracks{
		feeds: make([][]int, n), limit: limit, noted: make([][]int, n),
		open: slices.Repeat([]int{-1}, limit), last: slices.Repeat([]int{-2}, limit),
		into: slices.Repeat([]int{-1}, n), lone: make([]int, n),
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
	t.marks, t.last[mark] = append(t.marks, mark), node
	coming := t.coming(node)
	t.leave(node, mark)
	for _, number := range coming {
		track := &t.tracks[number]
		track.rest = track.rest[1:]
		if !track.into {
			track.ends = append(track.ends, node)
		}
		if len(track.rest) == 0 && t.open[track.column] == number {
			t.open[track.column] = -1
		}
	}
}

// coming returns the open tracks that lead to the next node.
func (t *tracks) coming(node int) (numbers []int) {
	for _, number := range t.open {
		if number >= 0 && t.tracks[number].leadsTo(node) {
			numbers = append(numbers, number)
		}
	}
	return numbers
}

// column returns the column of a node. A lane that goes on below the node is on its left: one
// on its right would look like one that the node leads to. A dependency that finds no such
// place is noted.
func (t *tracks) column(node int) int {
	least := 0
	var ending []int // columns of the lanes below one node that end here
	rightmost := -1  // lane that goes on
	for _, number := range t.coming(node) {
		switch track := &t.tracks[number]; {
		case track.into:
		case track.until() == node:
			ending = append(ending, track.column)
		case track.column >= least:
			least, rightmost = track.column+1, number
		}
	}
	for _, column := range ending {
		if column >= least {
			return column
		}
	}
	if shared := t.into[node]; shared >= 0 && t.tracks[shared].column >= least {
		column := t.tracks[shared].column
		for column > least && t.isFree(column-1, node) { // as far left as no lane is in the way
			column--
		}
		return column
	}
	if column := t.free(least, node); column >= 0 {
		return column
	}
	if rightmost >= 0 {
		t.note(rightmost)
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

// note notes the next dependency of a track in place of the line to it.
func (t *tracks) note(number int) {
	track := &t.tracks[number]
	to := track.rest[0]
	track.rest = track.rest[1:]
	t.noted[to] = append(t.noted[to], track.hub)
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
				t.into[hub] = t.begin(track{lane{column: column, hub: hub, into: true}, dependents})
			}
		}
		if shared := t.into[hub]; shared >= 0 && t.tracks[shared].column > mark {
			t.tracks[shared].ends = append(t.tracks[shared].ends, node)
			return
		}
	}
	t.begin(track{lane{column: mark, hub: node}, dependents})
}

// begin opens a track and returns its number.
func (t *tracks) begin(opened track) int {
	number := len(t.tracks)
	t.tracks = append(t.tracks, opened)
	t.open[opened.column] = number
	return number
}

// cutLongest ends the track that would run longest before a node, notes the dependencies that it
// would still show, and returns its column. One that leads to the node goes last, and the one
// of the node before, whose mark is in the way, stays.
func (t *tracks) cutLongest(node int) int {
	longest := -1
	for _, number := range t.open {
		if number < 0 || t.tracks[number].hub == node-1 && !t.tracks[number].into {
			continue
		}
		if longest < 0 {
			longest = number
			continue
		}
		one, other := t.tracks[number], t.tracks[longest]
		if one.leadsTo(node) == other.leadsTo(node) && one.until() > other.until() || !one.leadsTo(node) && other.leadsTo(node) {
			longest = number
		}
	}
	cut := &t.tracks[longest]
	if cut.into {
		t.noted[cut.hub] = append(t.noted[cut.hub], cut.ends...)
		t.into[cut.hub], t.lone[cut.hub], cut.ends = -1, 0, nil
	} else {
		for _, to := range cut.rest {
			t.noted[to] = append(t.noted[to], cut.hub)
		}
	}
	t.open[cut.column], cut.rest = -1, nil
	return cut.column
}
