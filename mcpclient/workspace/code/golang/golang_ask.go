package golang

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"replan/mcpclient/workspace/code/source"
)

// load type-checks the module of a file, including its tests. It compiles
// nothing in the workspace. The types of other packages come from the
// compiler's export data.
func (p *Project) load(ctx context.Context, file string) (program, error) {
	m, ok := p.moduleOf(file)
	if !ok {
		return program{}, fmt.Errorf("%s is in no Go module", file)
	}
	flag := "-mod=readonly"
	if isFile(filepath.Join(m.dir, "vendor", "modules.txt")) {
		flag = "-mod=vendor"
	}
	prog := program{p: p, fset: token.NewFileSet(), read: map[string][]byte{}, outside: map[string]*types.Package{}}
	ask := func(mode packages.LoadMode, tests bool, patterns ...string) ([]*packages.Package, error) {
		found, err := packages.Load(&packages.Config{
			Context: ctx, Dir: m.dir, Env: m.environ, BuildFlags: []string{flag}, Tests: tests, Fset: prog.fset, Mode: mode,
		}, patterns...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return found, loadFailed(err)
	}
	// Sizes are not asked for here, because the go command would then prepare a
	// compilation of every package.
	roots, err := ask(packages.NeedName|packages.NeedFiles|packages.NeedImports|packages.NeedDeps|packages.NeedModule|packages.NeedForTest, true, m.patterns...)
	if err != nil {
		return program{}, err
	}
	imported := map[string]bool{"unsafe": true}              // known everywhere: it comes with the sizes
	packages.Visit(roots, nil, func(pkg *packages.Package) { // each after its imports
		if !slices.ContainsFunc(pkg.GoFiles, p.isOwn) || strings.HasSuffix(pkg.ID, ".test") {
			return
		}
		prog.pkgs = append(prog.pkgs, pkg)
		for _, i := range pkg.Imports {
			imported[i.PkgPath] = true
		}
	})
	if len(prog.pkgs) == 0 {
		return program{}, errors.New("the go command knows no package in this module")
	}
	for _, pkg := range prog.pkgs {
		delete(imported, pkg.PkgPath)
	}
	outside, err := ask(packages.NeedName|packages.NeedTypes|packages.NeedTypesSizes, false, slices.Sorted(maps.Keys(imported))...)
	if err != nil {
		return program{}, err
	}
	for _, pkg := range outside {
		prog.outside[pkg.PkgPath], prog.sizes = pkg.Types, pkg.TypesSizes
	}
	return prog, prog.parse(ctx)
}

// isOwn reports whether a file belongs to the workspace and is not vendored.
func (p *Project) isOwn(file string) bool {
	at, inside := p.relative(file)
	return inside && !slices.Contains(strings.Split(at, "/"), "vendor")
}

// References returns the uses of the name at a place.
func (p *Project) References(ctx context.Context, at source.Place) (Found, error) {
	prog, err := p.load(ctx, at.Path)
	if err != nil {
		return Found{}, err
	}
	o, err := prog.objectAt(at, true)
	if err != nil {
		return Found{}, err
	}
	found := Found{Read: prog.read, Notes: prog.notes()}
	prog.identifiers(func(pkg *packages.Package, id *ast.Ident) {
		if id.Name != o.Name() || !prog.same(meaning(pkg, id), o) || !prog.reads(id.Pos()) {
			return
		}
		declares := pkg.TypesInfo.Defs[id] != nil && pkg.TypesInfo.Uses[id] == nil // the name of an embedded field is both
		found.Uses = append(found.Uses, source.Reference{Place: prog.place(id.Pos()), Definition: id.Pos() == o.Pos() || declares})
	})
	slices.SortFunc(found.Uses, func(a, b source.Reference) int { return source.ComparePlaces(a.Place, b.Place) })
	found.Uses = slices.CompactFunc(found.Uses, func(a, b source.Reference) bool { return a.Place == b.Place })
	return found, nil
}

// Definition returns where the name at a place is declared. It returns nothing
// if that is outside the workspace.
func (p *Project) Definition(ctx context.Context, at source.Place) ([]source.Place, error) {
	prog, err := p.load(ctx, at.Path)
	if err != nil {
		return nil, err
	}
	o, err := prog.objectAt(at, true)
	if err != nil || !prog.owns(o) {
		return nil, err
	}
	return []source.Place{prog.place(o.Pos())}, nil
}

// Rename returns the edits that rename the name at a place in all packages and
// tests of its module. It also renames methods that an interface ties to it.
// It fails with a [RefusedError] if the code would no longer compile, or if a
// name would refer to something else.
func (p *Project) Rename(ctx context.Context, at source.Place, name string) (Renamed, error) {
	switch {
	case token.IsKeyword(name):
		return Renamed{}, refuse("%s is a keyword of Go; choose another name", name)
	case name == "_" || !token.IsIdentifier(name):
		return Renamed{}, refuse("%q is no name in Go; a name has letters, digits and underscores, and begins with no digit", name)
	}
	prog, err := p.load(ctx, at.Path)
	if err != nil {
		return Renamed{}, err
	}
	target, err := prog.objectAt(at, false)
	if err != nil {
		return Renamed{}, err
	}
	r := &rename{program: prog, target: target, old: target.Name(), name: name, set: map[key]types.Object{prog.keyOf(target): target}, edits: map[string][]source.Edit{}}
	return r.carryOut(ctx)
}
