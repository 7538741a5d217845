package golang

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/refactor/satisfy"
)

// couple finds the methods that have to keep one name: what an interface of the
// workspace has and what implements it. A method that an interface of others
// holds is refused.
func (r *renaming) couple(ctx context.Context) error {
	if r.symbol.Kind != "method" {
		return nil
	}
	links := &links{parent: map[key]key{}, objects: map[key]types.Object{}}
	for nr := range r.prog.outside {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.link(links, r.havers(nr))
	}
	for k, o := range links.objects {
		if k != r.key && links.root(k) == links.root(r.key) {
			if !r.prog.owns(o) {
				return refuse("%s cannot be renamed: the interface %s outside the workspace has it too, and the types here are used as one",
					r.old, r.prog.describe(o).Qualified)
			}
			r.set[k], r.coupled[k] = true, o
		}
	}
	for nr := range r.prog.outside {
		if err := r.heldByOthers(nr); err != nil {
			return err
		}
	}
	return nil
}

// links joins methods into groups.
type links struct {
	parent  map[key]key
	objects map[key]types.Object
}

func (l *links) root(k key) key {
	for {
		up, ok := l.parent[k]
		if !ok {
			return k
		}
		k = up
	}
}

func (l *links) join(prog *program, a, b types.Object) {
	ka, kb := prog.keyOf(a), prog.keyOf(b)
	l.objects[ka], l.objects[kb] = a, b
	if ra, rb := l.root(ka), l.root(kb); ra != rb {
		l.parent[ra] = rb
	}
}

// haver is a type with a method of the old name.
type haver struct {
	typ    types.Type
	iface  *types.Interface // nil for other types
	method types.Object
}

// havers are the types of the workspace, in one build, that have a method of the
// old name, by whatever way.
func (r *renaming) havers(nr int) []haver {
	var found []haver
	seen := map[types.Type]bool{}
	add := func(t types.Type, pkg *types.Package) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		o, _, _ := types.LookupFieldOrMethod(t, true, pkg, r.old)
		f, ok := o.(*types.Func)
		if !ok {
			return
		}
		iface, _ := t.Underlying().(*types.Interface)
		found = append(found, haver{typ: t, iface: iface, method: f.Origin()})
	}
	for _, u := range r.prog.units {
		if u.build != nr {
			continue
		}
		for _, def := range u.info.Defs {
			// Types that wait for arguments have no values; their instances do.
			if name, ok := def.(*types.TypeName); ok && !name.IsAlias() && !isGeneric(name.Type()) {
				add(name.Type(), u.pkg)
			}
		}
		for _, inst := range u.info.Instances {
			if named, ok := types.Unalias(inst.Type).(*types.Named); ok {
				add(named, u.pkg)
			}
		}
		for e, tv := range u.info.Types {
			switch e.(type) {
			case *ast.InterfaceType, *ast.StructType:
				add(tv.Type, u.pkg)
			}
		}
	}
	return found
}

func isGeneric(t types.Type) bool {
	named, ok := t.(*types.Named)
	return ok && named.TypeParams().Len() > 0 && named.TypeArgs().Len() == 0
}

// link joins the method of each interface with those of the types that implement
// it, other interfaces among them.
func (r *renaming) link(l *links, havers []haver) {
	l.objects[r.key] = r.obj
	for _, i := range havers {
		if i.iface == nil {
			continue
		}
		for _, t := range havers {
			if t.typ != i.typ && implements(t.typ, i.iface) {
				l.join(r.prog, t.method, i.method)
			}
		}
	}
}

func implements(t types.Type, iface *types.Interface) bool {
	if types.Implements(t, iface) {
		return true
	}
	return !types.IsInterface(t) && types.Implements(types.NewPointer(t), iface)
}

// heldByOthers refuses a method that an interface outside the workspace needs:
// because a value is used as one somewhere here, or because the standard library
// looks for it while the program runs.
func (r *renaming) heldByOthers(nr int) error {
	mine := slices.DeleteFunc(r.havers(nr), func(h haver) bool { return !r.set[r.prog.keyOf(h.method)] })
	if len(mine) == 0 {
		return nil
	}
	for c := range r.assigned(nr) {
		need, _, _ := types.LookupFieldOrMethod(c.LHS, false, r.obj.Pkg(), r.old)
		have, _, _ := types.LookupFieldOrMethod(c.RHS, true, r.obj.Pkg(), r.old)
		if need == nil || have == nil || r.prog.owns(need) || !r.set[r.prog.keyOf(origin(have))] {
			continue
		}
		return refuse("%s cannot be renamed: %s is used as %s, which is declared outside the workspace and needs that method",
			r.symbol.Name, short(c.RHS), short(c.LHS))
	}
	for _, known := range r.prog.lookedFor(nr, r.old) {
		for _, h := range mine {
			if !implements(h.typ, known.typ) {
				continue
			}
			if known.sought {
				return refuse("%s cannot be renamed: %s has it for %s, which the standard library looks for while a program runs",
					r.symbol.Name, short(h.typ), known.name)
			}
			if h.iface == nil {
				r.note("%s no longer implements %s without %s; nothing here uses it as one", short(h.typ), known.name, r.old)
			}
		}
	}
	return nil
}

