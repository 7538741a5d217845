package main_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// A type's fields are private to the few files of its part. Whoever needs more asks a method.
// A file is of the part that its first word names (step.go, step_gate.go), if such a file
// declares a type that owns data; else of the part whose methods it holds, which are then those
// of one part only; else of none. A type owns data if it has methods on a pointer and a field
// that other packages cannot see. One that no other file mentions is a detail of its file. Other
// types are values, which anybody may read. A field whose own type belongs to another part may
// be used there: each column of a row has its owner.
func TestPartsOwnTheirData(t *testing.T) {
	const mode = packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Mode: mode}, "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		for _, fault := range newHouse(p).faults() {
			t.Error(fault)
		}
		if len(p.Errors) > 0 || len(p.Syntax) == 0 {
			t.Errorf("%s: not every file was read: %v", p.PkgPath, p.Errors)
		}
	}
}

// house is a package with its parts.
type house struct {
	*packages.Package
	owners map[*types.TypeName]bool // the types that own data
	parts  map[string]string        // the part of each file that has one
}

func newHouse(p *packages.Package) *house {
	h := &house{p, map[*types.TypeName]bool{}, map[string]string{}}
	mentioned := h.mentioned()
	for _, name := range p.Types.Scope().Names() {
		object, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if ok && ownsData(object) && (object.Exported() || mentioned[object]) {
			h.owners[object] = true
		}
	}
	named := map[string]bool{} // the words that name parts
	methods := map[string][]string{}
	for owner := range h.owners {
		part := h.word(owner.Pos())
		named[part] = true
		for method := range owner.Type().(*types.Named).Methods() {
			if file := h.file(method.Pos()); !slices.Contains(methods[file], part) {
				methods[file] = append(methods[file], part)
			}
		}
	}
	for _, file := range p.Syntax {
		name := h.file(file.Pos())
		if word := h.word(file.Pos()); named[word] {
			h.parts[name] = word
		} else if len(methods[name]) == 1 {
			h.parts[name] = methods[name][0]
		}
	}
	return h
}

// ownsData reports whether a type is a struct with methods on a pointer, has a field that other
// packages cannot see, and is no error.
func ownsData(object *types.TypeName) bool {
	named, ok := object.Type().(*types.Named)
	if !ok {
		return false
	}
	fields, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	private, changes := false, false
	for field := range fields.Fields() {
		private = private || !field.Exported()
	}
	for method := range named.Methods() {
		_, pointer := method.Signature().Recv().Type().(*types.Pointer)
		changes = changes || pointer
	}
	return private && changes && !types.Implements(types.NewPointer(named), errorType)
}

var errorType = types.Universe.Lookup("error").Type().Underlying().(*types.Interface)

// mentioned returns the types that another file than their own names, or asks.
func (h *house) mentioned() map[*types.TypeName]bool {
	mentioned := map[*types.TypeName]bool{}
	for name, object := range h.TypesInfo.Uses {
		of, _ := object.(*types.TypeName)
		if method, ok := object.(*types.Func); ok && method.Signature().Recv() != nil {
			of = typeName(method.Signature().Recv().Type())
		}
		if of != nil && h.file(of.Pos()) != h.file(name.Pos()) {
			mentioned[of] = true
		}
	}
	return mentioned
}

func (h *house) file(at token.Pos) string { return h.Fset.Position(at).Filename }

// word returns what the name of a file begins with, up to an underscore.
func (h *house) word(at token.Pos) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(h.file(at)), ".go"), "_")
	return word
}

func (h *house) faults() []string {
	var out []string
	for _, file := range h.Syntax {
		here := h.parts[h.file(file.Pos())]
		asked := map[ast.Expr]bool{} // fields of which a method is called
		ast.Inspect(file, func(n ast.Node) bool {
			if outer, ok := n.(*ast.SelectorExpr); ok {
				if s := h.TypesInfo.Selections[outer]; s != nil && s.Kind() == types.MethodVal && h.owner(h.TypesInfo.TypeOf(outer.X)) != nil {
					asked[outer.X] = true
				}
			}
			return true
		})
		fault := func(at ast.Node, form string, args ...any) {
			out = append(out, fmt.Sprintf("%s: %s", h.Fset.Position(at.Pos()), fmt.Sprintf(form, args...)))
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if inner := h.wrapped(n); inner != "" {
					fault(n, "the type of the method %s only adds methods to %s", n.Name.Name, inner)
				}
				if owner := h.receiver(n); owner != nil && h.partOf(owner) != here {
					fault(n, "the method %s of %s stands outside of its part", n.Name.Name, owner.Name())
				}
			case *ast.SelectorExpr:
				if owner, field := h.field(n); owner != nil && !field.Exported() && !asked[n] && h.isElsewhere(owner, field, here) {
					fault(n, "%s is a field of %s, whose part is %s", field.Name(), owner.Name(), h.partOf(owner))
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					if owner, field := h.written(to); owner != nil && h.isElsewhere(owner, field, here) {
						fault(to, "%s of %s is written outside of its part", field.Name(), owner.Name())
					}
				}
			case *ast.IncDecStmt:
				if owner, field := h.written(n.X); owner != nil && h.isElsewhere(owner, field, here) {
					fault(n, "%s of %s is written outside of its part", field.Name(), owner.Name())
				}
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

func (h *house) partOf(owner *types.TypeName) string { return h.word(owner.Pos()) }

// isElsewhere reports whether neither the owner of a field nor its type belongs to the part here.
func (h *house) isElsewhere(owner *types.TypeName, field *types.Var, here string) bool {
	if h.partOf(owner) == here {
		return false
	}
	column := h.owner(field.Type())
	return column == nil || h.partOf(column) != here
}

// written returns the exported field that an assignment changes, and its owner: anybody may read
// it, but only its part writes it.
func (h *house) written(to ast.Expr) (*types.TypeName, *types.Var) {
	for {
		index, ok := to.(*ast.IndexExpr)
		if !ok {
			break
		}
		to = index.X
	}
	if selector, ok := to.(*ast.SelectorExpr); ok {
		if owner, field := h.field(selector); owner != nil && field.Exported() {
			return owner, field
		}
	}
	return nil, nil
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

// owner returns the name of a type, or nil if it is no owner of this package.
func (h *house) owner(t types.Type) *types.TypeName {
	if name := typeName(t); name != nil && h.owners[name] {
		return name
	}
	return nil
}

// typeName returns the name of a type or of what it points to, nil for none.
func typeName(t types.Type) *types.TypeName {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}
