package partstest

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Faults returns where packages break the rule, with file and line. Patterns name packages as
// in the go command, from the current directory.
//
// A file belongs to the part that its first word names (step.go, step_gate.go), if such a file
// declares a type that owns data. Otherwise it belongs to the part whose methods it holds, if
// these are of one part only. Otherwise it belongs to none. A type owns data if it has methods
// on a pointer and a field that other packages cannot see. One that no other file mentions is a
// detail of its file. Other types are values, which all code may read and write. Only the
// part reads a private field of a type that owns data, or writes an exported one. That holds
// in this package and in others. No type only adds methods to such a type, or takes over
// its fields.
//
// Allowed is a literal that makes a new value, which nothing else has seen yet. So is what
// is written through a pointer that a method of the part hands out.
func Faults(patterns ...string) (faults []string, err error) {
	const mode = packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Mode: mode}, patterns...)
	if err != nil {
		return nil, fmt.Errorf("reading the packages %q: %w", patterns, err)
	}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("%s: not every file was read: %v", p.PkgPath, p.Errors)
		}
		if len(p.Syntax) > 0 { // else it has only tests
			faults = append(faults, newChecked(p).faults()...)
		}
	}
	return faults, nil
}

// module is the name of the module, with which the paths of all its packages begin.
const module = "replan"

// checked is a package with its parts.
type checked struct {
	*packages.Package
	owners map[*types.TypeName]bool // the types of the package that own data
	parts  map[string]string        // the part of each file that has one
}

func newChecked(p *packages.Package) *checked {
	c := &checked{p, map[*types.TypeName]bool{}, map[string]string{}}
	mentioned := c.mentioned()
	for _, name := range p.Types.Scope().Names() {
		object, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if ok && ownsData(object) && (object.Exported() || mentioned[object]) {
			c.owners[object] = true
		}
	}
	named := map[string]bool{} // the words that name parts
	methods := map[string][]string{}
	for owner := range c.owners {
		part := c.partOf(owner)
		named[part] = true
		for method := range owner.Type().(*types.Named).Methods() {
			if file := c.file(method.Pos()); !slices.Contains(methods[file], part) {
				methods[file] = append(methods[file], part)
			}
		}
	}
	for _, file := range p.Syntax {
		name := c.file(file.Pos())
		if word := c.word(file.Pos()); named[word] {
			c.parts[name] = word
		} else if len(methods[name]) == 1 {
			c.parts[name] = methods[name][0]
		}
	}
	return c
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

// mentioned returns the types that are named, or whose methods are used, in another file.
func (c *checked) mentioned() map[*types.TypeName]bool {
	mentioned := map[*types.TypeName]bool{}
	for name, object := range c.TypesInfo.Uses {
		of, _ := object.(*types.TypeName)
		if method, ok := object.(*types.Func); ok && method.Signature().Recv() != nil {
			of = typeName(method.Signature().Recv().Type())
		}
		if of != nil && c.file(of.Pos()) != c.file(name.Pos()) {
			mentioned[of] = true
		}
	}
	return mentioned
}

func (c *checked) file(at token.Pos) string { return c.Fset.Position(at).Filename }

// word returns what the name of a file begins with, up to an underscore.
func (c *checked) word(at token.Pos) string {
	word, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(c.file(at)), ".go"), "_")
	return word
}

func (c *checked) faults() []string {
	var out []string
	for _, file := range c.Syntax {
		here := c.parts[c.file(file.Pos())]
		fault := func(at ast.Node, form string, args ...any) {
			out = append(out, fmt.Sprintf("%s: %s", c.Fset.Position(at.Pos()), fmt.Sprintf(form, args...)))
		}
		write := func(to ast.Expr) {
			if owner, field := c.written(to, here); owner != nil {
				fault(to, "%s of %s is written outside of its part", field.Name(), owner.Name())
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				if inner := c.taken(n); inner != nil {
					fault(n, "the type %s takes over the fields of %s", n.Name.Name, inner.Name())
				}
			case *ast.FuncDecl:
				if inner := c.wrapped(n); inner != nil {
					fault(n, "the type of the method %s only adds methods to %s", n.Name.Name, inner.Name())
				}
				if owner := c.receiver(n); owner != nil && c.partOf(owner) != here {
					fault(n, "the method %s of %s stands outside of its part", n.Name.Name, owner.Name())
				}
			case *ast.SelectorExpr:
				if owner, field := c.field(n); owner != nil && !field.Exported() && c.partOf(owner) != here {
					fault(n, "%s is a field of %s, whose part is %s", field.Name(), owner.Name(), c.partOf(owner))
				}
			case *ast.AssignStmt:
				for _, to := range n.Lhs {
					write(to)
				}
			case *ast.IncDecStmt:
				write(n.X)
			}
			return true
		})
	}
	slices.Sort(out)
	return out
}

