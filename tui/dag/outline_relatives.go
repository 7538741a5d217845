package dag

import planlayout "replan/planning/plan/layout"

// relation is how a row relates to the selected row.
type relation int

// Relations to the selected row.
const (
	relationNone relation = iota // nothing is highlighted
	relationSelf                 // the selected row, or the step it belongs to
	relationLit                  // one depends on the other
	relationDim                  // unrelated
)

// relatives holds the dependencies and dependents of the selected row, for steps
// and for graph nodes.
type relatives struct {
	on       bool // there are some
	self     planlayout.Set
	above    planlayout.Set // its dependencies
	below    planlayout.Set // its dependents
	up, down []bool         // nodes on a path to it and from it, itself included in both
}

// relatives returns what is related to a row.
func (o *outline) relatives(at int) relatives {
	if at < 0 || o.chart == nil || o.flat {
		return relatives{}
	}
	c := o.chart
	n := len(c.Steps)
	self := planlayout.NewSet(n)
	r := &o.Rows[at]
	switch r.Kind {
	case RowStep, RowCalls, RowCall:
		self.Add(r.at)
	case RowGroup:
		self.Union(r.Group.asSet())
	default:
		return relatives{}
	}
	k := relatives{on: true, self: self, above: planlayout.NewSet(n), below: planlayout.NewSet(n)}
	for i := range n {
		if self.Has(i) {
			k.above.Union(c.ancestors(i))
		}
		if c.ancestors(i).Meets(self) {
			k.below.Add(i)
		}
	}
	k.up, k.down = make([]bool, len(o.nodes)), make([]bool, len(o.nodes))
	for i, node := range o.of {
		if node < 0 {
			continue
		}
		k.up[node] = k.up[node] || k.above.Has(i) || self.Has(i)
		k.down[node] = k.down[node] || k.below.Has(i) || self.Has(i)
	}
	return k
}

// of returns how a row relates to the selected row.
func (k *relatives) of(r *Row) relation {
	if !k.on {
		return relationNone
	}
	switch r.Kind {
	case RowStep, RowCalls, RowCall:
		switch {
		case k.self.Has(r.at):
			return relationSelf
		case k.above.Has(r.at) || k.below.Has(r.at):
			return relationLit
		}
		return relationDim
	case RowGroup:
		switch {
		case r.Group.meets(k.self):
			return relationSelf
		case r.Group.meets(k.above) || r.Group.meets(k.below):
			return relationLit
		}
		return relationDim
	default:
		return relationNone
	}
}

// lights reports whether a dependency between two nodes is on a path to or from the selected
// step.
func (k *relatives) lights(from, to int) bool {
	return k.on && (k.up[from] && k.up[to] || k.down[from] && k.down[to])
}

// litLanes returns, as bits, the gutter cells of a row on such a path.
func (o *outline) litLanes(k *relatives, r *Row) (lit uint32) {
	node := r.node
	switch r.rails {
	case railsNone:
		return 0
	case railsAbove:
		node--
	}
	if !k.on || node < 0 {
		return 0
	}
	for i, is := range o.rails.Lit(node, r.rails != railsBeside, k.lights) {
		if is {
			lit |= 1 << (i % 32)
		}
	}
	return lit
}
