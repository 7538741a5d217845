package golang

import (
	"cmp"
	"go/ast"
	"go/types"
	"slices"
	"strings"
)

// sameMembers refuses a new name under which a type has something else than it had.
// An interface would call that without any identifier saying so. What gains the name
// is kept for later.
func (r *renaming) sameMembers(u *unit, c *checked) error {
	seen := map[types.Type]bool{}
	for i, f := range u.files {
		before, after := typesOf(u.info, f), typesOf(c.info, c.files[i])
		for j, is := range after {
			if j >= len(before) || before[j] == nil || is == nil || seen[is] {
				continue
			}
			seen[is] = true
			if err := r.sameMember(before[j], is, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *renaming) sameMember(before, after types.Type, c *checked) error {
	had, _, _ := types.LookupFieldOrMethod(before, true, r.obj.Pkg(), r.name)
	has, index, _ := types.LookupFieldOrMethod(after, true, r.obj.Pkg(), r.name)
	switch {
	case had == nil:
		if f, ok := has.(*types.Func); ok {
			c.gained = append(c.gained, gain{typ: after, method: f.Origin()})
		}
	case has == nil && index != nil:
		return refuse("%s is taken: %s has %s, and could not tell it from the renamed one", r.name, short(before), r.phrase(origin(had)))
	case r.moved(origin(had)) != placeOf(r.prog, originOf(has)):
		return refuse("%s would change what %s of %s means, to interfaces too: %s now, %s then",
			r.name, r.name, short(before), r.phrase(origin(had)), r.phrase(originOf(has)))
	}
	if lost, _, _ := types.LookupFieldOrMethod(before, true, r.obj.Pkg(), r.old); lost == nil || !r.set[r.prog.keyOf(origin(lost))] {
		return nil
	}
	if bare, _, _ := types.LookupFieldOrMethod(after, true, r.obj.Pkg(), r.old); bare != nil {
		if _, ok := bare.(*types.Func); ok {
			r.note("without its own %s, %s has %s", r.old, short(after), r.phrase(origin(bare)))
		}
	}
	return nil
}

func originOf(o types.Object) types.Object {
	if o == nil {
		return nil
	}
	return origin(o)
}

// typesOf are the types that a file declares, makes of generic ones or writes out,
// in the order of the file; nil where an identifier is none.
func typesOf(info *types.Info, f *ast.File) []types.Type {
	var list []types.Type
	ast.Inspect(f, func(n ast.Node) bool {
		var typ types.Type
		switch n := n.(type) {
		case *ast.Ident:
			if name, ok := info.Defs[n].(*types.TypeName); ok && !name.IsAlias() {
				typ = name.Type()
			} else if inst, ok := info.Instances[n]; ok {
				if named, ok := types.Unalias(inst.Type).(*types.Named); ok {
					typ = named
				}
			}
		case *ast.StructType:
			typ = info.TypeOf(n)
		default:
			return true
		}
		list = append(list, typ)
		return true
	})
	return list
}

// gain is a type that has a method under the new name and had none.
type gain struct {
	typ    types.Type
	method types.Object
}

// satisfied notes interfaces that a method's new name makes a type implement: code
// that asks values for them while it runs may begin to call it.
func (r *renaming) satisfied(affected []*unit, after map[*unit]*checked) {
	if r.symbol.Kind != "method" {
		return
	}
	for nr := range r.prog.outside {
		var gained []gain
		for _, u := range affected {
			if u.build == nr {
				gained = append(gained, after[u].gained...)
			}
		}
		if len(gained) == 0 {
			continue
		}
		others, own := r.prog.lookedFor(nr, r.name), r.written(nr, after)
		for _, g := range gained {
			if types.IsInterface(g.typ) || isGeneric(g.typ) {
				continue
			}
			for _, known := range others {
				if implements(g.typ, known.typ) {
					r.note("with %s, %s implements %s, so others may begin to call it", r.name, short(g.typ), known.name)
				}
			}
			for _, known := range own {
				if implements(g.typ, known.typ) {
					r.note("with %s, %s implements %s, so code that asks values for it may begin to call it", r.name, short(g.typ), known.name)
				}
			}
		}
	}
}

// written are the interfaces of the workspace, in one build, that have a method of
// the new name beside what is renamed.
func (r *renaming) written(nr int, after map[*unit]*checked) []known {
	renamed := map[key]bool{r.moved(r.obj): true}
	for _, o := range r.coupled {
		renamed[r.moved(o)] = true
	}
	var found []known
	for _, u := range r.prog.units {
		info, files := u.info, u.files
		if c := after[u]; c != nil {
			info, files = c.info, c.files
		}
		if u.build != nr {
			continue
		}
		for _, f := range files {
			names := map[ast.Expr]string{}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.TypeSpec:
					names[n.Type] = n.Name.Name
				case *ast.InterfaceType:
					iface, ok := info.TypeOf(n).(*types.Interface)
					if !ok {
						return true
					}
					m, _, _ := types.LookupFieldOrMethod(iface, false, r.obj.Pkg(), r.name)
					if m != nil && !renamed[placeOf(r.prog, origin(m))] {
						name := cmp.Or(names[n], "an interface") + " (" + r.prog.lineOf(n.Pos()) + ")"
						found = append(found, known{name: name, typ: iface})
					}
				}
				return true
			})
		}
	}
	slices.SortFunc(found, func(a, b known) int { return strings.Compare(a.name, b.name) })
	return found
}