// partOf returns the part of a type that owns data; one of another package is none of this one.
func (c *checked) partOf(owner *types.TypeName) string {
	if owner.Pkg() != c.Types {
		return owner.Pkg().Path()
	}
	return c.word(owner.Pos())
}

// written returns the exported field that an assignment changes, and its owner, if that is not
// of the part here. All code may read an exported field, but only its part writes it or what
// lies in it.
func (c *checked) written(to ast.Expr, here string) (*types.TypeName, *types.Var) {
	for {
		switch at := ast.Unparen(to).(type) {
		case *ast.IndexExpr:
			to = at.X
		case *ast.SelectorExpr:
			owner, field := c.field(at)
			if owner != nil && field.Exported() && c.partOf(owner) != here {
				return owner, field
			}
			if of := c.TypesInfo.TypeOf(at.X); of == nil || isPointer(of) {
				return nil, nil
			}
			to = at.X
		default:
			return nil, nil
		}
	}
}

func isPointer(t types.Type) bool {
	_, pointer := t.Underlying().(*types.Pointer)
	return pointer
}

// receiver returns the owner whose method a function is, or nil.
func (c *checked) receiver(f *ast.FuncDecl) *types.TypeName {
	if f.Recv == nil {
		return nil
	}
	return c.owner(c.TypesInfo.TypeOf(f.Recv.List[0].Type))
}

// wrapped returns the owner that the receiver of a method embeds, if it holds nothing else.
func (c *checked) wrapped(f *ast.FuncDecl) *types.TypeName {
	if f.Recv == nil {
		return nil
	}
	of := c.TypesInfo.TypeOf(f.Recv.List[0].Type)
	if pointer, ok := of.(*types.Pointer); ok {
		of = pointer.Elem()
	}
	fields, ok := of.Underlying().(*types.Struct)
	if !ok || fields.NumFields() != 1 || !fields.Field(0).Embedded() {
		return nil
	}
	return c.owner(fields.Field(0).Type())
}

// taken returns the owner whose fields a declared type has, as in type fold Run.
func (c *checked) taken(spec *ast.TypeSpec) *types.TypeName {
	if spec.Assign.IsValid() { // an alias
		return nil
	}
	return c.owner(c.TypesInfo.TypeOf(spec.Type))
}

// field returns the field that a selector selects, and the type that declares it; nil if that
// owns no data.
func (c *checked) field(n *ast.SelectorExpr) (*types.TypeName, *types.Var) {
	s := c.TypesInfo.Selections[n]
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
		owner, field = c.owner(of), fields.Field(i)
		of = field.Type()
	}
	return owner, field
}

// owner returns the name of a type that owns data, of this package or of another one of the
// module; nil for others.
func (c *checked) owner(t types.Type) *types.TypeName {
	name := typeName(t)
	switch {
	case name == nil || name.Pkg() == nil:
		return nil
	case name.Pkg() == c.Types:
		if !c.owners[name] {
			return nil
		}
	case !strings.HasPrefix(name.Pkg().Path()+"/", module+"/") || !ownsData(name):
		return nil
	}
	return name
}

// typeName returns the name of a type or of what it points to, nil for none.
func typeName(t types.Type) *types.TypeName {
	t = types.Unalias(t)
	if pointer, ok := t.(*types.Pointer); ok {
		t = types.Unalias(pointer.Elem())
	}
	if named, ok := t.(*types.Named); ok {
		return named.Origin().Obj()
	}
	return nil
}
