package layout

import "slices"

// Set is a set of positions below the number it was made for.
type Set []uint64

// NewSet returns an empty set of positions below n.
func NewSet(n int) Set { return make(Set, (n+63)/64) }

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// Add puts i into the set.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Union puts all of other into the set.
func (s Set) Union(other Set) {
	for i := range other {
		s[i] |= other[i]
	}
}

// Meets reports whether the sets have a member in common.
func (s Set) Meets(other Set) bool {
	for i := range min(len(s), len(other)) {
		if s[i]&other[i] != 0 {
			return true
		}
	}
	return false
}

// Ancestors returns all dependencies of each node, direct or not.
func (g Graph) Ancestors() []Set {
	ancestors := make([]Set, len(g))
	for i, deps := range g {
		ancestors[i] = NewSet(len(g))
		for _, d := range deps {
			ancestors[i].Union(ancestors[d])
			ancestors[i].Add(d)
		}
	}
	return ancestors
}

// Reduce returns the graph without implied dependencies. Each node's dependencies
// are in ascending order.
func (g Graph) Reduce() Graph {
	ancestors := g.Ancestors()
	out := make(Graph, len(g))
	for i, deps := range g {
		implied := NewSet(len(g))
		for _, d := range deps {
			implied.Union(ancestors[d])
		}
		for _, d := range deps {
			if !implied.Has(d) {
				out[i] = append(out[i], d)
			}
		}
		slices.Sort(out[i])
		out[i] = slices.Compact(out[i])
	}
	return out
}
