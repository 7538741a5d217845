package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"path"
	"strings"

	"replan/mcpclient/workspace/code/source"
)

const maxSignature = 200 // bytes

// declaration is a name that a file declares at its top level, or as a method or
// field of such a name.
type declaration struct {
	source.Symbol
	pkg      string // name in the package clause
	pkgPath  string
	offset   int // of the name in the file
	embedded bool
}

// bare is the name without that of its type.
func (d declaration) bare() string { return lastPart(d.Name) }

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// reader collects the declarations of one file.
type reader struct {
	fset    *token.FileSet
	file    *ast.File
	src     goFile
	pkgPath string
	found   []declaration
}

const parseMode = parser.ParseComments | parser.AllErrors | parser.SkipObjectResolution

// declared parses a file for what it declares. The parser makes the best of
// broken files; its first complaint is returned beside what was found.
func declared(src goFile, dirPath string) (*ast.File, []declaration, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, src.path, src.data, parseMode)
	if file == nil || file.Name == nil {
		return nil, nil, err
	}
	pkgPath := dirPath
	if strings.HasSuffix(src.path, "_test.go") && strings.HasSuffix(file.Name.Name, "_test") {
		pkgPath += "_test"
	}
	r := &reader{fset: fset, file: file, src: src, pkgPath: pkgPath}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			r.function(d)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				r.spec(d, spec)
			}
		}
	}
	return file, r.found, err
}

func (r *reader) function(d *ast.FuncDecl) {
	head := *d
	head.Body, head.Doc = nil, nil
	s := source.Symbol{Kind: "function", Signature: r.print(&head), Doc: text(d.Doc)}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind, s.Parent = "method", receiver(d.Recv.List[0].Type)
	}
	r.add(d.Name, d, s)
}

// receiver is the name of the type in a receiver.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.ParenExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.IndexListExpr:
		return receiver(e.X)
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

func (r *reader) spec(d *ast.GenDecl, spec ast.Spec) {
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		kind := "variable"
		if d.Tok == token.CONST {
			kind = "constant"
		}
		head := *spec
		head.Doc, head.Comment = nil, nil
		s := source.Symbol{Kind: kind, Signature: d.Tok.String() + " " + r.print(&head), Doc: firstText(spec.Doc, alone(d), spec.Comment)}
		for _, name := range spec.Names {
			r.add(name, spec, s)
		}
	case *ast.TypeSpec:
		r.typeSpec(d, spec)
	}
}

func (r *reader) typeSpec(d *ast.GenDecl, spec *ast.TypeSpec) {
	head := *spec
	head.Doc, head.Comment = nil, nil
	s := source.Symbol{Kind: "type", Doc: firstText(spec.Doc, alone(d), spec.Comment)}
	switch spec.Type.(type) {
	case *ast.StructType:
		s.Kind = "struct"
		head.Type = ast.NewIdent("struct")
	case *ast.InterfaceType:
		s.Kind = "interface"
		head.Type = ast.NewIdent("interface")
	}
	s.Signature = "type " + r.print(&head)
	r.add(spec.Name, spec, s)
	r.members(spec.Name.Name, spec.Type)
}

// members are the fields and methods that a type is written with, and those of
// the types inside it that have no name of their own.
func (r *reader) members(parent string, e ast.Expr) {
	var list *ast.FieldList
	kind := "field"
	switch e := e.(type) {
	case *ast.StructType:
		list = e.Fields
	case *ast.InterfaceType:
		list, kind = e.Methods, "method"
	case *ast.StarExpr:
		r.members(parent, e.X)
	case *ast.ArrayType:
		r.members(parent, e.Elt)
	case *ast.MapType:
		r.members(parent, e.Value)
	}
	if list == nil {
		return
	}
	for _, f := range list.List {
		head := *f
		head.Doc, head.Comment = nil, nil
		s := source.Symbol{Kind: kind, Parent: parent, Signature: r.field(&head), Doc: firstText(f.Doc, nil, f.Comment)}
		for _, name := range f.Names {
			r.add(name, f, s)
			if kind == "field" {
				r.members(parent+"."+name.Name, f.Type)
			}
		}
		if len(f.Names) == 0 && kind == "field" {
			if name := embeddedName(f.Type); name != nil {
				r.add(name, f, s)
				r.found[len(r.found)-1].embedded = true
			}
		}
	}
}

func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.Ident:
		return e
	default:
		return nil
	}
}

// field prints a field or a method of an interface.
func (r *reader) field(f *ast.Field) string {
	var names []string
	for _, n := range f.Names {
		names = append(names, n.Name)
	}
	s := strings.Join(names, ", ")
	if fn, ok := f.Type.(*ast.FuncType); ok && len(f.Names) == 1 && fn.Func == token.NoPos {
		return s + strings.TrimPrefix(r.print(fn), "func")
	}
	typ := r.print(f.Type)
	switch f.Type.(type) {
	case *ast.StructType:
		typ = "struct"
	case *ast.InterfaceType:
		typ = "interface"
	}
	s = strings.TrimSpace(s + " " + typ)
	if f.Tag != nil {
		s += " " + f.Tag.Value
	}
	return s
}

func (r *reader) add(name *ast.Ident, node ast.Node, s source.Symbol) {
	if name == nil || name.Name == "" || name.Name == "_" {
		return
	}
	pos := r.fset.PositionFor(name.Pos(), false)
	s.Name = name.Name
	if s.Parent != "" {
		s.Name = s.Parent + "." + name.Name
	}
	s.Qualified = r.pkgPath + "." + s.Name
	s.Place = place(r.src, pos)
	s.EndLine = r.fset.PositionFor(node.End(), false).Line
	s.Exported = name.IsExported()
	r.found = append(r.found, declaration{Symbol: s, pkg: r.file.Name.Name, pkgPath: r.pkgPath, offset: pos.Offset})
}

func place(src goFile, pos token.Position) source.Place {
	return source.Place{Path: src.path, Line: pos.Line, Column: pos.Column, Text: lineAt(src.data, pos.Offset)}
}

// lineAt is the line around an offset, without the blanks around it.
func lineAt(data []byte, offset int) string {
	offset = min(max(offset, 0), len(data))
	start := bytes.LastIndexByte(data[:offset], '\n') + 1
	end := len(data)
	if i := bytes.IndexByte(data[offset:], '\n'); i >= 0 {
		end = offset + i
	}
	return strings.TrimSpace(strings.ToValidUTF8(string(data[start:end]), "�"))
}

// print writes a node on one line.
func (r *reader) print(node any) string {
	var b strings.Builder
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, r.fset, node); err != nil {
		return ""
	}
	s := strings.Join(strings.Fields(b.String()), " ")
	if len(s) > maxSignature {
		s = strings.ToValidUTF8(s[:maxSignature], "") + " …"
	}
	return s
}

func text(c *ast.CommentGroup) string {
	if c == nil {
		return ""
	}
	return strings.TrimSpace(c.Text())
}

// firstText is the first of the comments that says something.
func firstText(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if s := text(c); s != "" {
			return s
		}
	}
	return ""
}

// alone is the comment of a declaration that declares one thing.
func alone(d *ast.GenDecl) *ast.CommentGroup {
	if len(d.Specs) != 1 {
		return nil
	}
	return d.Doc
}

// dirOf is the folder of a file.
func dirOf(file string) string { return path.Dir(file) }
