package dag

import planlayout "replan/planning/plan/layout"

// relation is how a row relates to the selected row.
type relation int

// Relations to the selected row.
const (
	relationNone relation = iota // drawn as usual: nothing is selected, or it is related through others
	relationSelf                 // the selected row, or the step it belongs to
	relationLit                  // one depends on the other
	relationDim                  // unrelated
)

// relatives holds the dependencies and dependents of the selected row.
type relatives struct {
	on    bool // there are some
	self  planlayout.Set
	near  planlayout.Set  // those of its own
	above planlayout.Set  // its dependencies, and theirs
	below planlayout.Set  // its dependents, and theirs
	lit   *planlayout.Lit // the lines that join it to those of its own
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
	k := relatives{on: true, self: self, near: planlayout.NewSet(n), above: planlayout.NewSet(n), below: planlayout.NewSet(n)}
	up, down := make([]bool, len(o.nodes)), make([]bool, len(o.nodes))
	add := func(i int, nodes []bool) {
		if node := o.of[i]; node >= 0 {
			nodes[node] = true
		}
	}
	for i := range n {
		if c.ancestors(i).Meets(self) {
			k.below.Add(i)
		}
		if !self.Has(i) {
			continue
		}
		k.above.Union(c.ancestors(i))
		add(i, up)
		add(i, down)
		for _, p := range c.dependencies(i) {
			k.near.Add(p)
			add(p, up)
		}
		for _, d := range c.dependents(i) {
			k.near.Add(d)
			add(d, down)
		}
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
		case k.near.Has(r.at):
			return relationLit
		case k.above.Has(r.at) || k.below.Has(r.at):
			return relationNone
		}
		return relationDim
	case RowGroup:
		switch {
		case r.Group.meets(k.self):
			return relationSelf
		case r.Group.meets(k.near):
			return relationLit
		case r.Group.meets(k.above) || r.Group.meets(k.below):
			return relationNone
		}
		return relationDim
	default:
		return relationNone
	}
}

// litLanes returns, as bits, the gutter cells of a row on such a line.
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
