package agent

import (
	"reflect"

	"replan/agent/rule"
	"replan/planning/plan"
)

// Carried returns the sources of untrusted text in the call of a step.
func (r *Run) Carried(index string) []rule.Provenance { return r.origins().provenance(r.Step(index)) }

// Graph returns the graph of the current plan, or nil if there is none.
func (r *Run) Graph() *plan.Graph { return r.graph }

// Same reports whether two runs are in the same state, in every field. What a toolbox keeps of
// its tools is a memory of what it looked up, except for the number of their calls.
func Same(a, b *Run) bool {
	state := func(r *Run) (Run, map[string]int) {
		calls := map[string]int{}
		for _, tool := range r.Catalogue {
			name := tool.QualifiedName()
			if calls[name] = r.callsBefore[name]; r.known[name] != nil {
				calls[name] = r.known[name].calls
			}
		}
		state := *r
		state.known = nil
		return state, calls
	}
	runA, callsA := state(a)
	runB, callsB := state(b)
	return reflect.DeepEqual(runA, runB) && reflect.DeepEqual(callsA, callsB)
}
