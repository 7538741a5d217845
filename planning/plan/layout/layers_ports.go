package layout

import "slices"

// placePorts gives each line the unit at which it meets a box.
func (d *layering) placePorts() {
	p := &porting{layering: d, ports: make([][]port, len(d.items))}
	for l, gap := range d.gaps {
		for i := range gap {
			d.idealPorts(&gap[i])
		}
		p.set(l, gap, func(b *bundle) []pin { return b.up })
		for i := range gap { // straight lines first
			if b := &gap[i]; len(b.up) == 1 && len(b.down) == 1 && b.down[0].straight {
				b.down[0].ideal = b.up[0].at
			}
		}
		p.set(l+1, gap, func(b *bundle) []pin { return b.down })
	}
}

// portsOf are the first and the last unit at which a line may meet an item.
func (d *layering) portsOf(it int) (first, last int) {
	self := &d.items[it]
	if self.node < 0 {
		return self.at, self.at
	}
	return self.at + d.margin, self.at + self.extent - 1 - d.margin
}

// idealPorts finds the best places for the lines of a bundle at its items. A line between
// two items is straight, the others meet the middle.
func (d *layering) idealPorts(b *bundle) {
	for _, pins := range [][]pin{b.up, b.down} {
		for i := range pins {
			pins[i].ideal = d.items[pins[i].item].center() / 2
		}
	}
	if len(b.up) != 1 || len(b.down) != 1 {
		return
	}
	up, down := &b.up[0], &b.down[0]
	first, last := d.portsOf(up.item)
	from, to := d.portsOf(down.item)
	lo, hi := max(first, from), min(last, to)
	if lo > hi {
		return
	}
	middle := (d.items[up.item].center() + d.items[down.item].center()) / 4
	up.ideal = min(max(middle, lo), hi)
	down.ideal = up.ideal
	up.straight, down.straight = true, true
}

// port is a place of a line at an item.
type port struct {
	pin    *pin
	beside int // where the rest of its bundle is
}

// porting sets ports.
type porting struct {
	*layering
	ports [][]port // of each item
	row   row
}

// set places the lines meeting the items of layer l on one side of a gap.
func (p *porting) set(l int, gap []bundle, side func(*bundle) []pin) {
	for i := range gap {
		b := &gap[i]
		sum, count := 0, len(b.up)+len(b.down)
		for _, pins := range [][]pin{b.up, b.down} {
			for j := range pins {
				sum += p.items[pins[j].item].center()
			}
		}
		for j := range side(b) {
			pin := &side(b)[j]
			const scale = 16 // means are whole numbers
			beside := (sum - p.items[pin.item].center()) * scale / max(count-1, 1)
			p.ports[pin.item] = append(p.ports[pin.item], port{pin, beside})
		}
	}
	for _, it := range p.layers[l] {
		p.settle(it)
		p.ports[it] = p.ports[it][:0]
	}
}

// settle places the lines meeting one side of an item, in the order of their other
// ends.
func (p *porting) settle(it int) {
	ports := p.ports[it]
	first, last := p.portsOf(it)
	slices.SortStableFunc(ports, func(a, b port) int { return a.beside - b.beside })
	apart := 1
	if last-first >= 2*(len(ports)-1) {
		apart = 2
	}
	p.row.clear()
	for i, at := range ports {
		const straight = 4
		weight := 1.0
		if at.pin.straight {
			weight = straight
		}
		p.row.add(min(i, 1)*apart, float64(at.pin.ideal), weight)
	}
	p.row.each(func(i, at int) {
		ports[i].pin.at = min(max(at+i*apart, first+i*apart), last-(len(ports)-1-i)*apart)
	})
}
