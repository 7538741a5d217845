package golang

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"io/fs"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// comments follow: the word in the comment of what is renamed, and links to it in
// the comments of its package, in those of others where they name the package.
func (r *renaming) comments(context.Context) error {
	word := regexp.MustCompile(`\b` + regexp.QuoteMeta(r.old) + `\b`)
	links := r.linkForms()
	for _, u := range r.prog.units {
		if !u.bodies && !u.wanted {
			continue
		}
		for _, f := range u.files {
			at := r.prog.fset.PositionFor(f.FileStart, false)
			if _, ok := r.prog.source(at.Filename); !ok || r.generated(at.Filename) {
				continue
			}
			for _, c := range r.own(f) {
				r.inComment(c, word)
			}
			link := links[true]
			if strings.TrimSuffix(u.meta.PkgPath, "_test") != r.obj.Pkg().Path() {
				link = links[false]
			}
			for _, c := range f.Comments {
				if link != nil {
					r.inComment(c, link)
				}
			}
		}
	}
	return nil
}

// own are the comments of the declarations in a file that are renamed.
func (r *renaming) own(f *ast.File) []*ast.CommentGroup {
	var found []*ast.CommentGroup
	keep := func(ids []*ast.Ident, groups ...*ast.CommentGroup) {
		for _, id := range ids {
			if id == nil || id.Name != r.old || !r.set[r.prog.keyAt(id.Pos(), id.Name)] {
				continue
			}
			for _, g := range groups {
				if g != nil {
					found = append(found, g)
				}
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			keep([]*ast.Ident{n.Name}, n.Doc)
		case *ast.GenDecl:
			for _, spec := range n.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					keep([]*ast.Ident{spec.Name}, alone(n), spec.Doc, spec.Comment)
				case *ast.ValueSpec:
					keep(spec.Names, alone(n), spec.Doc, spec.Comment)
				}
			}
		case *ast.Field:
			keep(n.Names, n.Doc, n.Comment)
		}
		return true
	})
	return found
}

// linkForms are the links of doc comments that mean what is renamed, as they are
// written in its package (true) and in others (false). The name to replace is the
// last group of digits and letters that is marked.
func (r *renaming) linkForms() map[bool]*regexp.Regexp {
	if isLocal(r.obj) {
		return nil
	}
	pkg := regexp.QuoteMeta(r.obj.Pkg().Name()) + `\.`
	rest := `(?P<name>` + regexp.QuoteMeta(r.old) + `)`
	switch {
	case r.atTop():
		rest += `(?:\.[\pL_][\pL\pN_]*)?\]`
	case r.symbol.Parent != "":
		rest = `(?:` + strings.Join(r.parents(), "|") + `)\.` + rest + `\]`
	default:
		return nil
	}
	return map[bool]*regexp.Regexp{
		true:  regexp.MustCompile(`\[\*?(?:` + pkg + `)?` + rest),
		false: regexp.MustCompile(`\[\*?` + pkg + rest),
	}
}

// parents are the types whose method or field is renamed.
func (r *renaming) parents() []string {
	names := []string{regexp.QuoteMeta(r.symbol.Parent)}
	for _, o := range r.coupled {
		if parent := r.prog.describe(o).Parent; parent != "" && !slices.Contains(names, regexp.QuoteMeta(parent)) {
			names = append(names, regexp.QuoteMeta(parent))
		}
	}
	return names
}

// inComment replaces the old name where a form has it: in the group called name,
// or as a whole.
func (r *renaming) inComment(group *ast.CommentGroup, form *regexp.Regexp) {
	part := max(form.SubexpIndex("name"), 0)
	for _, c := range group.List {
		if isDirective(c.Text) {
			continue
		}
		at := r.prog.fset.PositionFor(c.Pos(), false)
		f := r.prog.parsed[at.Filename]
		end := at.Offset + len(c.Text)
		if f == nil || end > len(f.data) || string(f.data[at.Offset:end]) != c.Text {
			continue // the parser takes carriage returns out
		}
		for _, m := range form.FindAllStringSubmatchIndex(c.Text, -1) {
			start := m[2*part]
			r.edit(at.Filename, at.Offset+start, r.old, r.name)
		}
	}
}

func isDirective(comment string) bool {
	rest, ok := strings.CutPrefix(comment, "//")
	return ok && rest != "" && rest[0] >= 'a' && rest[0] <= 'z' && strings.Contains(strings.SplitN(rest, " ", 2)[0], ":")
}

// remarks collects what the edits do not reach and a reader should know.
func (r *renaming) remarks(ctx context.Context) error {
	for _, note := range r.prog.notes() {
		r.note("%s", note)
	}
	missed, err := r.unread(ctx)
	if err != nil {
		return err
	}
	breaks, rest := r.parted(missed)
	if len(rest) > 0 {
		r.note("%s", notCompiled(rest))
	}
	for file := range r.edits {
		if r.generated(file) {
			rel, _ := r.prog.p.relative(file)
			r.note("%s is generated: generate it anew, or the old name comes back", rel)
		}
	}
	for u := range r.used {
		if slices.ContainsFunc(u.files, importsC) {
			r.note("%s uses cgo: a use that hangs on a type of C is not seen", u.meta.PkgPath)
		}
	}
	if types.Universe.Lookup(r.name) != nil && (isLocal(r.obj) || r.atTop()) {
		r.note("%s is predeclared by Go, and is hidden from new code where this one is seen", r.name)
	}
	r.reflected()
	r.tests()
	r.generators()
	if err := r.templates(ctx); err != nil {
		return err
	}
	slices.Sort(r.notes)
	if len(breaks) > 0 { // nothing weighs more
		first := fmt.Sprintf("not compiled on this system, and will not compile where it is until %s is changed to %s by hand: %s",
			r.old, r.name, strings.Join(breaks, ", "))
		r.notes = slices.Insert(r.notes, 0, first)
	}
	return nil
}

