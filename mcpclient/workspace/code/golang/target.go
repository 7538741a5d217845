package golang

import (
	"context"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/astutil"

	"replan/mcpclient/workspace/code/source"
)

// key is where something is declared. It stands for the declaration in every
// package that sees it, however often that package is compiled.
type key struct {
	file   string
	offset int // in the file; for other people's code minus the line
	name   string
}

// keyOf is the key of an object; that of a predeclared one is its name.
func (prog *program) keyOf(o types.Object) key {
	if !o.Pos().IsValid() {
		if pkg := o.Pkg(); pkg != nil {
			return key{file: pkg.Path(), name: o.Name()}
		}
		return key{name: o.Name()}
	}
	return prog.keyAt(o.Pos(), o.Name())
}

func (prog *program) keyAt(pos token.Pos, name string) key {
	at := prog.fset.PositionFor(pos, false)
	prog.mu.Lock()
	f := prog.parsed[at.Filename]
	prog.mu.Unlock()
	if f == nil { // of exported data only the line is exact
		return key{file: at.Filename, offset: -at.Line, name: name}
	}
	return key{file: at.Filename, offset: at.Offset, name: name}
}

// target is something that a symbol means, with its types.
type target struct {
	prog   *program
	key    key
	obj    types.Object
	unit   *unit
	symbol source.Symbol
	notes  []string
}

// at finds what the identifier at a place denotes. The package of the place is
// type-checked.
func (p *Project) at(ctx context.Context, q query) (target, error) {
	prog, err := p.load(ctx, []string{dirOf(q.path)})
	if err != nil {
		return target{}, err
	}
	return prog.at(q)
}

func (prog *program) at(q query) (target, error) {
	for _, u := range prog.units {
		if !u.bodies {
			continue
		}
		for _, f := range u.files {
			pos, end := f.FileStart, f.FileEnd
			src, ok := prog.source(prog.fset.PositionFor(pos, false).Filename)
			if !ok || src.path != q.path {
				continue
			}
			id, err := prog.identAt(f, q)
			if err != nil {
				return target{}, err
			}
			if id == f.Name {
				return target{}, refuse("%s is the name of a package, which its folder and its importers share; name something that the package declares", id.Name)
			}
			path, _ := astutil.PathEnclosingInterval(f, id.Pos(), min(id.End(), end))
			obj := u.object(id, path)
			if obj == nil {
				return target{}, refuse("%s: the type checker does not know what %s is; the package may not compile", q.given, id.Name)
			}
			return prog.target(obj, u), nil
		}
	}
	return target{}, refuse("%s is not compiled on this system, or its package cannot be read", q.path)
}

// identAt is the identifier at a line and column; without a column the first one
// that the line declares, else the only one of the line.
func (prog *program) identAt(f *ast.File, q query) (*ast.Ident, error) {
	var found *ast.Ident
	var names []*ast.Ident
	ast.Inspect(f, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return true
		}
		at := prog.fset.PositionFor(id.Pos(), false)
		if at.Line != q.line {
			return true
		}
		names = append(names, id)
		if at.Column <= q.column && q.column <= at.Column+len(id.Name) && (found == nil || q.column < at.Column+len(id.Name)) {
			found = id
		}
		return true
	})
	if found == nil && q.column == 0 {
		found = prog.declaredOn(f, q.line)
		if found == nil && len(names) == 1 {
			found = names[0]
		}
	}
	switch {
	case found != nil:
		return found, nil
	case len(names) == 0:
		return nil, refuse("there is no name at %s", q.given)
	default:
		return nil, refuse("there is no one name at %s; give the column of the name, as file.go:12:5", q.given)
	}
}

// declaredOn is the first name that a declaration of the line introduces.
func (prog *program) declaredOn(f *ast.File, line int) *ast.Ident {
	var found *ast.Ident
	take := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if found == nil && id != nil && prog.fset.PositionFor(id.Pos(), false).Line == line {
				found = id
			}
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			take(n.Name)
		case *ast.TypeSpec:
			take(n.Name)
		case *ast.ValueSpec:
			take(n.Names...)
		case *ast.Field:
			take(n.Names...)
		}
		return true
	})
	return found
}

// object is what an identifier denotes. The variable of a type switch has no
// object where it is written, but one in each case, all of the same place.
func (u *unit) object(id *ast.Ident, path []ast.Node) types.Object {
	if o := u.info.Uses[id]; o != nil { // before Defs: an embedded type is meant, not its field
		return o
	}
	if o := u.info.Defs[id]; o != nil {
		return o
	}
	for _, n := range path {
		sw, ok := n.(*ast.TypeSwitchStmt)
		if !ok {
			continue
		}
		for _, clause := range sw.Body.List {
			if o := u.info.Implicits[clause]; o != nil && o.Pos() == id.Pos() {
				return o
			}
		}
	}
	return nil
}

// target describes an object.
func (prog *program) target(obj types.Object, u *unit) target {
	obj = origin(obj)
	t := target{prog: prog, key: prog.keyOf(obj), obj: obj, unit: u}
	t.symbol = prog.describe(obj)
	return t
}

// origin is the field or method as it is written, and not as an instance of its
// generic type has it.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Var:
		return o.Origin()
	case *types.Func:
		return o.Origin()
	default:
		return o
	}
}

