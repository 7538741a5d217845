package golang

import (
	"go/ast"
	"go/token"
	"go/types"

	"replan/mcpclient/workspace/code/source"
)

// describe makes a symbol of an object; what a file declares at its top level is
// described as it is written there. What lies outside the workspace has its whole
// path.
func (prog *program) describe(obj types.Object) source.Symbol {
	at := prog.fset.PositionFor(obj.Pos(), false)
	src, own := prog.source(at.Filename)
	if own {
		_, all, _ := declared(src, prog.p.modules().importPath(dirOf(src.path)))
		for _, d := range all {
			if d.offset == at.Offset {
				return d.Symbol
			}
		}
	}
	s := source.Symbol{
		Name: obj.Name(), Qualified: obj.Name(), Kind: kindOf(obj), Exported: obj.Exported(),
		Signature: types.ObjectString(obj, types.RelativeTo(obj.Pkg())),
	}
	if f, ok := obj.(*types.Func); ok {
		if recv := f.Signature().Recv(); recv != nil {
			if named := namedOf(recv.Type()); named != nil {
				s.Parent = named.Obj().Name()
				s.Name = s.Parent + "." + s.Name
			}
		}
	}
	if pkg := obj.Pkg(); pkg != nil {
		s.Qualified = pkg.Path() + "." + s.Name
	}
	if own {
		s.Place = place(src, at)
		s.EndLine = at.Line
		if around := prog.around(at.Filename, obj.Pos()); around != "" {
			s.Parent = around
			s.Qualified = obj.Pkg().Path() + "." + around + "." + obj.Name()
		}
	} else if at.IsValid() {
		file := at.Filename
		if rel, ok := prog.p.relative(file); ok { // vendored
			file = rel
		}
		s.Place = source.Place{Path: file, Line: at.Line, Column: max(at.Column, 1)}
	}
	return s
}

func namedOf(t types.Type) *types.Named {
	if ptr, ok := types.Unalias(t).(*types.Pointer); ok {
		t = ptr.Elem()
	}
	named, _ := types.Unalias(t).(*types.Named)
	return named
}

func kindOf(obj types.Object) string {
	switch o := obj.(type) {
	case *types.Func:
		if o.Signature().Recv() != nil {
			return "method"
		}
		return "function"
	case *types.Var:
		switch {
		case o.IsField():
			return "field"
		case o.Kind() == types.ParamVar || o.Kind() == types.ResultVar || o.Kind() == types.RecvVar:
			return "parameter"
		}
		return "variable"
	case *types.Const:
		return "constant"
	case *types.TypeName:
		if _, ok := types.Unalias(o.Type()).(*types.TypeParam); ok {
			return "type parameter"
		}
		return "type"
	case *types.PkgName:
		return "package"
	case *types.Label:
		return "label"
	case *types.Builtin:
		return "function"
	default:
		return "name"
	}
}

// around is the function, type or value at the top of the file that a place lies
// in, as Run.Apply, or "".
func (prog *program) around(name string, pos token.Pos) string {
	prog.mu.Lock()
	f := prog.parsed[name]
	prog.mu.Unlock()
	if f == nil || f.file == nil {
		return ""
	}
	for _, d := range f.file.Decls {
		if d.Pos() > pos || pos >= d.End() {
			continue
		}
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil && len(d.Recv.List) > 0 {
				return receiver(d.Recv.List[0].Type) + "." + d.Name.Name
			}
			return d.Name.Name
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec.Pos() > pos || pos >= spec.End() {
					continue
				}
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					return spec.Name.Name
				case *ast.ValueSpec:
					return spec.Names[0].Name
				}
			}
		}
	}
	return ""
}
