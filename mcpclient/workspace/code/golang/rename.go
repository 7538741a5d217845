package golang

import (
	"bytes"
	"context"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
	"golang.org/x/tools/go/packages"

	"replan/mcpclient/workspace/code/source"
)

// rename is a rename in progress.
type rename struct {
	program
	target    types.Object
	old, name string
	set       map[key]types.Object     // objects that get the new name
	edits     map[string][]source.Edit // by path
}

// lookedUp lists methods that the standard library looks for in any value.
const lookedUp = "String GoString Format Error Unwrap Is As MarshalJSON UnmarshalJSON MarshalText UnmarshalText Scan Value LogValue Close Read Write"

// carryOut finds all that gets the new name, and checks that the code still means the same.
func (r *rename) carryOut(ctx context.Context) (Renamed, error) {
	if err := r.allowed(); err != nil {
		return Renamed{}, err
	}
	r.embedded()
	if err := r.couple(); err != nil {
		return Renamed{}, err
	}
	if err := r.collect(); err != nil {
		return Renamed{}, err
	}
	if err := r.verify(ctx); err != nil {
		return Renamed{}, err
	}
	left := r.comments()
	result := Renamed{Edits: r.all(), Read: r.read, Notes: append(r.notes(), left...)}
	if f, ok := r.target.(*types.Func); ok && f.Signature().Recv() != nil && source.Holds([]byte(lookedUp), r.old) {
		result.Notes = append(result.Notes, "the standard library looks for methods called "+r.old+" while a program runs, which no type checker sees")
	}
	for k, o := range r.set {
		if k != r.keyOf(r.target) {
			result.Also = append(result.Also, source.Symbol{Name: memberName(o), Place: r.place(o.Pos())})
		}
	}
	slices.SortFunc(result.Also, func(a, b source.Symbol) int { return source.ComparePlaces(a.Place, b.Place) })
	return result, nil
}

// memberName returns Type.Method for a method and the bare name otherwise.
func memberName(o types.Object) string {
	f, ok := o.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return o.Name()
	}
	t := types.Unalias(f.Signature().Recv().Type())
	if p, ok := t.(*types.Pointer); ok {
		t = types.Unalias(p.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name() + "." + o.Name()
	}
	return o.Name()
}

// allowed refuses names outside the workspace, names that must not change, and
// names with uses that cannot be determined.
func (r *rename) allowed() error {
	v, isVar := r.target.(*types.Var)
	_, isPkg := r.target.(*types.PkgName)
	f, isFunc := r.target.(*types.Func)
	top := r.target.Pkg() != nil && r.target.Parent() == r.target.Pkg().Scope()
	main := r.target.Pkg() != nil && r.target.Pkg().Name() == "main"
	switch {
	case isPkg:
		return refuse("%s is the name of an imported package; names of packages are not renamed, since their folders and importers depend on them", r.old)
	case r.target.Pkg() == nil:
		return refuse("%s is predeclared by Go itself and cannot be renamed", r.old)
	case !r.owns(r.target):
		return refuse("%s is declared outside the workspace, in %s, and cannot be renamed here", r.old, r.target.Pkg().Path())
	case r.old == "_":
		return refuse("_ is not a name and cannot be renamed")
	case isVar && v.Embedded():
		return refuse("%s is an embedded field and has the name of its type; rename the type", r.old)
	case r.name == r.old:
		return refuse("%s is called %s already", r.old, r.name)
	case isFunc && f.Signature().Recv() == nil && (r.old == "init" || r.old == "main" && main):
		return refuse("%s is called by its name when the program starts and cannot be renamed", r.old)
	case top && (r.name == "init" || r.name == "main" && main):
		return refuse("%s has a meaning of its own at the top of a package; choose another name", r.name)
	}
	for _, pkg := range r.pkgs {
		for _, file := range pkg.Syntax {
			at, _ := r.p.relative(r.fset.PositionFor(file.FileStart, false).Filename)
			if len(pkg.Errors) > 0 && source.Holds(r.read[at], r.old) {
				return refuse("%s does not compile, so the meaning of %s in it is unknown; fix this first: %s", pkg.PkgPath, r.old, r.fault(pkg.Errors[0]))
			}
			if ast.IsGenerated(file) && r.fset.PositionFor(file.FileStart, false).Filename == r.keyOf(r.target).file {
				return refuse("%s is declared in %s, which is generated; change its source", r.old, at)
			}
		}
	}
	return nil
}

