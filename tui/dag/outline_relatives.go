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
	on    bool // there are some
	self  planlayout.Set
	above planlayout.Set  // its dependencies
	below planlayout.Set  // its dependents
	lit   *planlayout.Lit // the lines on a path to it or from it
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
	// The nodes on a path to it and from it, itself included in both.
	up, down := make([]bool, len(o.nodes)), make([]bool, len(o.nodes))
	for i, node := range o.of {
		if node < 0 {
			continue
		}
		up[node] = up[node] || k.above.Has(i) || self.Has(i)
		down[node] = down[node] || k.below.Has(i) || self.Has(i)
	}
	k.lit = o.rails.Light(func(from, to int) bool { return up[from] && up[to] || down[from] && down[to] })
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

// litLanes returns, as bits, the gutter cells of a row on such a path.
func (k *relatives) litLanes(r *Row) (bits uint32) {
	var lit []bool
	switch {
	case !k.on:
	case r.rails == railsBeside:
		lit = k.lit.Row(r.node)
	case r.rails == railsBelow:
		lit = k.lit.Below(r.node)
	case r.rails == railsAbove && r.node > 0:
		lit = k.lit.Below(r.node - 1)
	}
	for i, is := range lit {
		if is {
			bits |= 1 << (i % 32)
		}
	}
	return bits
}
