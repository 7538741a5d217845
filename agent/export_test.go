package agent

import (
	"maps"
	"reflect"
	"slices"

	"replan/agent/rule"
	"replan/planning/plan"
)

// Carried returns the sources of untrusted text in the call of a step.
func (r *Run) Carried(index string) []rule.Provenance { return r.origins().provenance(r.Step(index)) }

// Graph returns the graph of the current plan, or nil if there is none.
func (r *Run) Graph() *plan.Graph { return r.graph }

// Same reports whether two runs are in the same state, in every field. Of the tools that a run
// has looked up, only their names count: what it knows of them follows from its catalogue.
func Same(a, b *Run) bool {
	state := func(r *Run) (Run, []string) {
		state := *r
		state.known = nil
		return state, slices.Sorted(maps.Keys(r.known))
	}
	runA, knownA := state(a)
	runB, knownB := state(b)
	return reflect.DeepEqual(runA, runB) && slices.Equal(knownA, knownB)
}

// PartsOfNext returns the parts of a run that the types behind Next reach other than by a view.
func PartsOfNext() []string {
	parts := map[reflect.Type]bool{}
	for i := range reflect.TypeFor[Run]().NumField() {
		parts[reflect.TypeFor[Run]().Field(i).Type] = true
	}
	var out []string
	var look func(t reflect.Type)
	look = func(t reflect.Type) {
		for i := range t.NumField() {
			field := t.Field(i).Type
			if field.Kind() == reflect.Pointer {
				field = field.Elem()
			}
			if parts[field] || field == reflect.TypeFor[Run]() {
				out = append(out, t.Name()+" → "+field.Name())
			} else if field.Kind() == reflect.Struct && field != reflect.TypeFor[settings]() {
				look(field)
			}
		}
	}
	look(reflect.TypeFor[decision]())
	return out
}
