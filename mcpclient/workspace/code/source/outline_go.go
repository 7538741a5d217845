package source

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/scanner"
	"go/token"
	"strconv"
	"strings"
)

// goLexemes lexes a Go file with Go's own scanner.
func (f *File) goLexemes() {
	fset := token.NewFileSet()
	file := fset.AddFile(f.Path, -1, len(f.Text))
	var in scanner.Scanner
	in.Init(file, []byte(f.Text), nil, scanner.ScanComments)
	out := splitter{file: f}
	for {
		pos, tok, lit := in.Scan()
		at := file.Offset(pos)
		end := at + len(lit) // the scanner drops carriage returns in multi-line literals
		switch {
		case tok == token.EOF:
			return
		case tok == token.SEMICOLON && lit != ";": // inserted by the scanner
		case tok == token.COMMENT:
			if i := strings.Index(f.Text[at:], "*/"); strings.HasPrefix(lit, "/*") && i >= 0 {
				end = at + i + len("*/")
			}
			out.add(at, min(end, len(f.Text)), comment)
		case tok == token.STRING || tok == token.CHAR:
			if i := strings.IndexByte(f.Text[min(at+1, len(f.Text)):], '`'); strings.HasPrefix(lit, "`") && i >= 0 {
				end = at + 1 + i + 1
			}
			out.add(at, min(end, len(f.Text)), text)
		case tok == token.INT || tok == token.FLOAT || tok == token.IMAG:
			out.add(at, end, number)
		case tok == token.IDENT || tok.IsKeyword():
			out.add(at, end, word)
		default:
			length := cmp.Or(len(lit), len(tok.String())) // an operator has no text, an unknown sign no name
			out.split(at, min(at+length, len(f.Text)), sign, false)
		}
	}
}

// goReader finds the declarations of a Go file with Go's own parser. It also
// extracts what it can from files with syntax errors.
type goReader struct {
	f     *File
	fset  *token.FileSet
	shift int // bytes inserted before the text
}

func (f *File) goDeclarations() {
	const clause = "package _;"
	fset, shift, text := token.NewFileSet(), 0, f.Text
	if head, err := parser.ParseFile(fset, f.Path, text, parser.PackageClauseOnly); err != nil || head == nil { // a fragment of a file
		shift, text = len(clause), clause+text
	}
	file, err := parser.ParseFile(fset, f.Path, text, parser.ParseComments|parser.AllErrors|parser.SkipObjectResolution)
	if file == nil {
		return
	}
	if err != nil {
		f.broken = err.Error()
	}
	if shift == 0 {
		f.pack = file.Name.Name
	}
	for _, spec := range file.Imports {
		if path, err := strconv.Unquote(spec.Path.Value); err == nil {
			f.imports = append(f.imports, path)
		}
	}
	for _, group := range file.Comments {
		for _, c := range group.List {
			if len(c.Text) < len("/**/") && strings.HasPrefix(c.Text, "/*") {
				c.Text = "/**/" // unterminated: CommentGroup.Text would slice out of bounds
			}
		}
	}
	r := &goReader{f: f, fset: fset, shift: shift}
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
}

func (r *goReader) function(d *ast.FuncDecl) {
	head := *d
	head.Body, head.Doc = nil, nil
	s := Symbol{Kind: "function", Signature: r.print(&head), Doc: d.Doc.Text()}
	if d.Recv != nil && len(d.Recv.List) > 0 {
		s.Kind = "method"
		if name := typeName(d.Recv.List[0].Type); name != nil {
			s.Parent = name.Name
		}
	}
	r.add(d.Name, d, s)
}

// typeName returns the type name of a receiver or an embedded field.
func typeName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.ParenExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.Ident:
		return e
	default:
		return nil
	}
}

