package golang

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"replan/mcpclient/workspace/code/source"
)

// verify type-checks the packages that the edits affect, with the edits
// applied. It compares the meaning of each identifier before and after. This
// finds names that are already taken, shadow another name or are shadowed, and
// all other compile errors.
func (r *rename) verify(ctx context.Context) error {
	after := program{p: r.p, fset: r.fset, read: maps.Clone(r.read)}
	files := map[string]*ast.File{} // with edits applied, by name on disk
	for path, edits := range r.edits {
		text, err := source.Apply(string(r.read[path]), edits)
		if err != nil {
			return fmt.Errorf("renaming in %s: %w", path, err)
		}
		name := r.p.onDisk(path)
		if files[name], err = parser.ParseFile(r.fset, name, text, parseMode); err != nil {
			return refuse("%s would not parse with the name %s: %v", path, r.name, err)
		}
		after.read[path] = []byte(text)
	}
	c := &checker{program: r.program, changed: files}
	// A changed meaning often also causes an error, but the name is the better
	// explanation.
	for _, check := range []func(before, now *packages.Package) error{
		func(before, now *packages.Package) error { return r.sameMeaning(after, before, now, false) },
		func(before, now *packages.Package) error { return r.sameErrors(after, before, now) },
		func(before, now *packages.Package) error { return r.sameMeaning(after, before, now, true) },
	} {
		for _, pkg := range r.pkgs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if now := c.check(pkg); now != pkg {
				if err := check(pkg, now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// checker type-checks the packages of a program, either unchanged or with
// changed files.
type checker struct {
	program
	changed map[string]*ast.File // by name on disk; nil before the first check
	done    map[*packages.Package]*packages.Package
}

// check returns a package with types. With changed files it returns the same
// package unless a change affects it.
func (c *checker) check(pkg *packages.Package) *packages.Package {
	if now := c.done[pkg]; now != nil {
		return now
	}
	now := &packages.Package{ID: pkg.ID, PkgPath: pkg.PkgPath, TypesInfo: &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, FileVersions: map[*ast.File]string{},
	}}
	reached := c.changed == nil
	for _, file := range pkg.Syntax {
		if changed := c.changed[c.fset.PositionFor(file.FileStart, false).Filename]; changed != nil {
			file, reached = changed, true
		}
		now.Syntax = append(now.Syntax, file)
	}
	for _, imported := range pkg.Imports {
		reached = reached || slices.Contains(c.pkgs, imported) && c.check(imported) != imported
	}
	if c.done == nil {
		c.done = map[*packages.Package]*packages.Package{}
	}
	if c.done[pkg] = pkg; !reached {
		return pkg
	}
	conf := types.Config{
		Sizes: c.sizes, FakeImportC: true, IgnoreFuncBodies: !c.wantsBodies(pkg),
		Importer: importer(func(path string) (*types.Package, error) { return c.imported(pkg, path) }),
		Error: func(err error) {
			if e, ok := errors.AsType[types.Error](err); ok {
				now.Errors = append(now.Errors, packages.Error{Pos: c.fset.PositionFor(e.Pos, false).String(), Msg: e.Msg})
			}
		},
	}
	if pkg.Module != nil && pkg.Module.GoVersion != "" {
		conf.GoVersion = "go" + pkg.Module.GoVersion
	}
	now.Types, _ = conf.Check(pkg.PkgPath, c.fset, now.Syntax, now.TypesInfo) // its errors went to Error
	c.done[pkg] = now
	return now
}

// wantsBodies reports whether to check the function bodies of a package too.
// If a package exists with and without its tests, one check is enough.
func (c *checker) wantsBodies(pkg *packages.Package) bool {
	if pkg.ForTest != "" {
		return pkg.ForTest == pkg.PkgPath || strings.HasSuffix(pkg.PkgPath, "_test")
	}
	return !slices.ContainsFunc(c.pkgs, func(p *packages.Package) bool { return p.ForTest == pkg.PkgPath && p.PkgPath == pkg.PkgPath })
}

// imported returns a package that another imports.
func (c *checker) imported(by *packages.Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	pkg := by.Imports[path]
	if pkg == nil {
		return nil, errors.New("it was not found")
	}
	for _, e := range pkg.Errors {
		if message := missing(e.Msg); message != e.Msg {
			return nil, errors.New(message)
		}
	}
	if slices.Contains(c.pkgs, pkg) {
		if now := c.check(pkg); now.Types != nil {
			return now.Types, nil
		}
	} else if found := c.outside[pkg.PkgPath]; found != nil {
		return found, nil
	}
	return nil, errors.New("it could not be read")
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

// sameErrors refuses errors that did not exist before.
func (r *rename) sameErrors(after program, before, now *packages.Package) error {
	known := map[string]bool{}
	for _, e := range before.Errors {
		known[e.Msg] = true
	}
	for _, e := range now.Errors {
		if !known[e.Msg] && !strings.HasPrefix(e.Msg, "\t") { // a tab continues the previous error

			return refuse("%s would not compile with the name %s: %s", before.PkgPath, r.name, after.fault(e))
		}
	}
	return nil
}

// sameMeaning refuses an identifier that would denote something else. If
// strict, it also refuses one that would denote nothing.
func (r *rename) sameMeaning(after program, before, now *packages.Package, strict bool) error {
	for i, file := range before.Syntax {
		was, is := identsOf(file), identsOf(now.Syntax[i])
		if len(was) != len(is) {
			return refuse("%s would read differently with the name %s", r.lineOf(file.FileStart), r.name)
		}
		for j, id := range was {
			old, new := meaning(before, id), meaning(now, is[j])
			if r.moved(r.keyOf(old)) == after.keyOf(new) || !strict && (old == nil || new == nil) {
				continue
			}
			return refuse("cannot use the name %s: %s would refer to %s instead of %s", r.name, r.lineOf(id.Pos()), after.phrase(new), r.phrase(old))
		}
	}
	return nil
}

// moved returns the place of a declaration after the edits.
func (r *rename) moved(k key) key {
	path, _ := r.p.relative(k.file)
	shift := 0
	for _, e := range r.edits[path] {
		if e.Start < k.offset {
			shift += len(e.New) - (e.End - e.Start)
		}
	}
	k.offset += shift
	return k
}
