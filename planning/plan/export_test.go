package plan

// ReadValue reads a text as DecodePlan does.
func ReadValue(text []byte) (v any, err error) {
	v, _, err = readValue(text)
	return v, err
}

// Longest returns the values of [Graph.Weights] by index, without steps on or
// behind a cycle.
func (g *Graph) Longest(weight func(Step) float64) map[string]float64 {
	longest := make(map[string]float64, len(g.order))
	for i, w := range g.Weights(weight) {
		if g.level[i] >= 0 {
			longest[g.steps[i].Index] = w
		}
	}
	return longest
}

// Cycle returns the members of one cycle, each depending on the one after it and
// the last on the first; nil if there is none.
func (g *Graph) Cycle() []string {
	knots := g.knots()
	if len(knots) == 0 {
		return nil
	}
	return g.indices(g.loop(knots[0]))
}
