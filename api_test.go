package main_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A program outside this module can name no type of internal/, so it could set no field and
// call no function whose type is one. An exported alias gives such a type a name.
func TestProgramsOutsideCanNameWhatPlanningAndAgentExport(t *testing.T) {
	all, err := packages.Load(&packages.Config{Mode: packages.LoadTypes}, "./planning/...", "./agent/...")
	if err != nil {
		t.Fatal(err)
	}
	w := walk{named: map[*types.TypeName]bool{}, seen: map[types.Type]bool{}, hidden: map[string]string{}}
	var exported []types.Object
	for _, p := range all {
		for _, e := range p.Errors {
			t.Fatalf("load %s: %v", p.PkgPath, e)
		}
		if internal(p.Types) {
			continue
		}
		for _, name := range p.Types.Scope().Names() {
			o := p.Types.Scope().Lookup(name)
			if !o.Exported() {
				continue
			}
			exported = append(exported, o)
			if alias, ok := o.Type().(*types.Alias); ok {
				if n, ok := types.Unalias(alias).(*types.Named); ok {
					w.named[n.Obj()] = true
				}
			}
		}
	}
	if len(w.named) == 0 {
		t.Fatal("no alias was found, and plan.Text is one")
	}
	for _, o := range exported {
		w.declaration(o)
	}
	for name, where := range w.hidden {
		t.Errorf("%s has the type %s, which no program outside can name; export an alias of it, or keep it to the package", where, name)
	}
}

// internal reports whether no other module may import a package.
func internal(p *types.Package) bool {
	return p != nil && slices.Contains(strings.Split(p.Path(), "/"), "internal")
}

// walk goes through the types that exported declarations mention.
type walk struct {
	named  map[*types.TypeName]bool // have an exported alias
	seen   map[types.Type]bool
	hidden map[string]string // types that no program outside can name, with a place of each
}

func (w *walk) declaration(o types.Object) {
	where := strings.TrimPrefix(o.Pkg().Path(), "replan/") + "." + o.Name()
	if _, ok := o.(*types.TypeName); ok {
		w.contents(where, types.Unalias(o.Type()))
		return
	}
	w.mention(where, o.Type())
}

// contents goes through what a type declaration exports: its methods, and the type behind it.
func (w *walk) contents(where string, t types.Type) {
	if n, ok := t.(*types.Named); ok {
		for m := range n.Methods() {
			if m.Exported() {
				w.mention(where+"."+m.Name(), m.Type())
			}
		}
	}
	w.mention(where, t.Underlying())
}

// mention goes through a type as it is written.
func (w *walk) mention(where string, t types.Type) {
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if internal(n.Obj().Pkg()) && !w.named[n.Obj()] {
			w.hidden[n.String()] = where
		}
		for i := range n.TypeArgs().Len() {
			w.mention(where, n.TypeArgs().At(i))
		}
		return
	}
	if w.seen[t] {
		return
	}
	w.seen[t] = true
	switch t := types.Unalias(t).(type) {
	case interface{ Elem() types.Type }: // pointers, slices, arrays, channels, maps
		w.mention(where, t.Elem())
		if m, ok := t.(*types.Map); ok {
			w.mention(where, m.Key())
		}
	case *types.Signature:
		for v := range t.Params().Variables() {
			w.mention(where, v.Type())
		}
		for v := range t.Results().Variables() {
			w.mention(where, v.Type())
		}
	case *types.Struct:
		for f := range t.Fields() {
			if f.Exported() {
				w.mention(where+"."+f.Name(), f.Type())
			}
		}
	case *types.Interface:
		for m := range t.ExplicitMethods() {
			w.mention(where+"."+m.Name(), m.Type())
		}
		for e := range t.EmbeddedTypes() {
			w.mention(where, e)
		}
	}
}
