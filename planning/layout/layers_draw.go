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
	w.paths = make([]path, len(d.nets))
	w.passing = make([]int, len(d.items))
	for l := range d.gaps {
		w.gap(l)
	}
	w.out.Nets = make([]Net, len(d.nets))
	for n := range d.nets {
		w.walk(n)
	}
	return w.out
}

// writer writes a drawing.
type writer struct {
	*layering
	out     *Layers
	start   []int  // first cell of each layer
	paths   []path // of each net
	passing []int  // for each item that a net passes, its point
}

// point is where lines of a net meet or end, in cells along the layers and in
// units across them.
type point struct {
	along, across int
	node          int // of the box that it is in, -1 for none
	source        bool
	lines         []int // by their place in the path
}

// path is the points of a net and the lines between them.
type path struct {
	points []point
	lines  [][2]int
}

func (p *path) add(q point) int {
	p.points = append(p.points, q)
	return len(p.points) - 1
}

func (p *path) join(a, b int) {
	p.lines = append(p.lines, [2]int{a, b})
	for _, i := range [2]int{a, b} {
		p.points[i].lines = append(p.points[i].lines, len(p.lines)-1)
	}
}

// depth is how many cells a box takes along the layers.
func (w *writer) depth() int {
	if w.spec.Direction == Right {
		return max(w.spec.Width, 1)
	}
	return max(w.spec.Height, 1)
}

// wide is how many cells a channel takes along the layers. In one that leads
// right each track has a blank beside it.
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

// cell is the cell of a unit. Lines that lead down stand two cells apart at
// least, so that a corner of one is not taken for one of its neighbour.
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
	ends := make([][]int, len(gap)) // points of pins, of each bundle: up, then down
	for i := range gap {
		b := &gap[i]
		p := &w.paths[b.net]
		for _, pin := range b.up {
			ends[i] = append(ends[i], w.end(p, pin, w.start[l]+w.depth()-1, true))
		}
		for _, pin := range b.down {
			ends[i] = append(ends[i], w.end(p, pin, w.start[l+1], false))
		}
	}
	jogs := make([]int, len(gap)) // the points at which the upper halves end
	for _, h := range []half{whole, upper, lower} {
		for _, s := range w.channels[l].segments {
			if s.half == h {
				w.segment(l, &s, &gap[s.bundle], ends[s.bundle], &jogs[s.bundle])
			}
		}
	}
}

// end is the point where a line meets a layer.
func (w *writer) end(p *path, at pin, along int, source bool) int {
	it := &w.items[at.item]
	switch {
	case it.node >= 0:
		return p.add(point{along: along, across: at.at, node: it.node, source: source})
	case source:
		return w.passing[at.item]
	default:
		w.passing[at.item] = p.add(point{along: along, across: at.at, node: -1})
		return w.passing[at.item]
	}
}

// segment adds the lines of a segment: along its track, and to both layers.
func (w *writer) segment(l int, s *segment, b *bundle, ends []int, jog *int) {
	p := &w.paths[b.net]
	if s.straight {
		p.join(ends[0], ends[1])
		return
	}
	along := w.start[l] + w.depth() + s.track
	if w.spec.Direction == Right {
		along += s.track + 1
	}
	type stub struct{ across, end int }
	var stubs []stub
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
	slices.SortStableFunc(stubs, func(a, b stub) int { return a.across - b.across })
	last := -1
	for i, st := range stubs {
		if i == 0 || stubs[i-1].across != st.across {
			at := p.add(point{along: along, across: st.across, node: -1})
			if last >= 0 {
				p.join(last, at)
			}
			last = at
		}
		switch {
		case st.end >= 0:
			p.join(last, st.end)
		case s.half == upper:
			*jog = last
		default:
			p.join(*jog, last)
		}
	}
}

// walk writes the lines of a net in the order of a walk through it, so that what
// lies behind a line is the ends that the walk meets between two moments.
func (w *writer) walk(n int) {
	p := &w.paths[n]
	net := &w.out.Nets[n]
	done := make([]bool, len(p.lines))
	var visit func(at int)
	visit = func(at int) {
		q := &p.points[at]
		if q.node >= 0 {
			net.Ends = append(net.Ends, End{Node: q.node, Source: q.source})
		}
		for _, i := range q.lines {
			if done[i] {
				continue
			}
			done[i] = true
			other := p.lines[i][0] + p.lines[i][1] - at
			first := len(net.Ends)
			visit(other)
			line := Line{Net: n, First: first, Last: len(net.Ends)}
			line.X1, line.Y1 = w.xy(q)
			line.X2, line.Y2 = w.xy(&p.points[other])
			w.out.Lines = append(w.out.Lines, line)
		}
	}
	visit(0)
}

func (w *writer) xy(p *point) (x, y int) {
	if w.spec.Direction == Right {
		return p.along, w.cell(p.across)
	}
	return w.cell(p.across), p.along
}
