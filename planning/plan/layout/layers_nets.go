package layout

import "slices"

// findNets finds the nets of a graph. Nodes with the same users are sources of the same
// nets, and nodes with the same dependencies are targets of the same nets. Between two
// such classes there are all edges or none. Each such pair of classes is drawn with the
// other edges of its sources or of its targets, whichever saves more lines.
func (d *layering) findNets() {
	n := len(d.graph)
	source, sources := classes(n, d.users, d.graph)
	target, targets := classes(n, d.graph, d.users)
	leaving, arriving := make([]int, n), make([]int, n) // classes joined to each class
	each := func(f func(s, t int)) {
		for s := range n {
			if source[s] != s {
				continue
			}
			for _, t := range d.users[s] {
				if target[t] == t {
					f(s, t)
				}
			}
		}
	}
	each(func(s, t int) { leaving[s]++; arriving[t]++ })
	fromSource, toTarget := make([]int, n), make([]int, n) // net of each class, and one
	add := func(of []int, class int) *net {
		if of[class] == 0 {
			d.nets = append(d.nets, net{})
			of[class] = len(d.nets)
		}
		return &d.nets[of[class]-1]
	}
	each(func(s, t int) {
		if arriving[t] > leaving[s] {
			to := add(toTarget, t)
			to.targets = targets[t]
			to.sources = append(to.sources, sources[s]...)
			return
		}
		from := add(fromSource, s)
		from.sources = sources[s]
		from.targets = append(from.targets, targets[t]...)
	})
	d.in, d.out = make([][]int, n), make([][]int, n)
	for i := range d.nets {
		t := &d.nets[i]
		t.first = n
		for _, s := range t.sources {
			t.first = min(t.first, d.layer[s])
			d.out[s] = append(d.out[s], i)
		}
		for _, s := range t.targets {
			t.last = max(t.last, d.layer[s])
			d.in[s] = append(d.in[s], i)
		}
	}
}

// classes groups nodes with edges to the same others. It returns the first of its
// class for each node, and by that one the members. Nodes without edges are
// classes of their own. back is the same edges from the other end.
func classes(n int, others, back [][]int) (first []int, members [][]int) {
	first, members = make([]int, n), make([][]int, n)
	for i := range n {
		first[i] = i
		if len(others[i]) > 0 {
			for _, c := range back[others[i][0]] {
				if c < i && first[c] == c && slices.Equal(others[c], others[i]) {
					first[i] = c
					break
				}
			}
		}
		members[first[i]] = append(members[first[i]], i)
	}
	return first, members
}