// embedded adds the fields that embed a renamed type, because they share its
// name.
func (r *rename) embedded() {
	if _, isType := r.target.(*types.TypeName); !isType {
		return
	}
	r.identifiers(func(pkg *packages.Package, id *ast.Ident) {
		field, ok := pkg.TypesInfo.Defs[id].(*types.Var)
		if ok && field.Embedded() && id.Name == r.old && r.same(pkg.TypesInfo.Uses[id], r.target) {
			r.set[r.keyOf(field)] = field
		}
	})
}

// holder is a type with a method of the old name, own or promoted.
type holder struct {
	typ    types.Type
	method types.Object
}

// couple adds the methods that must keep the same name as the target: those of
// its interfaces and of their other implementations. It refuses a method that
// an interface outside the workspace requires.
func (r *rename) couple() error {
	f, ok := r.target.(*types.Func)
	if !ok || f.Signature().Recv() == nil {
		return nil
	}
	groups := map[key]key{} // maps a method to another of its group
	root := func(k key) key {
		for groups[k] != (key{}) {
			k = groups[k]
		}
		return k
	}
	methods := map[key]types.Object{}
	for _, pkg := range r.pkgs {
		holders := r.holders(pkg)
		for _, i := range holders {
			iface, ok := i.typ.Underlying().(*types.Interface)
			if !ok {
				continue
			}
			for _, t := range holders {
				if t.typ == i.typ || !types.Implements(t.typ, iface) && !types.Implements(types.NewPointer(t.typ), iface) {
					continue
				}
				a, b := r.keyOf(t.method), r.keyOf(i.method)
				methods[a], methods[b] = t.method, i.method
				if root(a) != root(b) {
					groups[root(a)] = root(b)
				}
			}
		}
	}
	for k, method := range methods {
		if root(k) != root(r.keyOf(r.target)) {
			continue
		}
		if !r.owns(method) {
			return refuse("%s cannot be renamed: %s outside the workspace has it too, and the types here are used as one", r.old, method.(*types.Func).FullName())
		}
		r.set[k] = method
	}
	return nil
}

// holders returns the types with a method of the old name that a package
// declares, spells out or uses.
func (r *rename) holders(pkg *packages.Package) []holder {
	var found []holder
	seen := map[types.Type]bool{}
	add := func(t types.Type) {
		if named, ok := t.(*types.Named); t == nil || seen[t] || ok && named.TypeParams().Len() > 0 && named.TypeArgs().Len() == 0 {
			return
		}
		seen[t] = true
		if m, _, _ := types.LookupFieldOrMethod(t, true, r.target.Pkg(), r.old); m != nil {
			if f, ok := m.(*types.Func); ok {
				found = append(found, holder{t, f.Origin()})
			}
		}
	}
	for _, tv := range pkg.TypesInfo.Types {
		t := types.Unalias(tv.Type)
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		switch t.(type) {
		case *types.Named, *types.Interface, *types.Struct:
			add(t)
		}
	}
	for _, o := range pkg.TypesInfo.Defs {
		if name, ok := o.(*types.TypeName); ok && !name.IsAlias() {
			add(name.Type())
		}
	}
	return found
}

// collect creates an edit for every identifier that denotes a renamed object.
func (r *rename) collect() (err error) {
	r.identifiers(func(pkg *packages.Package, id *ast.Ident) {
		if id.Name != r.old || !r.reads(id.Pos()) {
			return
		}
		o := meaning(pkg, id)
		if o == nil || r.set[r.keyOf(o)] == nil {
			return
		}
		if token.IsExported(r.old) && !token.IsExported(r.name) && err == nil && strings.TrimSuffix(pkg.PkgPath, "_test") != r.target.Pkg().Path() {
			err = refuse("%s is used in another package at %s, which could not see %s", r.old, r.lineOf(id.Pos()), r.name)
		}
		r.edit(id.Pos(), r.old, r.name)
	})
	r.examples()
	return err
}

