package dag

import planlayout "replan/planning/plan/layout"

// Kin is how a row relates to the selected row.
type Kin int

// Relations to the selected row.
const (
	kinNone Kin = iota // nothing is highlighted
	kinSelf            // the selected row, or the step it belongs to
	KinLit             // one depends on the other
	KinDim             // unrelated
)

// kinship holds the dependencies and dependents of the selected row, for steps
// and for graph nodes.
type kinship struct {
	of       string // key of the row it was computed for
	on       bool
	self     planlayout.Set
	above    planlayout.Set         // its dependencies
	below    planlayout.Set         // its dependents
	up, down []bool                 // nodes on a path to it and from it, itself included in both
	lanes    [][2][]planlayout.Span // for each lane, its spans on such paths: up and down
}

// light computes the kinship of the selected row while the pane has the focus.
func (d *Pane) light() {
	at := d.Position()
	if !d.focused || at < 0 || d.Chart == nil || d.Outline.chart == nil || d.Outline.flat {
		d.kin = kinship{}
		return
	}
	if d.kin.on && d.kin.of == d.Selected {
		return
	}
	d.kin = kinship{}
	c := d.Chart
	n := len(c.Steps)
	self := planlayout.NewSet(n)
	r := &d.Outline.Rows[at]
	switch r.Kind {
	case RowStep, RowCalls, RowCall:
		self.Add(r.at)
	case RowRoll:
		self.Union(r.Roll.set)
	default:
		return
	}
	k := kinship{of: d.Selected, on: true, self: self, above: planlayout.NewSet(n), below: planlayout.NewSet(n)}
	for i := range n {
		if self.Has(i) {
			k.above.Union(c.before[i])
		}
		if c.before[i].Meets(self) {
			k.below.Add(i)
		}
	}
	k.up, k.down = make([]bool, len(d.Outline.nodes)), make([]bool, len(d.Outline.nodes))
	for i, node := range d.Outline.of {
		if node < 0 {
			continue
		}
		k.up[node] = k.up[node] || k.above.Has(i) || self.Has(i)
		k.down[node] = k.down[node] || k.below.Has(i) || self.Has(i)
	}
	rails := d.Outline.rails
	k.lanes = make([][2][]planlayout.Span, len(rails.Lanes))
	for i := range rails.Lanes {
		k.lanes[i] = [2][]planlayout.Span{rails.Lanes[i].Spans(k.up), rails.Lanes[i].Spans(k.down)}
	}
	d.kin = k
}

// KinOf returns how a row relates to the selected row.
func (d *Pane) KinOf(r *Row) Kin {
	k := &d.kin
	if !k.on {
		return kinNone
	}
	switch r.Kind {
	case RowStep, RowCalls, RowCall:
		switch {
		case k.self.Has(r.at):
			return kinSelf
		case k.above.Has(r.at) || k.below.Has(r.at):
			return KinLit
		}
		return KinDim
	case RowRoll:
		switch {
		case r.Roll.set.Meets(k.self):
			return kinSelf
		case r.Roll.set.Meets(k.above) || r.Roll.set.Meets(k.below):
			return KinLit
		}
		return KinDim
	default:
		return kinNone
	}
}

// litLanes returns, as bits, the gutter cells of a row on a path to or from the
// selected step.
func (d *Pane) litLanes(r *Row) uint32 {
	k := &d.kin
	if !k.on || r.rails == railsNone {
		return 0
	}
	var lit uint32
	for i, cell := range d.Outline.cells(r) {
		if cell.Lane >= 0 && k.lights(cell, r) {
			lit |= 1 << (i % 32)
		}
	}
	return lit
}

// lights reports whether a cell of a row's rails is on such a path.
func (k *kinship) lights(cell planlayout.Cell, r *Row) bool {
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
