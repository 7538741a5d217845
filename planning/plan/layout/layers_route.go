package layout

import (
	"cmp"
	"math"
	"slices"
)

// channel is the room between two layers. Each net with a bend in it has a track
// of its own there, or shares one with nets elsewhere.
type channel struct {
	segments []segment
	tracks   int
}

// segment is the part of a net in a track: it joins lines to the layer before and
// lines to the layer behind.
type segment struct {
	bundle   int
	up, down []int // units, sorted
	lo, hi   int
	straight bool // it is one line without a track
	track    int
	half     half
	jog      int // where the other half is joined
}

// half says which part of its net's lines in the channel a segment is.
type half int

const (
	whole half = iota
	upper      // joins the lines from the layer before
	lower      // joins the lines to the layer behind
)

// route finds the tracks of all channels.
func (d *layering) route() {
	d.channels = make([]channel, len(d.gaps))
	for l, gap := range d.gaps {
		r := &routing{}
		for i := range gap {
			r.add(i, units(gap[i].up), units(gap[i].down))
		}
		r.constrain()
		for r.breakCycle() {
			r.constrain()
		}
		r.assign()
		d.channels[l] = r.channel
	}
}

func units(pins []pin) []int {
	at := make([]int, len(pins))
	for i := range pins {
		at[i] = pins[i].at
	}
	slices.Sort(at)
	return at
}

// routing finds the tracks of a channel.
type routing struct {
	channel
	above [][]int // for each segment, those with a track behind its own
	taken map[int]bool
}

func (r *routing) add(bundle int, up, down []int) *segment {
	s := segment{bundle: bundle, up: up, down: down, lo: math.MaxInt, hi: math.MinInt}
	for _, at := range [][]int{up, down} {
		if len(at) > 0 {
			s.lo, s.hi = min(s.lo, at[0]), max(s.hi, at[len(at)-1])
		}
	}
	s.straight = s.lo == s.hi
	r.segments = append(r.segments, s)
	return &r.segments[len(r.segments)-1]
}

// constrain finds the segments with a fixed order of tracks. Where one net comes
// from the layer before, and another leads to the layer behind at the same unit,
// they would meet otherwise.
func (r *routing) constrain() {
	coming, upperAt := make(map[int]int), make(map[int]int)
	r.taken = make(map[int]bool)
	for i := range r.segments {
		s := &r.segments[i]
		for _, at := range s.up {
			r.taken[at] = true
			if s.half != lower {
				coming[at] = i
			}
		}
		if s.half == upper {
			upperAt[s.jog] = i
		}
	}
	r.above = make([][]int, len(r.segments))
	for i := range r.segments {
		s := &r.segments[i]
		if s.half == lower {
			r.above[upperAt[s.jog]] = append(r.above[upperAt[s.jog]], i)
		}
		if s.half == upper {
			continue
		}
		for _, at := range s.down {
			r.taken[at] = true
			if a, ok := coming[at]; ok && a != i {
				r.above[a] = append(r.above[a], i)
			}
		}
	}
}

// breakCycle splits a segment ordered before itself into two halves, joined on
// free units, and reports whether there was one.
func (r *routing) breakCycle() bool {
	const fresh, open, closed = 0, 1, 2
	state := make([]int, len(r.segments))
	found := -1
	var visit func(i int) bool
	visit = func(i int) bool {
		state[i] = open
		for _, next := range r.above[i] {
			if state[next] == open {
				found = next
				return true
			}
			if state[next] == fresh && visit(next) {
				return true
			}
		}
		state[i] = closed
		return false
	}
	for i := range r.segments {
		if state[i] == fresh && visit(i) {
			break
		}
	}
	if found < 0 {
		return false
	}
	s := r.segments[found]
	jog := r.free((s.lo + s.hi) / 2)
	up, down := s.up, s.down
	r.segments = slices.Delete(r.segments, found, found+1)
	first := r.add(s.bundle, up, []int{jog})
	first.half, first.jog = upper, jog
	second := r.add(s.bundle, []int{jog}, down)
	second.half, second.jog = lower, jog
	return true
}

// free is the unit nearest to a place at which no line is yet.
func (r *routing) free(near int) int {
	for by := 0; ; by++ {
		if !r.taken[near+by] {
			return near + by
		}
		if near >= by && !r.taken[near-by] {
			return near - by
		}
	}
}

// assign gives each segment its track. Of two in any order, the one saving
// crossings comes first.
func (r *routing) assign() {
	n := len(r.segments)
	blocked := make([]int, n) // how many must be before each
	for _, behind := range r.above {
		for _, b := range behind {
			blocked[b]++
		}
	}
	cost := r.costs()
	left := make([]bool, n)
	for i := range left {
		left[i] = true
	}
	order := make([]int, 0, n)
	for range n {
		best := -1
		for i := range n {
			if left[i] && blocked[i] == 0 && (best < 0 || cmp.Compare(cost.total[i], cost.total[best]) < 0) {
				best = i
			}
		}
		left[best] = false
		for i := range n {
			cost.total[i] -= cost.first[i*n+best]
		}
		for _, b := range r.above[best] {
			blocked[b]--
		}
		s := &r.segments[best]
		if s.straight {
			continue
		}
		for _, o := range order {
			if before := &r.segments[o]; before.lo <= s.hi && s.lo <= before.hi {
				s.track = max(s.track, before.track+1)
			}
		}
		order = append(order, best)
		r.tracks = max(r.tracks, s.track+1)
	}
}

// costs counts the extra crossings with the track of segment i before the track of
// j, in first[i*n+j], and sums them over all j.
type costs struct{ first, total []int }

func (r *routing) costs() costs {
	n := len(r.segments)
	c := costs{make([]int, n*n), make([]int, n)}
	for i := range n {
		for j := i + 1; j < n; j++ {
			a, b := &r.segments[i], &r.segments[j]
			if a.straight || b.straight || a.hi < b.lo || b.hi < a.lo {
				continue
			}
			more := within(a.down, b) + within(b.up, a) - within(b.down, a) - within(a.up, b)
			c.first[i*n+j], c.first[j*n+i] = more, -more
			c.total[i] += more
			c.total[j] -= more
		}
	}
	return c
}

// within counts the units covered by a segment.
func within(at []int, s *segment) int {
	first, _ := slices.BinarySearch(at, s.lo)
	last, _ := slices.BinarySearch(at, s.hi+1)
	return last - first
}
