package main_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// divided are the packages that hold several parts. In the others, the package is the part,
// and the compiler keeps its fields.
var divided = []string{"./agent"}

// A type's fields are private to the few files of its part: those whose names begin with the
// word that the file of its declaration begins with (step.go, step_gate.go). Whoever needs more
// asks a method. A field whose own type belongs to another part may be used there: each column
// of a row has its owner. Types without pointer methods are values, which anybody may read.
func TestPartsOwnTheirData(t *testing.T) {
	const mode = packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo | packages.NeedFiles | packages.NeedImports | packages.NeedDeps
	loaded, err := packages.Load(&packages.Config{Mode: mode}, divided...)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, fault := range (&house{p, owners(p)}).faults() {
			t.Error(fault)
		}
		if len(p.Syntax) == 0 {
			t.Errorf("%s: no file was read: %v", p.PkgPath, p.Errors)
		}
	}
}

// house is a package with the types that own data in it.
type house struct {
	*packages.Package
	owners map[*types.TypeName]bool
}

// owners returns the types of a package that have methods on a pointer.
func owners(p *packages.Package) map[*types.TypeName]bool {
	own := map[*types.TypeName]bool{}
	for _, name := range p.Types.Scope().Names() {
		object, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok {
			continue
		}
		if named, ok := object.Type().(*types.Named); ok {
			for method := range named.Methods() {
				if _, pointer := method.Signature().Recv().Type().(*types.Pointer); pointer {
					own[object] = true
				}
			}
		}
	}
	return own
}

// part returns the part that a file belongs to: the first word of its name.
func part(file string) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(file), ".go"), "_")
	return word
}

func (h *house) partOf(o types.Object) string { return part(h.Fset.Position(o.Pos()).Filename) }

func (h *house) faults() []string {
	var out []string
	for _, file := range h.Syntax {
		here := part(h.Fset.Position(file.Pos()).Filename)
		asked := map[ast.Expr]bool{} // fields of which a method is called
		ast.Inspect(file, func(n ast.Node) bool {
			if outer, ok := n.(*ast.SelectorExpr); ok {
				if s := h.TypesInfo.Selections[outer]; s != nil && s.Kind() == types.MethodVal {
					asked[outer.X] = true
				}
			}
			return true
		})
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if inner := h.wrapped(n); inner != "" {
					out = append(out, fmt.Sprintf("%s: the type of the method %s only adds methods to %s", h.Fset.Position(n.Pos()), n.Name.Name, inner))
				}
				if owner := h.receiver(n); owner != nil && h.partOf(owner) != here {
					out = append(out, fmt.Sprintf("%s: the method %s of %s stands outside of its part", h.Fset.Position(n.Pos()), n.Name.Name, owner.Name()))
				}
			case *ast.SelectorExpr:
				if owner, field := h.field(n); owner != nil && !field.Exported() && !asked[n] && h.partOf(owner) != here && !h.isColumn(field, here) {
					out = append(out, fmt.Sprintf("%s: %s is a field of %s, whose part is %s*.go", h.Fset.Position(n.Pos()), field.Name(), owner.Name(), h.partOf(owner)))
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					out = append(out, h.writes(to, here)...)
				}
			case *ast.IncDecStmt:
				out = append(out, h.writes(n.X, here)...)
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// writes returns the fault of an assignment to an exported field: anybody may read it, but only
// its part writes it.
func (h *house) writes(to ast.Expr, here string) []string {
	for {
		index, ok := to.(*ast.IndexExpr)
		if !ok {
			break
		}
		to = index.X
	}
	selector, ok := to.(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	owner, field := h.field(selector)
	if owner == nil || !field.Exported() || h.partOf(owner) == here || h.isColumn(field, here) {
		return nil
	}
	return []string{fmt.Sprintf("%s: %s of %s is written outside of its part", h.Fset.Position(to.Pos()), field.Name(), owner.Name())}
}

// receiver returns the owner whose method a function is, or nil.
func (h *house) receiver(f *ast.FuncDecl) *types.TypeName {
	if f.Recv == nil {
		return nil
	}
	return h.owner(h.TypesInfo.TypeOf(f.Recv.List[0].Type))
}

// wrapped returns the type that the receiver of a method embeds, if it holds nothing else.
func (h *house) wrapped(f *ast.FuncDecl) string {
	if f.Recv == nil {
		return ""
	}
	of := h.TypesInfo.TypeOf(f.Recv.List[0].Type)
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	fields, ok := of.Underlying().(*types.Struct)
	if !ok || fields.NumFields() != 1 || !fields.Field(0).Embedded() {
		return ""
	}
	if inner := h.owner(fields.Field(0).Type()); inner != nil {
		return inner.Name()
	}
	return ""
}

// field returns the field that a selector selects, and the type that declares it; nil if that
// is no owner of this package.
func (h *house) field(n *ast.SelectorExpr) (*types.TypeName, *types.Var) {
	s := h.TypesInfo.Selections[n]
	if s == nil || s.Kind() != types.FieldVal {
		return nil, nil
	}
	of := s.Recv()
	var owner *types.TypeName
	var field *types.Var
	for _, i := range s.Index() {
		if pointer, ok := of.(*types.Pointer); ok {
			of = pointer.Elem()
		}
		fields, ok := of.Underlying().(*types.Struct)
		if !ok {
			return nil, nil
		}
		owner, field = h.owner(of), fields.Field(i)
		of = field.Type()
	}
	return owner, field
}

func (h *house) owner(t types.Type) *types.TypeName {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok && h.owners[named.Obj()] {
		return named.Obj()
	}
	return nil
}

// isColumn reports whether the type of a field belongs to the part here.
func (h *house) isColumn(field *types.Var, here string) bool {
	owner := h.owner(field.Type())
	return owner != nil && h.partOf(owner) == here
}