// examples renames the example functions of renamed objects, because go vet
// checks their names.
func (r *rename) examples() {
	for _, o := range r.set {
		if o.Pkg() == nil || o.Parent() != o.Pkg().Scope() && !strings.Contains(memberName(o), ".") {
			continue
		}
		prefix := "Example" + strings.TrimSuffix(strings.ReplaceAll(memberName(o), ".", "_"), r.old)
		r.identifiers(func(pkg *packages.Package, id *ast.Ident) {
			f, ok := pkg.TypesInfo.Defs[id].(*types.Func)
			if !ok || f.Signature().Recv() != nil || strings.TrimSuffix(pkg.PkgPath, "_test") != o.Pkg().Path() {
				return
			}
			if rest, ok := strings.CutPrefix(id.Name, prefix+r.old); ok && (rest == "" || rest[0] == '_') {
				r.edit(id.Pos(), prefix+r.old, prefix+r.name)
			}
		})
	}
}

// edit replaces a text once, even if several packages contain its file.
func (r *rename) edit(pos token.Pos, from, to string) {
	at := r.fset.PositionFor(pos, false)
	path, _ := r.p.relative(at.Filename)
	e := source.Edit{Path: path, Start: at.Offset, End: at.Offset + len(from), New: to}
	if !slices.Contains(r.edits[path], e) {
		r.edits[path] = append(r.edits[path], e)
	}
}

// own returns the comments of a renamed declaration.
func (r *rename) own(n ast.Node) []*ast.CommentGroup {
	var names []*ast.Ident
	var groups []*ast.CommentGroup
	switch n := n.(type) {
	case *ast.FuncDecl:
		names, groups = []*ast.Ident{n.Name}, []*ast.CommentGroup{n.Doc}
	case *ast.GenDecl:
		if len(n.Specs) == 1 {
			names, groups = declares(n.Specs[0]), []*ast.CommentGroup{n.Doc}
		}
	case *ast.TypeSpec:
		names, groups = declares(n), []*ast.CommentGroup{n.Doc, n.Comment}
	case *ast.ValueSpec:
		names, groups = declares(n), []*ast.CommentGroup{n.Doc, n.Comment}
	case *ast.Field:
		names, groups = n.Names, []*ast.CommentGroup{n.Doc, n.Comment}
	}
	if !slices.ContainsFunc(names, func(id *ast.Ident) bool {
		at := r.fset.PositionFor(id.Pos(), false)
		return r.set[key{at.Filename, at.Offset}] != nil
	}) {
		return nil
	}
	return slices.DeleteFunc(groups, func(g *ast.CommentGroup) bool { return g == nil })
}

func declares(spec ast.Spec) []*ast.Ident {
	switch spec := spec.(type) {
	case *ast.TypeSpec:
		return []*ast.Ident{spec.Name}
	case *ast.ValueSpec:
		return spec.Names
	}
	return nil
}

// all returns the edits by file and place. A gofmt-formatted file stays
// formatted: the blanks beside aligned names change too.
func (r *rename) all() []source.Edit {
	var list []source.Edit
	for _, path := range slices.Sorted(maps.Keys(r.edits)) {
		data, edits := r.read[path], r.edits[path]
		slices.SortFunc(edits, func(a, b source.Edit) int { return a.Start - b.Start })
		text, err := source.Apply(string(data), edits)
		before, formatErr := format.Source(data)
		if err == nil && formatErr == nil && bytes.Equal(before, data) {
			if after, err := format.Source([]byte(text)); err == nil && string(after) != text {
				edits = nil
				for _, e := range udiff.Bytes(data, after) {
					edits = append(edits, source.Edit{Path: path, Start: e.Start, End: e.End, New: e.New})
				}
			}
		}
		list = append(list, edits...)
	}
	return list
}
