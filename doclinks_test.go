package main_test

import (
	"go/ast"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// sourcePackage is a package as its files declare it, tests left out.
type sourcePackage struct {
	files   []*ast.File
	names   map[string]bool     // at package level, and "Type.Member"
	embeds  map[string][]string // by type: the types that it embeds, with their package if it is another
	imports map[string]string   // paths by the name in the files
}

// TestDocLinksNameWhatIsThere resolves links such as [Name], [Type.Member] and [pkg.Name] to
// the packages of both modules.
func TestDocLinksNameWhatIsThere(t *testing.T) {
	fset := token.NewFileSet()
	all := sourcePackages(t, fset)
	links := 0
	for _, p := range all {
		for _, f := range p.files {
			for _, doc := range docsOf(f) {
				for _, link := range docLinks(doc.Text()) {
					links++
					to, known := p.linked(all, link.ImportPath)
					if known && !slices.ContainsFunc(to, func(q *sourcePackage) bool { return q.has(all, link.Recv, link.Name) }) {
						t.Errorf("%s: there is no %s", fset.Position(doc.Pos()), strings.Trim(link.ImportPath+"."+link.Recv+"."+link.Name, "."))
					}
				}
			}
		}
	}
	if links < 100 {
		t.Errorf("found %d links", links)
	}
}

// majorVersion is the end of an import path, which is not the name of its package.
var majorVersion = regexp.MustCompile(`/v[0-9]+$`)

// sourcePackages parses all packages, by their folders.
func sourcePackages(t *testing.T, fset *token.FileSet) map[string]*sourcePackage {
	t.Helper()
	all := map[string]*sourcePackage{}
	err := filepath.WalkDir(".", func(at string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && at != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" || d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(at, ".go") || strings.HasSuffix(at, "_test.go"):
			return nil
		}
		f, err := parser.ParseFile(fset, at, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := filepath.ToSlash(filepath.Dir(at))
		if all[dir] == nil {
			all[dir] = &sourcePackage{names: map[string]bool{}, embeds: map[string][]string{}, imports: map[string]string{}}
		}
		all[dir].add(f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// add notes what a file declares.
func (p *sourcePackage) add(f *ast.File) {
	p.files = append(p.files, f)
	for _, i := range f.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(majorVersion.ReplaceAllString(at, ""))
		if i.Name != nil {
			name = i.Name.Name
		}
		p.imports[name] = at
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				name = typeName(d.Recv.List[0].Type) + "." + name
			}
			p.names[name] = true
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						p.names[name.Name] = true
					}
				case *ast.TypeSpec:
					p.names[spec.Name.Name] = true
					p.addMembers(spec)
				}
			}
		}
	}
}

// addMembers notes the fields of a struct type and the methods of an interface type.
func (p *sourcePackage) addMembers(spec *ast.TypeSpec) {
	var members *ast.FieldList
	switch of := spec.Type.(type) {
	case *ast.StructType:
		members = of.Fields
	case *ast.InterfaceType:
		members = of.Methods
	default:
		return
	}
	for _, m := range members.List {
		for _, name := range m.Names {
			p.names[spec.Name.Name+"."+name.Name] = true
		}
		if len(m.Names) == 0 {
			embedded := typeName(m.Type)
			p.names[spec.Name.Name+"."+embedded[strings.LastIndex(embedded, ".")+1:]] = true
			p.embeds[spec.Name.Name] = append(p.embeds[spec.Name.Name], embedded)
		}
	}
}

// typeName returns the name of a type, without its pointer and type arguments.
func typeName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return typeName(e.X)
	case *ast.IndexExpr:
		return typeName(e.X)
	case *ast.IndexListExpr:
		return typeName(e.X)
	case *ast.SelectorExpr:
		return typeName(e.X) + "." + e.Sel.Name
	case *ast.Ident:
		return e.Name
	default:
		return ""
	}
}

// docsOf returns the comments of a file outside of functions.
func docsOf(f *ast.File) []*ast.CommentGroup {
	var docs []*ast.CommentGroup
	for _, c := range f.Comments {
		inside := false
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil && d.Body.Pos() < c.Pos() && c.Pos() < d.Body.End() {
				inside = true
			}
		}
		if !inside {
			docs = append(docs, c)
		}
	}
	return docs
}

// docLinks returns the links of a comment that name more than a package.
func docLinks(text string) []*comment.DocLink {
	p := comment.Parser{
		LookupPackage: func(name string) (string, bool) { return name, true },
		LookupSym:     func(string, string) bool { return true },
	}
	var links []*comment.DocLink
	collect := func(texts []comment.Text) {
		for _, t := range texts {
			// A name in capitals stands for any, as in [profiles.NAME].
			if link, ok := t.(*comment.DocLink); ok && link.Name != strings.ToUpper(link.Name) {
				links = append(links, link)
			}
		}
	}
	for _, block := range p.Parse(text).Content {
		switch block := block.(type) {
		case *comment.Paragraph:
			collect(block.Text)
		case *comment.List:
			for _, item := range block.Items {
				for _, b := range item.Content {
					if b, ok := b.(*comment.Paragraph); ok {
						collect(b.Text)
					}
				}
			}
		}
	}
	return links
}

// linked returns the packages that a link of this one may mean by a name: itself for "". The
// name of a package that it does not import may be that of several. known is whether the
// package is one of these; else it belongs to another module.
func (p *sourcePackage) linked(all map[string]*sourcePackage, name string) (to []*sourcePackage, known bool) {
	if name == "" {
		return []*sourcePackage{p}, true
	}
	if at, imported := p.imports[path.Base(name)]; imported {
		at, own := strings.CutPrefix(at, "replan/")
		return []*sourcePackage{all[at]}, own
	}
	for dir, q := range all {
		if path.Base(dir) == path.Base(name) {
			to = append(to, q)
		}
	}
	return to, true
}

// has reports whether a package declares a name, or a member of a type, which may be one of
// a type that it embeds.
func (p *sourcePackage) has(all map[string]*sourcePackage, of, name string) bool {
	if p == nil {
		return false
	}
	if p.names[strings.Trim(of+"."+name, ".")] {
		return true
	}
	return slices.ContainsFunc(p.embeds[of], func(embedded string) bool {
		pkg, of, other := strings.Cut(embedded, ".")
		if !other {
			pkg, of = "", embedded
		}
		to, known := p.linked(all, pkg)
		return !known || slices.ContainsFunc(to, func(q *sourcePackage) bool { return q.has(all, of, name) })
	})
}
