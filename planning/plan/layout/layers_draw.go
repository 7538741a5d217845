package layout

import (
	"math"
	"slices"
)

// drawing turns units and tracks into cells, and lines.
func (d *layering) drawing() *Layers {
	w := &writer{layering: d, out: &Layers{Direction: d.spec.Direction, Boxes: make([]Box, len(d.graph)), Grown: d.grown}}
	w.measure()
	for l, layer := range d.layers {
		for place, it := range layer {
			if d.items[it].node >= 0 {
				w.box(l, place, &d.items[it])
			}
		}
	}
	w.roots = make([]int, len(d.nets))
	w.passing = make([]int, len(d.items))
	for l := range d.gaps {
		w.gap(l)
	}
	w.done = make([]bool, len(w.lines))
	w.out.Lines = make([]Line, 0, len(w.lines))
	w.out.Nets = make([]Net, len(d.nets))
	for n := range d.nets {
		w.walk(n, w.roots[n]-1)
	}
	return w.out
}

// writer writes a drawing.
type writer struct {
	*layering
	out     *Layers
	start   []int   // first cell of each layer
	points  []point // of all nets
	lines   []joint
	roots   []int // of each net one more than the first of its points
	passing []int // for each item passed by a net, its point
	ends    []int
	stubs   []stub
	done    []bool // lines walked already
}

// point is where lines of a net meet or end, in cells along the layers and in
// units across them.
type point struct {
	along, across int
	node          int // of the box around it, -1 for none
	source        bool
	line          int // one more than the last line ending there
}

// joint is a line between two points, and for each of them one more than the next
// line ending there.
type joint struct{ points, next [2]int }

// stub is a line from a track to a layer, or to the other half of a segment.
type stub struct {
	across int
	end    int // its point, -1 for the other half
}

func (w *writer) add(net int, p point) int {
	w.points = append(w.points, p)
	if w.roots[net] == 0 {
		w.roots[net] = len(w.points)
	}
	return len(w.points) - 1
}

func (w *writer) join(a, b int) {
	w.lines = append(w.lines, joint{[2]int{a, b}, [2]int{w.points[a].line, w.points[b].line}})
	w.points[a].line, w.points[b].line = len(w.lines), len(w.lines)
}

// depth is how many cells a box takes along the layers.
func (w *writer) depth() int {
	if w.spec.Direction == Right {
		return max(w.spec.Width, 1)
	}
	return max(w.spec.Height, 1)
}

// wide is the width of a channel along the layers, in cells. In one leading right
// each track has a blank beside it.
func (w *writer) wide(l int) int {
	tracks := w.channels[l].tracks
	if w.spec.Direction == Right {
		return max(2*tracks+1, 3)
	}
	return max(tracks, 1)
}

// measure finds where the layers begin, and how large all is.
func (w *writer) measure() {
	least, most, along := math.MaxInt, 0, 0
	span := func(first, last int) { least, most = min(least, first), max(most, last) }
	for l, layer := range w.layers {
		w.start = append(w.start, along)
		along += w.depth()
		for _, it := range layer {
			span(w.items[it].at, w.items[it].at+w.items[it].extent-1)
		}
		if l < len(w.gaps) {
			along += w.wide(l)
			for _, s := range w.channels[l].segments {
				span(s.lo, s.hi)
			}
		}
	}
	if len(w.layers) == 0 {
		return
	}
	w.out.Width, w.out.Height = w.cell(most)+1, along
	if w.spec.Direction == Right {
		w.out.Width, w.out.Height = along, most+1
	}
}

// cell is the cell of a unit. Lines leading down are at least two cells apart, so
// that a corner of one is not taken for one of its neighbor.
func (w *writer) cell(unit int) int {
	if w.spec.Direction == Right {
		return unit
	}
	return 2 * unit
}

func (w *writer) box(l, place int, it *item) {
	across, extent := w.cell(it.at), w.cell(it.extent-1)+1
	b := Box{X: across, Y: w.start[l], W: extent, H: w.depth(), Layer: l, Place: place}
	if w.spec.Direction == Right {
		b = Box{X: w.start[l], Y: across, W: w.depth(), H: extent, Layer: l, Place: place}
	}
	w.out.Boxes[it.node] = b
}

