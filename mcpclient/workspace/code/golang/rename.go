package golang

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"replan/mcpclient/workspace/code/source"
)

// renaming is one change of a name, on its way from a wish to edits.
type renaming struct {
	target
	old, name string
	set       map[key]bool             // what gets the new name
	coupled   map[key]types.Object     // of set, what was not asked for
	edits     map[string][]source.Edit // by file on disk
	used      map[*unit]bool           // units with edits
	notes     []string
}

// Rename computes the edits that give a symbol another name, in all packages and
// tests of the workspace. Methods that one interface holds together are renamed
// together. The result is type-checked before it is returned: every name has to
// mean afterwards what it meant before, or the change is refused with a sentence.
// Nothing is written.
func (p *Project) Rename(ctx context.Context, symbol, newName, within string) ([]source.Edit, Renamed, error) {
	if err := goodName(newName); err != nil {
		return nil, Renamed{}, err
	}
	t, err := p.resolve(ctx, symbol, within, func(_ context.Context, t target) ([]string, error) {
		if t.obj != nil {
			if err := t.ours(); err != nil {
				return nil, err
			}
		}
		return reached(t, newName), nil
	})
	if err != nil {
		return nil, Renamed{}, err
	}
	r := &renaming{
		target: t, old: lastPart(t.symbol.Name), name: newName,
		set: map[key]bool{t.key: true}, coupled: map[key]types.Object{},
		edits: map[string][]source.Edit{}, used: map[*unit]bool{}, notes: t.notes,
	}
	for _, step := range []func(context.Context) error{
		r.allowed, r.fitsTest, r.readable, r.couple, r.embed, r.collect, r.taken, r.verify, r.comments, r.remarks,
	} {
		if err := step(ctx); err != nil {
			return nil, Renamed{}, err
		}
	}
	result := Renamed{Symbol: t.symbol, Name: newName, Notes: r.notes, Read: make(map[string][]byte, len(r.edits))}
	for name := range r.edits {
		f := r.prog.parsed[name]
		result.Read[f.rel] = f.data
	}
	for _, o := range r.coupled {
		result.Also = append(result.Also, t.prog.describe(o))
	}
	result.Also = sortSymbols(result.Also)
	return r.all(), result, nil
}

// goodName refuses what no name can be.
func goodName(name string) error {
	switch {
	case token.IsKeyword(name):
		return refuse("%s is a keyword of Go; choose another name", name)
	case name == "_":
		return refuse("_ names nothing in Go; choose another name")
	case !token.IsIdentifier(name):
		return refuse("%q is no name in Go: a name has letters, digits and underscores, and begins with no digit", name)
	default:
		return nil
	}
}

// reached are the folders whose packages can see the old or the new name; nil
// means all.
func reached(t target, newName string) []string {
	inTest := strings.HasSuffix(t.symbol.Path, "_test.go") && t.symbol.Kind != "method" // whose interface may be anywhere
	exported := token.IsExported(newName) || token.IsExported(lastPart(t.symbol.Name))
	if inTest || !exported || t.obj != nil && isLocal(t.obj) {
		return []string{dirOf(t.symbol.Path)}
	}
	return nil
}

// ours refuses what is declared elsewhere, or has no declaration of its own.
func (t target) ours() error {
	v, isVar := t.obj.(*types.Var)
	_, isPkg := t.obj.(*types.PkgName)
	switch pkg := t.obj.Pkg(); {
	case isPkg:
		return refuse("%s is the name of an imported package; names of packages are not renamed, since their folders and importers hang on them", t.symbol.Name)
	case pkg == nil:
		return refuse("%s is predeclared by Go itself and cannot be renamed", t.symbol.Name)
	case !t.prog.owns(t.obj):
		return refuse("%s is declared outside the workspace, in %s, and cannot be renamed here", t.symbol.Name, pkg.Path())
	case t.obj.Name() == "_":
		return refuse("_ names nothing, so there is nothing to rename")
	case isVar && v.Embedded():
		return refuse("%s is an embedded field and has the name of its type; rename the type", t.symbol.Name)
	default:
		return nil
	}
}

// allowed refuses what is not ours to rename, or is bound to its name.
func (r *renaming) allowed(context.Context) error {
	if err := r.ours(); err != nil {
		return err
	}
	name, pkg := r.symbol.Name, r.obj.Pkg()
	switch {
	case r.name == r.old:
		return refuse("%s is called %s already", r.symbol.Qualified, r.name)
	case r.symbol.Kind == "function" && (r.old == "init" || r.old == "main" && pkg.Name() == "main"):
		return refuse("%s is called by its name when the program starts and cannot be renamed", name)
	case r.atTop() && (r.name == "init" || r.name == "main" && pkg.Name() == "main"):
		return refuse("%s has a meaning of its own at the top of a package; choose another name", r.name)
	}
	if src, ok := r.prog.source(r.key.file); ok && r.generated(r.key.file) {
		return refuse("%s is declared in %s, which is generated; change what it is generated from", name, src.path)
	}
	return r.unbound()
}