func (r *goReader) spec(d *ast.GenDecl, spec ast.Spec) {
	doc := d.Doc.Text()
	if len(d.Specs) != 1 {
		doc = "" // the comment belongs to the group
	}
	switch spec := spec.(type) {
	case *ast.ValueSpec:
		head := *spec
		head.Doc, head.Comment = nil, nil
		s := Symbol{Kind: "variable", Signature: d.Tok.String() + " " + r.print(&head), Doc: firstText(spec.Doc.Text(), doc, spec.Comment.Text())}
		if d.Tok == token.CONST {
			s.Kind = "constant"
		}
		for _, name := range spec.Names {
			r.add(name, spec, s)
		}
	case *ast.TypeSpec:
		head := *spec
		head.Doc, head.Comment = nil, nil
		s := Symbol{Kind: "type", Doc: firstText(spec.Doc.Text(), doc, spec.Comment.Text())}
		switch spec.Type.(type) {
		case *ast.StructType:
			s.Kind, head.Type = "struct", ast.NewIdent("struct")
		case *ast.InterfaceType:
			s.Kind, head.Type = "interface", ast.NewIdent("interface")
		}
		s.Signature = "type " + r.print(&head)
		r.add(spec.Name, spec, s)
		r.members(spec.Name.Name, spec.Type)
	}
}

// members adds the fields and methods written in a type, including those of
// unnamed types inside it.
func (r *goReader) members(parent string, e ast.Expr) {
	switch e := e.(type) {
	case *ast.StructType:
		for _, field := range e.Fields.List {
			r.member("field", parent, field)
		}
	case *ast.InterfaceType:
		for _, method := range e.Methods.List {
			if len(method.Names) > 0 {
				r.member("method", parent, method)
			}
		}
	case *ast.StarExpr:
		r.members(parent, e.X)
	case *ast.ArrayType:
		r.members(parent, e.Elt)
	case *ast.MapType:
		r.members(parent, e.Value)
	}
}

func (r *goReader) member(kind, parent string, field *ast.Field) {
	s := Symbol{Kind: kind, Parent: parent, Signature: r.field(field), Doc: firstText(field.Doc.Text(), field.Comment.Text())}
	for _, name := range field.Names {
		r.add(name, field, s)
		if kind == "field" {
			r.members(parent+"."+name.Name, field.Type)
		}
	}
	if len(field.Names) == 0 {
		r.add(typeName(field.Type), field, s)
	}
}

// field formats a field, or a method of an interface.
func (r *goReader) field(field *ast.Field) string {
	var names []string
	for _, name := range field.Names {
		names = append(names, name.Name)
	}
	s := strings.Join(names, ", ")
	typ := r.print(field.Type)
	switch t := field.Type.(type) {
	case *ast.FuncType:
		if len(names) == 1 && t.Func == token.NoPos {
			return s + strings.TrimPrefix(typ, "func")
		}
	case *ast.StructType:
		typ = "struct"
	case *ast.InterfaceType:
		typ = "interface"
	}
	s = strings.TrimSpace(s + " " + typ)
	if field.Tag != nil {
		s += " " + field.Tag.Value
	}
	return s
}

func (r *goReader) add(name *ast.Ident, node ast.Node, s Symbol) {
	if name == nil || name.Name == "" || name.Name == "_" {
		return
	}
	at := r.fset.PositionFor(name.Pos(), false).Offset - r.shift
	if at < 0 || at+len(name.Name) > len(r.f.Text) {
		return
	}
	s.Name, s.Doc = name.Name, clip(strings.TrimSpace(s.Doc), maxDoc)
	s.Place = r.f.place(at)
	s.EndLine = r.fset.PositionFor(node.End(), false).Line
	r.f.outline = append(r.f.outline, declaration{Symbol: s, at: at})
}

// print formats a node on one line.
func (r *goReader) print(node any) string {
	var b strings.Builder
	if err := (&printer.Config{Mode: printer.RawFormat}).Fprint(&b, r.fset, node); err != nil {
		return ""
	}
	return clip(strings.Join(strings.Fields(b.String()), " "), maxSignature)
}

// firstText returns the first text that is not blank.
func firstText(texts ...string) string {
	for _, s := range texts {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}
