package golang

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"

	"replan/mcpclient/workspace/code/source"
)

// References are all places that denote what a symbol means, tests included. Only
// packages whose files hold the word are type-checked in full.
func (p *Project) References(ctx context.Context, symbol, within string) (References, error) {
	t, err := p.resolve(ctx, symbol, within, p.packagesWith)
	if err != nil {
		return References{}, err
	}
	found := References{Symbol: t.symbol, Notes: append(t.notes, t.prog.notes()...)}
	set := map[key]bool{t.key: true}
	t.prog.identifiers(set, lastPart(t.symbol.Name), func(id *ast.Ident, u *unit) {
		at := t.prog.fset.PositionFor(id.Pos(), false)
		src, ok := t.prog.source(at.Filename)
		if !ok {
			return
		}
		found.Uses = append(found.Uses, source.Reference{
			Place:      place(src, at),
			In:         t.prog.around(at.Filename, id.Pos()),
			Definition: t.prog.keyAt(id.Pos(), t.key.name) == t.key,
		})
	})
	slices.SortFunc(found.Uses, func(a, b source.Reference) int { return comparePlaces(a.Place, b.Place) })
	found.Uses = slices.CompactFunc(found.Uses, func(a, b source.Reference) bool { return comparePlaces(a.Place, b.Place) == 0 })
	missed, err := t.unread(ctx)
	if err != nil {
		return References{}, err
	}
	if len(missed) > 0 {
		found.Notes = append(found.Notes, notCompiled(missed))
	}
	return found, nil
}

// packagesWith are the folders whose files hold the name of a target.
func (p *Project) packagesWith(ctx context.Context, t target) ([]string, error) {
	word := lastPart(t.symbol.Name)
	files, err := p.sources(ctx, ".", word)
	if err != nil {
		return nil, err
	}
	if t.obj != nil && isLocal(t.obj) {
		return []string{dirOf(t.symbol.Path)}, nil
	}
	return foldersOf(files), nil
}

// identifiers visits those that are called name and denote one of set, each in
// one unit.
func (prog *program) identifiers(set map[key]bool, name string, visit func(id *ast.Ident, u *unit)) {
	for _, u := range prog.units {
		if !u.bodies {
			continue
		}
		denotes := func(pos token.Pos, o types.Object) bool {
			return o != nil && o.Pos() == pos && set[prog.keyOf(o)]
		}
		for _, f := range u.files {
			ast.Inspect(f, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				if !ok || id.Name != name {
					return true
				}
				use, def := u.info.Uses[id], u.info.Defs[id]
				if use != nil && set[prog.keyOf(origin(use))] || denotes(id.Pos(), def) ||
					use == nil && def == nil && set[prog.keyAt(id.Pos(), name)] {
					visit(id, u)
				}
				return true
			})
		}
	}
}

// isLocal reports whether an object can be seen in one function only.
func isLocal(o types.Object) bool {
	if v, ok := o.(*types.Var); ok && v.IsField() {
		return false
	}
	if f, ok := o.(*types.Func); ok && f.Signature().Recv() != nil {
		return false
	}
	switch o.(type) {
	case *types.PkgName:
		return false
	case *types.Label:
		return true
	}
	return o.Pkg() != nil && o.Parent() != o.Pkg().Scope()
}

// unread are the files that hold the word and are not compiled on this system, as
// far as they can see what it means.
func (t target) unread(ctx context.Context) ([]goFile, error) {
	p := t.prog.p
	dir := dirOf(t.symbol.Path)
	if isLocal(t.obj) {
		return nil, nil
	}
	files, err := p.sources(ctx, ".", lastPart(t.symbol.Name))
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
	for _, f := range t.prog.parsed {
		read[f.rel] = true
	}
	var missed []goFile
	for _, f := range files {
		if !token.IsExported(lastPart(t.symbol.Name)) && dirOf(f.path) != dir {
			continue
		}
		if !read[f.path] && holdsIdent(f, lastPart(t.symbol.Name)) {
			missed = append(missed, f)
		}
	}
	return missed, nil
}

func notCompiled(files []goFile) string {
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = f.path
	}
	return "not compiled on this system, and so not looked into, though the name is in it: " + someOf(names)
}

// parted tells files that cannot compile without a name at the top of a package,
// by their paths, from those that may mean something else by it.
func (t target) parted(files []goFile) (breaks []string, rest []goFile) {
	for _, src := range files {
		if t.obj.Parent() == t.obj.Pkg().Scope() && t.needs(src) {
			breaks = append(breaks, src.path)
		} else {
			rest = append(rest, src)
		}
	}
	return breaks, rest
}

// needs reports whether a file, by its text, uses what is at the top of a package:
// in the package itself by an identifier that nothing in the file declares, else
// behind the name that it imports the package under.
func (t target) needs(src goFile) bool {
	file, err := parser.ParseFile(token.NewFileSet(), src.path, src.data, 0)
	if err != nil {
		return false
	}
	name := t.obj.Name()
	if dirOf(src.path) == dirOf(t.symbol.Path) && file.Name.Name == t.obj.Pkg().Name() {
		// The parser resolves what the file declares, and leaves over the rest.
		return slices.ContainsFunc(file.Unresolved, func(id *ast.Ident) bool { return id.Name == name })
	}
	for _, i := range file.Imports {
		if at, err := strconv.Unquote(i.Path.Value); err != nil || at != t.obj.Pkg().Path() {
			continue
		}
		as := t.obj.Pkg().Name()
		if i.Name != nil {
			as = i.Name.Name
		}
		if slices.ContainsFunc(file.Unresolved, func(id *ast.Ident) bool { return id.Name == as }) {
			return indexWord(src.data, as+"."+name) >= 0
		}
	}
	return false
}