// atTop reports whether a package declares it.
func (r *renaming) atTop() bool { return r.obj.Pkg() != nil && r.obj.Parent() == r.obj.Pkg().Scope() }

func (r *renaming) generated(file string) bool {
	f := r.prog.parsed[file]
	return f != nil && f.file != nil && ast.IsGenerated(f.file)
}

// unbound refuses names that something beside Go code refers to: the linker, C or
// an assembler.
func (r *renaming) unbound() error {
	if !r.atTop() {
		return nil
	}
	for _, u := range r.prog.units {
		for _, f := range u.files {
			for _, group := range f.Comments {
				for _, c := range group.List {
					at := r.prog.fset.PositionFor(c.Pos(), false)
					if !strings.HasPrefix(c.Text, "//go:linkname ") && !strings.HasPrefix(c.Text, "//export ") {
						continue
					}
					words := strings.Fields(c.Text)[1:]
					same := u.meta.PkgPath == r.obj.Pkg().Path() && words[0] == r.old
					if src, ok := r.prog.source(at.Filename); ok && (same || slices.Contains(words, r.obj.Pkg().Path()+"."+r.old)) {
						return refuse("%s:%d binds %s for the linker (%s); rename it by hand", src.path, at.Line, r.old, strings.Fields(c.Text)[0])
					}
				}
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if ok && fn.Body == nil && fn.Recv == nil && r.prog.keyAt(fn.Name.Pos(), fn.Name.Name) == r.key {
					return refuse("%s has no body here: assembler or the linker gives it one under its name; rename it by hand", r.old)
				}
			}
		}
	}
	return nil
}

// readable refuses where a package that may use the name does not compile: what
// its names mean nobody can tell.
func (r *renaming) readable(context.Context) error {
	if len(r.prog.broken) > 0 {
		return refuse("not all of the workspace could be read, so uses of %s may be hidden: %s", r.old, r.prog.broken[0])
	}
	depends := map[*unit]bool{}
	for _, u := range r.prog.units {
		depends[u] = u.meta.PkgPath == r.obj.Pkg().Path() ||
			slices.ContainsFunc(u.inner, func(in *unit) bool { return depends[in] })
		if len(u.errs) == 0 || !u.wanted {
			continue
		}
		if depends[u] || slices.ContainsFunc(u.files, r.holds) {
			return refuse("%s does not compile, so what %s means in it cannot be told; mend this first: %s", u.meta.PkgPath, r.old, u.errs[0])
		}
	}
	return nil
}

// holds reports whether a file has the old name in it as a word.
func (r *renaming) holds(f *ast.File) bool {
	src, ok := r.prog.source(r.prog.fset.PositionFor(f.FileStart, false).Filename)
	return ok && indexWord(src.data, r.old) >= 0
}

// embed adds the fields that embed a type: they have its name.
func (r *renaming) embed(context.Context) error {
	if _, ok := r.obj.(*types.TypeName); !ok {
		return nil
	}
	for _, u := range r.prog.units {
		for id, def := range u.info.Defs {
			field, ok := def.(*types.Var)
			if !ok || !field.Embedded() || id.Name != r.old {
				continue
			}
			if use := u.info.Uses[id]; use != nil && r.prog.keyOf(use) == r.key {
				k := r.prog.keyOf(field)
				r.set[k], r.coupled[k] = true, field
			}
		}
	}
	return nil
}

// collect makes an edit of every identifier that denotes what is renamed.
func (r *renaming) collect(context.Context) error {
	var err error
	r.prog.identifiers(r.set, r.old, func(id *ast.Ident, u *unit) {
		at := r.prog.fset.PositionFor(id.Pos(), false)
		if _, ok := r.prog.source(at.Filename); !ok {
			return // outside the workspace
		}
		use := u.info.Uses[id]
		if r.unexports() && use != nil && !samePackage(u.pkg, r.obj.Pkg()) && err == nil {
			err = refuse("%s is used in another package at %s, which could not see %s", r.old, r.prog.lineOf(id.Pos()), r.name)
		}
		r.used[u] = true
		r.edit(at.Filename, at.Offset, r.old, r.name)
	})
	if err == nil {
		r.examples()
	}
	return err
}

func (r *renaming) unexports() bool { return token.IsExported(r.old) && !token.IsExported(r.name) }

func samePackage(a, b *types.Package) bool { return a.Path() == b.Path() }

// examples renames the functions that show the use of what is renamed: their
// names have its name in them, and go vet holds them to it.
func (r *renaming) examples() {
	renamed := []types.Object{r.obj}
	for _, o := range r.coupled {
		renamed = append(renamed, o)
	}
	for _, o := range renamed {
		prefix := "Example"
		switch s := r.prog.describe(o); {
		case s.Kind == "method" && s.Parent != "":
			prefix += s.Parent + "_"
		case o.Parent() != o.Pkg().Scope():
			continue
		}
		for _, u := range r.prog.units {
			if strings.TrimSuffix(u.meta.PkgPath, "_test") == o.Pkg().Path() {
				r.examplesIn(u, prefix+r.old, prefix+r.name)
			}
		}
	}
}

