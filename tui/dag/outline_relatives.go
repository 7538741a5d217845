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
	above    planlayout.Set         // its dependencies
	below    planlayout.Set         // its dependents
	up, down []bool                 // nodes on a path to it and from it, itself included in both
	lanes    [][2][]planlayout.Span // for each lane, its spans on such paths: up and down
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
	k.lanes = make([][2][]planlayout.Span, len(o.rails.Lanes))
	for i := range o.rails.Lanes {
		k.lanes[i] = [2][]planlayout.Span{o.rails.Lanes[i].Spans(k.up), o.rails.Lanes[i].Spans(k.down)}
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

// litLanes returns, as bits, the gutter cells of a row on a path to or from the
// selected step.
func (k *relatives) litLanes(r *Row, cells []planlayout.Cell) uint32 {
	if !k.on || r.rails == railsNone {
		return 0
	}
	var lit uint32
	for i, cell := range cells {
		if cell.Lane >= 0 && k.lights(cell, r) {
			lit |= 1 << (i % 32)
		}
	}
	return lit
}

// lights reports whether a cell of a row's rails is on such a path.
func (k *relatives) lights(cell planlayout.Cell, r *Row) bool {
	for i, nodes := range [2][]bool{k.up, k.down} {
		for _, s := range k.lanes[cell.Lane][i] {
			switch {
			case r.rails == railsAbove && (r.node <= s.First || r.node > s.Last),
				r.rails == railsBeside && (r.node < s.First || r.node > s.Last),
				r.rails == railsBelow && (r.node < s.First || r.node >= s.Last):
			case cell.Sides == planlayout.SideLeft|planlayout.SideRight && !nodes[r.node]:
			default:
				return true
			}
		}
	}
	return false
}
