package layout

// Direction is where a layered drawing leads to.
type Direction int

// The directions there are.
const (
	Down  Direction = iota // layers are rows
	Right                  // layers are columns
)

// Spec says how boxes are drawn, in cells.
type Spec struct {
	Direction Direction
	Width     int  // of a box
	Height    int  // of a box
	Framed    bool // no line meets the corners of a box, which has a border
}

// Layers is a layered drawing. Each node is a box, nodes of one layer are side by side,
// and lines join a box to its dependents.
//
// Lines with common ends form a net. Everything entering a net from its sources
// leads to each of its targets, so a net needs no arrows and no labels. Lines of
// different nets only cross, at right angles: no cell is a corner or a junction of
// two nets.
type Layers struct {
	Direction     Direction
	Width, Height int   // of the whole drawing, in cells
	Boxes         []Box // by node
	Nets          []Net
	Lines         []Line
	Grown         bool // a box had to be larger than specified to take its lines
}

// Box is the place of a node.
type Box struct {
	X, Y, W, H   int
	Layer, Place int // the layer, and the place in it
}

// Net is a set of nodes joined by lines: every target depends on every source.
type Net struct {
	Ends []End // in the order in which a walk along the lines meets them
}

// End is where a net meets a box.
type End struct {
	Node   int
	Source bool // the others of the net depend on the node; else it depends on the sources
}

// Line is a straight piece of a net, its ends included. If a piece ends at a box,
// its last cell is one of the box.
type Line struct {
	X1, Y1, X2, Y2 int
	Net            int
	// Ends[First:Last] of the net are on one side of the line, the others on the
	// other one.
	First, Last int
}

// Layered lays out a graph in layers. It draws only dependencies not implied by
// others.
func Layered(g Graph, spec Spec) *Layers {
	d := newLayering(g.Reduce(), spec)
	d.findNets()
	d.fill()
	d.reorder()
	d.place()
	d.placePorts()
	d.route()
	return d.drawing()
}

// item is an entry of a layer: a node, or a passing net.
type item struct {
	node   int // -1 where a net passes
	layer  int
	extent int // across the layers, in units
	at     int // the first unit
}

// center is twice the middle of the item, a whole number.
func (it *item) center() int { return 2*it.at + it.extent - 1 }

// net is the lines between sources and targets during the layout.
type net struct {
	sources, targets []int
	first, last      int // layers of the first source and the last target
}

// pin is where a net meets a layer.
type pin struct {
	item     int
	ideal    int  // the unit at which it would best meet the layer
	straight bool // the line would run straight then
	at       int  // the unit at which it does
}

// bundle is the part of a net between two layers.
type bundle struct {
	net      int
	up, down []pin // to the layer before, and to the layer behind
}

// layering lays out a graph. Across the layers it counts in units, of which a
// line takes one; along them in cells.
type layering struct {
	graph  Graph
	spec   Spec
	layer  []int   // of each node
	users  [][]int // the dependents of each node
	nets   []net
	out    [][]int // the nets leaving each node
	in     [][]int // the nets leading to each node
	items  []item
	layers [][]int    // items in their order
	gaps   [][]bundle // between a layer and the next
	before [][]int    // for each item, the items of the layer before joined to it by a net
	behind [][]int    // and those of the layer behind

	margin   int // units at each end of a box kept free of lines
	space    int // units between two boxes
	extent   int // units of a box
	channels []channel
	grown    bool
}

func newLayering(g Graph, spec Spec) *layering {
	d := &layering{graph: g, spec: spec, layer: g.Levels(), users: make([][]int, len(g))}
	for i, deps := range g {
		for _, p := range deps {
			d.users[p] = append(d.users[p], i)
		}
	}
	switch spec.Direction {
	case Down:
		d.extent, d.margin = max(spec.Width/2+1, 3), 1
		d.space = 1 + (d.extent+1)%2 // makes the middle of two boxes a unit
	case Right:
		d.extent = max(spec.Height, 1)
		if spec.Framed && d.extent > 2 {
			d.margin = 1
		}
	}
	return d
}

// fill puts nodes into layers, and nets into the layers they pass.
func (d *layering) fill() {
	layers := 0
	for _, l := range d.layer {
		layers = max(layers, l+1)
	}
	d.layers, d.gaps = make([][]int, layers), make([][]bundle, max(layers-1, 0))
	of := make([]int, len(d.graph))
	add := func(it item) int {
		d.items = append(d.items, it)
		d.layers[it.layer] = append(d.layers[it.layer], len(d.items)-1)
		return len(d.items) - 1
	}
	for i, l := range d.layer {
		extent := max(d.extent, max(len(d.in[i]), len(d.out[i]))+2*d.margin)
		d.grown = d.grown || extent > d.extent
		of[i] = add(item{node: i, layer: l, extent: extent})
	}
	for n := range d.nets {
		t := &d.nets[n]
		parts := make([]bundle, t.last-t.first)
		for _, s := range t.sources {
			p := &parts[d.layer[s]-t.first]
			p.up = append(p.up, pin{item: of[s]})
		}
		for _, s := range t.targets {
			p := &parts[d.layer[s]-t.first-1]
			p.down = append(p.down, pin{item: of[s]})
		}
		for l := t.first + 1; l < t.last; l++ {
			passing := add(item{node: -1, layer: l, extent: 1})
			parts[l-t.first-1].down = append(parts[l-t.first-1].down, pin{item: passing})
			parts[l-t.first].up = append(parts[l-t.first].up, pin{item: passing})
		}
		for i, p := range parts {
			p.net = n
			d.gaps[t.first+i] = append(d.gaps[t.first+i], p)
		}
	}
	d.join()
}

// join notes the items of neighboring layers joined by a net. If it joins many to
// many, some of the pairs stand for all.
func (d *layering) join() {
	d.before, d.behind = make([][]int, len(d.items)), make([][]int, len(d.items))
	pair := func(a, b pin) {
		d.behind[a.item] = append(d.behind[a.item], b.item)
		d.before[b.item] = append(d.before[b.item], a.item)
	}
	const few = 16
	for _, gap := range d.gaps {
		for _, b := range gap {
			if len(b.up) > 1 && len(b.down) > 1 && len(b.up)*len(b.down) > few {
				for i, a := range b.up {
					pair(a, b.down[i*len(b.down)/len(b.up)])
				}
				for i, c := range b.down {
					pair(b.up[i*len(b.up)/len(b.down)], c)
				}
				continue
			}
			for _, a := range b.up {
				for _, c := range b.down {
					pair(a, c)
				}
			}
		}
	}
}