func (r *renaming) examplesIn(u *unit, from, to string) {
	for _, f := range u.files {
		if !strings.HasSuffix(r.prog.fset.PositionFor(f.FileStart, false).Filename, "_test.go") {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil {
				continue
			}
			if rest, ok := strings.CutPrefix(fn.Name.Name, from); ok && (rest == "" || rest[0] == '_') {
				at := r.prog.fset.PositionFor(fn.Name.Pos(), false)
				r.used[u] = true
				r.edit(at.Filename, at.Offset, from, to)
			}
		}
	}
}

// edit replaces a text, once, however many units hold its file.
func (r *renaming) edit(file string, offset int, from, to string) {
	rel, _ := r.prog.p.relative(file)
	e := source.Edit{Path: rel, Start: offset, End: offset + len(from), New: to}
	if !slices.Contains(r.edits[file], e) {
		r.edits[file] = append(r.edits[file], e)
	}
}

// all edits, in the order of files and places. A file that gofmt had nothing to say
// about stays so: where names stand in columns, the blanks beside them change too.
func (r *renaming) all() []source.Edit {
	var list []source.Edit
	for _, file := range slices.Sorted(maps.Keys(r.edits)) {
		data, edits := r.prog.parsed[file].data, sorted(r.edits[file])
		text := applied(data, edits)
		before, err := format.Source(data)
		if err == nil && bytes.Equal(before, data) {
			if after, err := format.Source(text); err == nil && !bytes.Equal(after, text) {
				path := edits[0].Path
				edits = nil
				for _, e := range udiff.Bytes(data, after) {
					edits = append(edits, source.Edit{Path: path, Start: e.Start, End: e.End, New: e.New})
				}
			}
		}
		list = append(list, edits...)
	}
	return list
}

func sorted(edits []source.Edit) []source.Edit {
	return slices.SortedFunc(slices.Values(edits), func(a, b source.Edit) int { return a.Start - b.Start })
}

// taken refuses a name that something else has where it would have to stand. What
// this does not see the type checker does, in words less kind.
func (r *renaming) taken(context.Context) error {
	for _, u := range r.prog.units {
		if !samePackage(u.pkg, r.obj.Pkg()) {
			continue
		}
		if r.atTop() {
			if err := r.takenAtTop(u); err != nil {
				return err
			}
		}
		for _, def := range u.info.Defs {
			if def == nil || !r.set[r.prog.keyOf(def)] {
				continue
			}
			if err := r.takenBeside(def); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *renaming) takenAtTop(u *unit) error {
	if other := u.pkg.Scope().Lookup(r.name); other != nil {
		return r.isTaken(other, "the package "+u.meta.Name+" has")
	}
	for _, f := range u.files {
		if scope := u.info.Scopes[f]; scope != nil {
			if other := scope.Lookup(r.name); other != nil {
				return refuse("%s is taken: %s imports a package under that name", r.name, r.prog.lineOf(other.Pos()))
			}
		}
	}
	return nil
}

// takenBeside looks among the fields and methods of a type, and in the scope of a
// local name.
func (r *renaming) takenBeside(def types.Object) error {
	switch o := def.(type) {
	case *types.Func:
		recv := o.Signature().Recv()
		if recv == nil {
			return nil
		}
		return r.takenIn(recv.Type(), o.Pkg())
	case *types.Var:
		if o.IsField() {
			parent, _, _ := strings.Cut(r.prog.describe(o).Parent, ".")
			if owner := o.Pkg().Scope().Lookup(parent); owner != nil && !o.Embedded() {
				return r.takenIn(owner.Type(), o.Pkg())
			}
			return nil
		}
	}
	if isLocal(def) && def.Parent() != nil {
		if other := def.Parent().Lookup(r.name); other != nil && other != def {
			return r.isTaken(other, "the same block declares")
		}
	}
	return nil
}

func (r *renaming) takenIn(typ types.Type, pkg *types.Package) error {
	named := namedOf(typ)
	if named == nil {
		return nil
	}
	if strings.Contains(r.symbol.Parent, ".") { // a field of a type without a name
		return nil
	}
	other, index, _ := types.LookupFieldOrMethod(named, true, pkg, r.name)
	if other == nil {
		return nil
	}
	how := named.Obj().Name() + " has"
	if len(index) > 1 {
		how = named.Obj().Name() + " has by embedding"
	}
	return r.isTaken(other, how)
}

func (r *renaming) isTaken(other types.Object, who string) error {
	where := r.prog.lineOf(other.Pos())
	if where == "" {
		where = "outside the workspace"
	}
	return refuse("%s is taken: %s a %s of that name already (%s)", r.name, who, kindOf(other), where)
}

// lineOf is a place as file:line, "" outside the workspace.
func (prog *program) lineOf(pos token.Pos) string {
	at := prog.fset.PositionFor(pos, false)
	if rel, ok := prog.p.relative(at.Filename); ok && at.IsValid() {
		return fmt.Sprintf("%s:%d", rel, at.Line)
	}
	return ""
}