// resolve finds what a symbol means, in the code that search names. A name that
// no package declares may be that of a variable inside a function of within.
func (p *Project) resolve(ctx context.Context, symbol, within string, search func(ctx context.Context, t target) ([]string, error)) (target, error) {
	q, err := p.ask(symbol)
	if err != nil {
		return target{}, err
	}
	var first target // enough of it to know how far to search
	var notes []string
	switch {
	case q.path != "":
		if first, err = p.at(ctx, q); err != nil {
			return target{}, err
		}
	default:
		found, err := p.find(ctx, q, within)
		if unknown := new(UnknownError); asUnknown(err, &unknown) {
			if first, err = p.elsewhere(ctx, q, within, unknown); err != nil {
				return target{}, err
			}
			break
		}
		if err != nil {
			return target{}, err
		}
		d, n, err := p.one(q, found)
		if err != nil {
			return target{}, err
		}
		notes = n
		first.symbol = d.Symbol
	}
	dirs, err := search(ctx, first)
	if err != nil {
		return target{}, err
	}
	prog, err := p.load(ctx, dirs)
	if err != nil {
		return target{}, err
	}
	t, err := prog.again(first)
	t.notes = notes
	return t, err
}

// again finds a target in another program.
func (prog *program) again(t target) (target, error) {
	if t.obj != nil && !prog.p.isOwn(t.key.file) {
		for _, u := range prog.units {
			for id, o := range u.info.Uses {
				if id.Name == t.obj.Name() && prog.keyOf(origin(o)) == t.key {
					return prog.target(o, u), nil
				}
			}
		}
		return target{}, refuse("%s is not used in the code that could be read", t.symbol.Qualified)
	}
	for _, u := range slices.Backward(prog.units) { // the later ones hold the tests too
		for o := range u.declares() {
			if o.Name() != lastPart(t.symbol.Name) {
				continue
			}
			at := prog.fset.PositionFor(o.Pos(), false)
			if at.Line != t.symbol.Line || at.Column != t.symbol.Column {
				continue
			}
			if src, ok := prog.source(at.Filename); ok && src.path == t.symbol.Path {
				return prog.target(o, u), nil
			}
		}
	}
	if len(prog.broken) > 0 {
		return target{}, refuse("%s (%s:%d) could not be read by its types: %s", t.symbol.Name, t.symbol.Path, t.symbol.Line, prog.broken[0])
	}
	return target{}, refuse("%s (%s:%d) is not compiled on this system; a build tag, the name of its file, or a folder here that may not be read keeps it out", t.symbol.Name, t.symbol.Path, t.symbol.Line)
}

func asUnknown(err error, to **UnknownError) bool {
	u, ok := err.(*UnknownError) //nolint:errorlint // find returns it bare
	if ok {
		*to = u
	}
	return ok
}

// elsewhere looks for a name that no file declares at its top level: a variable
// in a function, where within says where, or something of another module that is
// used here.
func (p *Project) elsewhere(ctx context.Context, q query, within string, unknown *UnknownError) (target, error) {
	scope, err := p.local(within)
	if err != nil {
		return target{}, err
	}
	files, err := p.sources(ctx, scope, q.word)
	if err != nil {
		return target{}, err
	}
	if len(files) == 0 || scope == "." && !strings.Contains(q.name, ".") {
		return target{}, unknown
	}
	prog, err := p.load(ctx, foldersOf(files))
	if err != nil {
		return target{}, err
	}
	found := map[key]target{}
	for _, u := range prog.units {
		if !u.bodies {
			continue
		}
		for id, o := range u.info.Uses {
			if id.Name == q.word && strings.Contains(q.name, ".") && !prog.owns(o) && q.means(prog.foreign(o)) {
				found[prog.keyOf(origin(o))] = prog.target(o, u)
			}
		}
		if strings.Contains(q.name, ".") || scope == "." {
			continue
		}
		for o := range u.declares() {
			if o.Name() != q.word {
				continue
			}
			if src, ok := prog.source(prog.fset.PositionFor(o.Pos(), false).Filename); ok && under(src.path, scope) {
				found[prog.keyOf(o)] = prog.target(o, u)
			}
		}
	}
	switch len(found) {
	case 0:
		return target{}, unknown
	case 1:
		for _, t := range found {
			return t, nil
		}
	}
	ambiguous := &AmbiguousError{Name: q.given}
	for _, t := range found {
		ambiguous.Candidates = append(ambiguous.Candidates, t.symbol)
	}
	ambiguous.Candidates = sortSymbols(ambiguous.Candidates)
	return target{}, ambiguous
}

// declares are the objects that a unit introduces, those of type switches among
// them.
func (u *unit) declares() iter.Seq[types.Object] {
	return func(yield func(types.Object) bool) {
		for _, o := range u.info.Defs {
			if o != nil && !yield(o) {
				return
			}
		}
		for _, o := range u.info.Implicits {
			if _, ok := o.(*types.Var); ok && !yield(o) {
				return
			}
		}
	}
}

// owns reports whether an object is declared in the workspace.
func (prog *program) owns(o types.Object) bool {
	_, ok := prog.source(prog.fset.PositionFor(o.Pos(), false).Filename)
	return ok
}

// foreign describes an object of another module as if a file declared it.
func (prog *program) foreign(o types.Object) declaration {
	d := declaration{Symbol: prog.describe(origin(o))}
	if pkg := o.Pkg(); pkg != nil {
		d.pkg, d.pkgPath = pkg.Name(), pkg.Path()
	}
	return d
}

func foldersOf(files []goFile) []string {
	var dirs []string
	for _, f := range files {
		dirs = append(dirs, dirOf(f.path))
	}
	slices.Sort(dirs)
	return slices.Compact(dirs)
}

func (t target) String() string {
	return fmt.Sprintf("%s (%s:%d)", t.symbol.Name, t.symbol.Path, t.symbol.Line)
}
