package layout

// Lit is the part of rails that belongs to some of the dependencies.
type Lit struct {
	rails *Rails
	on    func(from, to int) bool
	spans []span // of each lane
}

// span is rows of a lane, from and to included. It is empty if to lies before from.
type span struct{ from, to int }

// has reports whether a span holds a row.
func (s span) has(row int) bool { return s.from <= row && row <= s.to }

// Light returns the part of the rails that belongs to the dependencies that on accepts.
func (r *Rails) Light(on func(from, to int) bool) *Lit {
	l := &Lit{r, on, make([]span, len(r.lanes))}
	for number, lane := range r.lanes {
		s := span{lane.hub, lane.hub - 1}
		for _, end := range lane.ends {
			switch {
			case !on(min(end, lane.hub), max(end, lane.hub)):
			case !lane.into:
				s.to = end
			case s.to < lane.hub:
				s = span{end, lane.hub}
			}
		}
		l.spans[number] = s
	}
	return l
}

// Row reports which cells beside a node are lit.
func (l *Lit) Row(node int) []bool {
	r := l.rails
	lit, passed := make([]bool, r.Width), make([]bool, r.Width)
	for number := range r.at(node) {
		c := 2 * r.lanes[number].column
		lit[c] = lit[c] || l.spans[number].has(node)
		passed[c] = passed[c] || r.lanes[number].passes(node)
	}
	mark := r.Mark(node)
	for _, number := range r.meets[node] {
		lane := r.lanes[number]
		// The hub of a lane is lit with any of its ends.
		if node == lane.hub && !l.spans[number].has(node) || node != lane.hub && !l.on(min(lane.hub, node), max(lane.hub, node)) {
			continue
		}
		for c := min(mark, 2*lane.column) + 1; c < max(mark, 2*lane.column); c++ {
			lit[c] = lit[c] || !passed[c]
		}
	}
	lit[mark] = false
	return lit
}

// Below reports which cells between a node and the one after it are lit.
func (l *Lit) Below(node int) []bool {
	lit := make([]bool, l.rails.Width)
	for number := range l.rails.at(node) {
		if s := l.spans[number]; s.has(node) && s.has(node+1) {
			lit[2*l.rails.lanes[number].column] = true
		}
	}
	return lit
}
