package layout

import (
	"cmp"
	"slices"
)

// How often the layers are swept at most, and how often without anything gained.
const (
	sweepsMost = 12
	sweepsIdle = 3
)

// reorder orders the items of each layer so that few lines cross. It sorts each
// layer by the mean place of its neighbors in the graph, sweeping forth and back.
// Then it swaps items side by side.
func (d *layering) reorder() {
	o := &ordering{layering: d, place: make([]int, len(d.items)), mean: make([]float64, len(d.items))}
	for _, layer := range d.layers {
		o.number(layer)
	}
	o.start()
	best, fewest := o.snapshot(), o.crossings()
	for sweep, idle := 0, 0; fewest > 0 && sweep < sweepsMost && idle < sweepsIdle; sweep++ {
		o.sweep(sweep%2 == 0)
		o.swap()
		idle++
		if now := o.crossings(); now < fewest {
			best, fewest, idle = o.snapshot(), now, 0
		}
	}
	d.layers = best
	for l, layer := range d.layers {
		o.number(layer)
		d.layers[l] = layer
	}
}

// ordering is the state of the search for an order.
type ordering struct {
	*layering
	place  []int // of each item in its layer
	mean   []float64
	tree   []int // counts places, as a Fenwick tree
	sorted []int
}

func (o *ordering) number(layer []int) {
	for i, it := range layer {
		o.place[it] = i
	}
}

func (o *ordering) snapshot() [][]int {
	kept := make([][]int, len(o.layers))
	for i, layer := range o.layers {
		kept[i] = slices.Clone(layer)
	}
	return kept
}

// start puts items below their neighbors in the graph, in execution order.
func (o *ordering) start() {
	for l := range o.layers {
		if l > 0 {
			o.sort(l, o.before)
		}
	}
}

// sweep orders each layer by the one before it, or from the last by the one
// behind it.
func (o *ordering) sweep(forth bool) {
	if forth {
		for l := 1; l < len(o.layers); l++ {
			o.sort(l, o.before)
		}
		return
	}
	for l := len(o.layers) - 2; l >= 0; l-- {
		o.sort(l, o.behind)
	}
}

// sort orders a layer by the mean place of its items' neighbors on one side.
// Items without any keep their places.
func (o *ordering) sort(l int, joined [][]int) {
	layer := o.layers[l]
	movable := o.sorted[:0]
	for _, it := range layer {
		if len(joined[it]) == 0 {
			continue
		}
		sum := 0
		for _, other := range joined[it] {
			sum += o.place[other]
		}
		o.mean[it] = float64(sum) / float64(len(joined[it]))
		movable = append(movable, it)
	}
	o.sorted = movable
	slices.SortStableFunc(movable, func(a, b int) int { return cmp.Compare(o.mean[a], o.mean[b]) })
	next := 0
	for i, it := range layer {
		if len(joined[it]) > 0 {
			layer[i] = movable[next]
			next++
		}
	}
	o.number(layer)
}

// swap exchanges items side by side if it saves crossings, in a few passes.
func (o *ordering) swap() {
	const passes = 3
	for range passes {
		gained := false
		for _, layer := range o.layers {
			for i := 1; i < len(layer); i++ {
				a, b := layer[i-1], layer[i]
				now := o.between(a, b, o.before) + o.between(a, b, o.behind)
				if now == 0 || o.between(b, a, o.before)+o.between(b, a, o.behind) >= now {
					continue
				}
				layer[i-1], layer[i] = b, a
				o.place[a], o.place[b] = i, i-1
				gained = true
			}
		}
		if !gained {
			return
		}
	}
}

// between counts the crossings of the lines of a and of b, with a before b.
func (o *ordering) between(a, b int, joined [][]int) int {
	count := 0
	for _, x := range joined[a] {
		for _, y := range joined[b] {
			if o.place[x] > o.place[y] {
				count++
			}
		}
	}
	return count
}

// crossings counts the crossings of the whole drawing.
func (o *ordering) crossings() int {
	count := 0
	for l := 1; l < len(o.layers); l++ {
		n := len(o.layers[l-1])
		o.tree = append(o.tree[:0], make([]int, n+1)...)
		seen := 0
		for _, it := range o.layers[l] {
			for _, p := range o.before[it] {
				left := 0 // or in the same place
				for i := o.place[p] + 1; i > 0; i -= i & -i {
					left += o.tree[i]
				}
				count += seen - left
			}
			for _, p := range o.before[it] {
				for i := o.place[p] + 1; i <= n; i += i & -i {
					o.tree[i]++
				}
				seen++
			}
		}
	}
	return count
}