// assigned are the interfaces that values are used as in the code of one build.
func (r *renaming) assigned(nr int) map[satisfy.Constraint]bool {
	finder := &satisfy.Finder{Result: map[satisfy.Constraint]bool{}}
	for _, u := range r.prog.units {
		if u.build != nr || !u.bodies || len(u.errs) > 0 {
			continue
		}
		func() {
			defer func() {
				if recover() != nil { // what a broken import leaves untyped is too much for it
					r.note("%s could not be looked through for interfaces that need %s", u.meta.PkgPath, r.old)
				}
			}()
			finder.Find(u.info, u.files)
		}()
	}
	return finder.Result
}

func short(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}

// known is an interface of other people's code.
type known struct {
	name   string
	typ    *types.Interface
	sought bool // values are asked at run time whether they have it
}

// soughtSource are methods, by the interface that names them, that the standard library looks for in any value, and
// go vet in any type, as far as they are written without its own types.
const soughtSource = `package std
type (
	error_ interface{ Error() string }
	errors_Unwrap interface{ Unwrap() error }
	errors_Join interface{ Unwrap() []error }
	errors_Is interface{ Is(error) bool }
	errors_As interface{ As(any) bool }
	net_Error interface{ Timeout() bool }
	net_Temporary interface{ Temporary() bool }
	fmt_Stringer interface{ String() string }
	fmt_GoStringer interface{ GoString() string }
	json_Marshaler interface{ MarshalJSON() ([]byte, error) }
	json_Unmarshaler interface{ UnmarshalJSON([]byte) error }
	encoding_TextMarshaler interface{ MarshalText() ([]byte, error) }
	encoding_TextUnmarshaler interface{ UnmarshalText([]byte) error }
	encoding_TextAppender interface{ AppendText([]byte) ([]byte, error) }
	encoding_BinaryMarshaler interface{ MarshalBinary() ([]byte, error) }
	encoding_BinaryUnmarshaler interface{ UnmarshalBinary([]byte) error }
	encoding_BinaryAppender interface{ AppendBinary([]byte) ([]byte, error) }
	gob_GobEncoder interface{ GobEncode() ([]byte, error) }
	gob_GobDecoder interface{ GobDecode([]byte) error }
	yaml_Marshaler interface{ MarshalYAML() (any, error) }
	json_omitzero interface{ IsZero() bool }
	io_Reader interface{ Read([]byte) (int, error) }
	io_Writer interface{ Write([]byte) (int, error) }
	io_Closer interface{ Close() error }
	io_Seeker interface{ Seek(int64, int) (int64, error) }
	io_ReaderAt interface{ ReadAt([]byte, int64) (int, error) }
	io_WriterAt interface{ WriteAt([]byte, int64) (int, error) }
	io_ByteReader interface{ ReadByte() (byte, error) }
	io_ByteWriter interface{ WriteByte(byte) error }
	io_RuneReader interface{ ReadRune() (rune, int, error) }
	io_StringWriter interface{ WriteString(string) (int, error) }
	sync_Locker interface{ Lock(); Unlock() }
	flag_Value interface{ String() string; Set(string) error }
	sql_Scanner interface{ Scan(any) error }
	sort_Interface interface{ Len() int; Less(i, j int) bool; Swap(i, j int) }
)`

const soughtPath = "sought"

// called is what a reader knows an interface as.
func called(pkg *types.Package, name string) string {
	if pkg.Path() != soughtPath {
		return pkg.Name() + "." + name
	}
	in, of, _ := strings.Cut(name, "_")
	return strings.TrimSuffix(in+"."+of, ".")
}

// seekers are packages of the standard library that ask values at run time for
// the interfaces that they declare.
const seekers = " fmt encoding encoding/json encoding/json/v2 encoding/xml encoding/gob errors io io/fs flag log/slog database/sql database/sql/driver net net/http "

// lookedFor are the interfaces outside the workspace that have a method: those
// that are sought by the standard library, and those of the packages that a build
// imports.
func (prog *program) lookedFor(nr int, method string) []known {
	var found []known
	if pkg := sought(); pkg != nil {
		found = append(found, withMethod(pkg, method, true)...)
	}
	for path, pkg := range prog.outside[nr] {
		found = append(found, withMethod(pkg, method, strings.Contains(seekers, " "+path+" "))...)
	}
	slices.SortFunc(found, func(a, b known) int {
		if a.sought != b.sought && a.sought {
			return -1
		} else if a.sought != b.sought {
			return 1
		}
		return strings.Compare(a.name, b.name)
	})
	return found
}

func sought() *types.Package { // a few dozen lines: nothing to keep
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "std.go", soughtSource, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	pkg, err := (&types.Config{}).Check(soughtPath, fset, []*ast.File{file}, nil)
	if err != nil {
		return nil
	}
	return pkg
}

// withMethod are the exported interfaces of a package that have a method.
func withMethod(pkg *types.Package, method string, isSought bool) []known {
	var found []known
	scope := pkg.Scope()
	for _, name := range scope.Names() {
		typ, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || pkg.Path() != soughtPath && !typ.Exported() || isGeneric(typ.Type()) {
			continue
		}
		iface, ok := typ.Type().Underlying().(*types.Interface)
		if !ok || iface.NumMethods() == 0 {
			continue
		}
		for i := range iface.NumMethods() {
			if iface.Method(i).Name() == method {
				found = append(found, known{name: called(pkg, name), typ: iface, sought: isSought})
			}
		}
	}
	return found
}
