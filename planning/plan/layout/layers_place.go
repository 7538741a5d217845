package layout

import "math"

// place gives each item its units, as near as the order allows to the middle of its
// neighbors in the graph. So lines run straight if they can.
func (d *layering) place() {
	p := &placing{layering: d}
	for _, layer := range d.layers {
		next := 0
		for i, it := range layer {
			if i > 0 {
				next += d.apart(layer[i-1], it)
			}
			d.items[it].at = next
		}
	}
	const rounds = 4
	for range rounds {
		for l := 1; l < len(d.layers); l++ {
			p.settle(l, true, false)
		}
		for l := len(d.layers) - 2; l >= 0; l-- {
			p.settle(l, false, true)
		}
	}
	for l := range d.layers {
		p.settle(l, true, true)
	}
	for l := len(d.layers) - 1; l >= 0; l-- {
		p.settle(l, true, true)
	}
	least := math.MaxInt
	for i := range d.items {
		least = min(least, d.items[i].at)
	}
	for i := range d.items {
		d.items[i].at -= least
	}
}

// apart is how far the first units of two neighbors are from each other at least.
func (d *layering) apart(a, b int) int {
	gap := 0
	if d.items[a].node >= 0 && d.items[b].node >= 0 {
		gap = d.space
	}
	return d.items[a].extent + gap
}

// placing gives items their units.
type placing struct {
	*layering
	row row
}

// row places things beside each other, each as near to its ideal as the others
// leave room: with the least sum of squared distances.
type row struct {
	blocks []block
	shift  int
}

// block is a run of items as close as they may be, since they would overlap
// otherwise.
type block struct {
	sum, weight float64
	count       int
}

func (r *row) clear() { r.blocks, r.shift = r.blocks[:0], 0 }

// add adds a thing with its start at least apart behind the start of the last one.
func (r *row) add(apart int, ideal, weight float64) {
	r.shift += apart
	r.blocks = append(r.blocks, block{sum: weight * (ideal - float64(r.shift)), weight: weight, count: 1})
	for n := len(r.blocks); n > 1; n-- {
		a, b := &r.blocks[n-2], r.blocks[n-1]
		if a.sum/a.weight <= b.sum/b.weight {
			return
		}
		a.sum, a.weight, a.count = a.sum+b.sum, a.weight+b.weight, a.count+b.count
		r.blocks = r.blocks[:n-1]
	}
}

// each calls f with the start of each thing, without the gaps between them.
func (r *row) each(f func(i, at int)) {
	i := 0
	for _, b := range r.blocks {
		at := int(math.Floor(b.sum/b.weight + 0.5))
		for range b.count {
			f(i, at)
			i++
		}
	}
}

// The weights of straight lines, by the items at their ends.
const (
	weightLoose   = 0.01 // an item without neighbors stays where it is
	weightBox     = 1.0
	weightMixed   = 2.0
	weightChain   = 4.0 // two nodes without other neighbors there
	weightPassing = 8.0
)

// settle places a layer by those beside it.
func (p *placing) settle(l int, before, behind bool) {
	layer := p.layers[l]
	p.row.clear()
	for i, it := range layer {
		apart := 0
		if i > 0 {
			apart = p.apart(layer[i-1], it)
		}
		ideal, weight := p.ideal(it, before, behind)
		p.row.add(apart, ideal, weight)
	}
	shift := 0
	p.row.each(func(i, at int) {
		if i > 0 {
			shift += p.apart(layer[i-1], layer[i])
		}
		p.items[layer[i]].at = at + shift
	})
}

// ideal is the best place for the first unit of an item, and its weight.
func (p *placing) ideal(it int, before, behind bool) (at, weight float64) {
	self := &p.items[it]
	sum := 0.0
	add := func(joined []int, back [][]int) {
		for _, other := range joined {
			o := &p.items[other]
			w := weightMixed
			switch {
			case self.node < 0 && o.node < 0:
				w = weightPassing
			case len(joined) == 1 && len(back[other]) == 1:
				w = weightChain
			case self.node >= 0 && o.node >= 0:
				w = weightBox
			}
			sum += w * float64(o.center()-(self.extent-1)) / 2
			weight += w
		}
	}
	if before {
		add(p.before[it], p.behind)
	}
	if behind {
		add(p.behind[it], p.before)
	}
	if weight == 0 {
		return float64(self.at), weightLoose
	}
	return sum / weight, weight
}
