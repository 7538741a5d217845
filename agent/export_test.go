package agent

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"replan/agent/rule"
	"replan/planning/plan"
)

// Carried returns the sources of untrusted text in the call of a step.
func (r *Run) Carried(index string) []rule.Provenance {
	return r.services().origins.provenance(r.Step(index))
}

// Graph returns the graph of the current plan, or nil if there is none.
func (r *Run) Graph() *plan.Graph { return r.graph }

// Same reports whether two runs are in the same state, in every field. Of the tools that a run
// has looked up, only their names count: what it knows of them follows from its catalog. Their
// services are as they were made, since these keep nothing of their own.
func Same(a, b *Run) bool {
	state := func(r *Run) (Run, []string) {
		state := *r
		state.known, state.cachedServices = nil, nil
		return state, slices.Sorted(maps.Keys(r.known))
	}
	runA, knownA := state(a)
	runB, knownB := state(b)
	asMade := func(r *Run) bool { return reflect.DeepEqual(r.services(), newServices(r)) }
	return reflect.DeepEqual(runA, runB) && slices.Equal(knownA, knownB) && asMade(a) && asMade(b)
}

// PartsOfNext returns what the types behind Next could change. That is parts of the run that they
// reach other than by a view, and pointers to its data that a view hands out.
func PartsOfNext() []string {
	l := &nextLook{parts: map[reflect.Type]bool{reflect.TypeFor[Run](): true}, seen: map[reflect.Type]bool{}}
	for i := range reflect.TypeFor[Run]().NumField() {
		l.parts[reflect.TypeFor[Run]().Field(i).Type] = true
	}
	l.fields(reflect.TypeFor[decision]())
	return l.faults
}

// ViewMethods returns the methods of the parts of a run, of steps and of loops that views behind
// Next name, as "Board.needs".
func ViewMethods() []string {
	l := &nextLook{seen: map[reflect.Type]bool{}}
	l.fields(reflect.TypeFor[decision]())
	parts := []reflect.Type{reflect.TypeFor[Run](), reflect.TypeFor[roster](), reflect.TypeFor[StepState](), reflect.TypeFor[Loop]()}
	for _, of := range []reflect.Type{reflect.TypeFor[Run](), reflect.TypeFor[stepParts]()} {
		for i := range of.NumField() {
			part := of.Field(i).Type
			if part.Kind() == reflect.Pointer {
				part = part.Elem()
			}
			parts = append(parts, part)
		}
	}
	var names []string
	for view := range l.seen {
		for _, part := range parts {
			if view.Kind() != reflect.Interface || view.NumMethod() == 0 || !reflect.PointerTo(part).Implements(view) {
				continue
			}
			for i := range view.NumMethod() {
				names = append(names, part.Name()+"."+view.Method(i).Name)
			}
		}
	}
	return names
}

// nextLook looks at the types behind Next.
type nextLook struct {
	parts  map[reflect.Type]bool
	seen   map[reflect.Type]bool
	faults []string
}

// fields looks at the fields of a type behind Next.
func (l *nextLook) fields(of reflect.Type) {
	for i := range of.NumField() {
		field := of.Field(i).Type
		if field.Kind() == reflect.Pointer {
			field = field.Elem()
		}
		switch {
		case l.parts[field]:
			l.faults = append(l.faults, of.Name()+" → "+field.Name()+" is no view")
		case field.Kind() == reflect.Struct:
			l.fields(field)
		default:
			l.handedOut(of.Name(), field)
		}
	}
}

// handedOut looks at a type that a view hands out.
func (l *nextLook) handedOut(by string, t reflect.Type) {
	isOurs := strings.HasPrefix(t.PkgPath(), reflect.TypeFor[Run]().PkgPath())
	if t.Kind() == reflect.Pointer {
		if strings.HasPrefix(t.Elem().PkgPath(), reflect.TypeFor[Run]().PkgPath()) {
			l.faults = append(l.faults, by+" hands out "+t.String())
		}
		return
	}
	if l.seen[t] {
		return
	}
	l.seen[t] = true
	switch t.Kind() {
	case reflect.Interface:
		for i := range t.NumMethod() {
			l.signature(t.Name()+"."+t.Method(i).Name, t.Method(i).Type)
		}
	case reflect.Struct:
		for i := 0; isOurs && i < t.NumField(); i++ {
			l.handedOut(by+" ("+t.Name()+"."+t.Field(i).Name+")", t.Field(i).Type)
		}
	case reflect.Slice, reflect.Array:
		l.handedOut(by, t.Elem())
	case reflect.Map:
		l.handedOut(by, t.Key())
		l.handedOut(by, t.Elem())
	case reflect.Func:
		l.signature(by, t)
	}
}

// signature looks at what a method hands out: its results, and the arguments of its callbacks.
func (l *nextLook) signature(name string, f reflect.Type) {
	for i := range f.NumOut() {
		l.handedOut(name, f.Out(i))
	}
	for i := range f.NumIn() {
		if in := f.In(i); in.Kind() == reflect.Func {
			for j := range in.NumIn() {
				l.handedOut(name, in.In(j))
			}
		}
	}
}