func importsC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// reflected notes a field whose name is the name of its data.
func (r *renaming) reflected() {
	field, ok := r.obj.(*types.Var)
	is := token.IsExported(r.name)
	if !ok || !field.IsField() || !field.Exported() && !is {
		return
	}
	if field.Exported() != is {
		r.note("%s", map[bool]string{
			true:  r.symbol.Name + " becomes exported as " + r.name + ", so encoders (JSON and the like) and reflection begin to see it",
			false: r.symbol.Name + " is no longer exported as " + r.name + ", so encoders (JSON and the like) and reflection no longer see it",
		}[is])
		return
	}
	for _, u := range r.prog.units {
		for _, f := range u.files {
			ast.Inspect(f, func(n ast.Node) bool {
				n2, ok := n.(*ast.Field)
				if !ok {
					return true
				}
				for _, id := range n2.Names {
					if r.prog.keyAt(id.Pos(), id.Name) == r.key && !hasKey(n2.Tag) {
						r.note("%s has no tag: where its type is encoded by name (JSON and the like), the name in the data changes too", r.symbol.Name)
					}
				}
				return true
			})
		}
	}
}

// hasKey reports whether a tag gives a field a name of its own.
func hasKey(tag *ast.BasicLit) bool {
	if tag == nil {
		return false
	}
	s, err := strconv.Unquote(tag.Value)
	if err != nil {
		return false
	}
	for _, format := range []string{"json", "yaml", "toml", "xml", "mapstructure", "db", "bson"} {
		if name, _, _ := strings.Cut(reflect.StructTag(s).Get(format), ","); name != "" {
			return true
		}
	}
	return false
}

// tests notes a test that go test no longer finds, or a function that it now takes
// for one.
func (r *renaming) tests() {
	if r.symbol.Kind != "function" || !strings.HasSuffix(r.symbol.Path, "_test.go") {
		return
	}
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		switch was, is := isTest(r.old, prefix), isTest(r.name, prefix); {
		case was && !is:
			r.note("go test runs functions called %s…; as %s it no longer runs this one", prefix, r.name)
		case is && !was:
			r.note("go test runs functions called %s…; as %s it begins to run this one", prefix, r.name)
		}
	}
}

// isTest reports whether go test takes a function for one of its own by its name.
func isTest(name, prefix string) bool {
	rest, ok := strings.CutPrefix(name, prefix)
	first, _ := utf8.DecodeRuneInString(rest)
	return ok && (rest == "" || !unicode.IsLower(first))
}

// fitsTest refuses a name by which go test would take for a test what is none: it
// would not build the package.
func (r *renaming) fitsTest(context.Context) error {
	fn, ok := r.obj.(*types.Func)
	if !ok || r.symbol.Kind != "function" || !strings.HasSuffix(r.symbol.Path, "_test.go") {
		return nil
	}
	for prefix, want := range map[string]string{"Test": "func(*testing.T)", "Benchmark": "func(*testing.B)", "Fuzz": "func(*testing.F)", "Example": "func()"} {
		if !isTest(r.name, prefix) || r.name == "TestMain" {
			continue
		}
		var params []*types.Var
		for v := range fn.Signature().Params().Variables() {
			params = append(params, types.NewParam(0, nil, "", v.Type()))
		}
		has := types.NewSignatureType(nil, nil, nil, types.NewTuple(params...), fn.Signature().Results(), fn.Signature().Variadic())
		if fn.Signature().TypeParams().Len() > 0 || short(has) != want {
			return refuse("as %s it would be a test to go test, which wants %s of one; %s is %s", r.name, want, r.old, short(has))
		}
	}
	return nil
}

// generators notes the lines of go:generate that have the name.
func (r *renaming) generators() {
	for _, u := range r.prog.units {
		if u.meta.PkgPath != r.obj.Pkg().Path() {
			continue
		}
		for _, f := range u.files {
			for _, group := range f.Comments {
				for _, c := range group.List {
					if strings.HasPrefix(c.Text, "//go:generate ") && indexWord([]byte(c.Text), r.old) >= 0 {
						r.note("%s has the old name in a go:generate line", r.prog.lineOf(c.Pos()))
					}
				}
			}
		}
	}
}

// templates notes files that look the name up while a program runs.
func (r *renaming) templates(ctx context.Context) error {
	v, isVar := r.obj.(*types.Var)
	if !r.obj.Exported() || r.symbol.Kind != "method" && (!isVar || !v.IsField()) {
		return nil
	}
	used := false
	for _, graph := range r.prog.graph {
		used = used || graph["text/template"] || graph["html/template"]
	}
	if !used {
		return nil
	}
	form := regexp.MustCompile(`\{\{[^}]*\.` + regexp.QuoteMeta(r.old) + `\b`)
	var found []string
	err := r.prog.p.walk(ctx, ".", func(at string, files fs.FS) error {
		switch path.Ext(at) {
		case ".go", ".tmpl", ".gotmpl", ".gohtml", ".html", ".tpl", ".txt", ".md":
		default:
			return nil
		}
		data, err := fs.ReadFile(files, at)
		if path.Ext(at) == ".go" && !bytes.Contains(data, []byte(`/template"`)) {
			return nil // composite literals have such braces too
		}
		if err == nil && form.Match(data) {
			found = append(found, at)
		}
		return nil
	})
	if len(found) > 0 {
		r.note("templates may look %s up by its name; see %s", r.old, someOf(found))
	}
	return err
}