// gap adds the lines of a channel to their nets.
func (w *writer) gap(l int) {
	gap := w.gaps[l]
	first := make([]int, len(gap)) // where the points of a bundle begin: up, then down
	w.ends = w.ends[:0]
	for i := range gap {
		b := &gap[i]
		first[i] = len(w.ends)
		for _, pin := range b.up {
			w.ends = append(w.ends, w.end(b.net, pin, w.start[l]+w.depth()-1, true))
		}
		for _, pin := range b.down {
			w.ends = append(w.ends, w.end(b.net, pin, w.start[l+1], false))
		}
	}
	jogs := make([]int, len(gap)) // the points at which the upper halves end
	for _, h := range []half{whole, upper, lower} {
		for i := range w.channels[l].segments {
			if s := &w.channels[l].segments[i]; s.half == h {
				w.segment(l, s, &gap[s.bundle], w.ends[first[s.bundle]:], &jogs[s.bundle])
			}
		}
	}
}

// end is the point where a line meets a layer.
func (w *writer) end(net int, at pin, along int, source bool) int {
	it := &w.items[at.item]
	switch {
	case it.node >= 0:
		return w.add(net, point{along: along, across: at.at, node: it.node, source: source})
	case source:
		return w.passing[at.item]
	default:
		w.passing[at.item] = w.add(net, point{along: along, across: at.at, node: -1})
		return w.passing[at.item]
	}
}

// segment adds the lines of a segment: along its track, and to both layers.
func (w *writer) segment(l int, s *segment, b *bundle, ends []int, jog *int) {
	if s.straight {
		w.join(ends[0], ends[1])
		return
	}
	along := w.start[l] + w.depth() + s.track
	if w.spec.Direction == Right {
		along += s.track + 1
	}
	stubs := w.stubs[:0]
	if s.half != lower {
		for i, pin := range b.up {
			stubs = append(stubs, stub{pin.at, ends[i]})
		}
	}
	if s.half != upper {
		for i, pin := range b.down {
			stubs = append(stubs, stub{pin.at, ends[len(b.up)+i]})
		}
	}
	if s.half != whole {
		stubs = append(stubs, stub{s.jog, -1})
	}
	w.stubs = stubs
	slices.SortStableFunc(stubs, func(a, b stub) int { return a.across - b.across })
	last := -1
	for i, st := range stubs {
		if i == 0 || stubs[i-1].across != st.across {
			at := w.add(b.net, point{along: along, across: st.across, node: -1})
			if last >= 0 {
				w.join(last, at)
			}
			last = at
		}
		switch {
		case st.end >= 0:
			w.join(last, st.end)
		case s.half == upper:
			*jog = last
		default:
			w.join(*jog, last)
		}
	}
}

// walk writes the lines of a net from a point on, so that the ends met between two
// moments are the ends behind one line.
func (w *writer) walk(n, at int) {
	p, net := &w.points[at], &w.out.Nets[n]
	if p.node >= 0 {
		net.Ends = append(net.Ends, End{Node: p.node, Source: p.source})
	}
	for i := p.line - 1; i >= 0; {
		j, line, self := &w.lines[i], i, 0
		if j.points[1] == at {
			self = 1
		}
		i = j.next[self] - 1
		if w.done[line] {
			continue
		}
		w.done[line] = true
		first := len(net.Ends)
		w.walk(n, j.points[1-self])
		out := Line{Net: n, First: first, Last: len(net.Ends)}
		out.X1, out.Y1 = w.xy(p)
		out.X2, out.Y2 = w.xy(&w.points[j.points[1-self]])
		w.out.Lines = append(w.out.Lines, out)
	}
}

func (w *writer) xy(p *point) (x, y int) {
	if w.spec.Direction == Right {
		return p.along, w.cell(p.across)
	}
	return w.cell(p.across), p.along
}
