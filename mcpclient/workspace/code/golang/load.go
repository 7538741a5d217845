package golang

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"
	"golang.org/x/tools/go/packages"

	"replan/internal/lazyregexp"
)

// unit is one package of the workspace as it is compiled once: by itself, or
// with its tests.
type unit struct {
	meta   *packages.Package
	build  int
	wanted bool // it was asked for, and is not there only because others import it
	bodies bool // of functions are checked here, and not in the unit with tests
	inner  []*unit
	files  []*ast.File
	pkg    *types.Package
	info   *types.Info
	errs   []fault
}

// fault is an error in the code that is read.
type fault struct {
	place string // file:line, "" where it has none
	text  string
}

func (f fault) String() string {
	if f.place == "" {
		return f.text
	}
	return f.place + ": " + f.text
}

// program is code with its types. Objects of two builds are never the same, even
// where they stand for one declaration: the place of that is what they share.
type program struct {
	p       *Project
	fset    *token.FileSet
	units   []*unit // each after those that it imports
	outside []map[string]*types.Package
	graph   []map[string]bool // import paths of all packages of a build, outside ones too
	broken  []string          // sentences about modules that could not be read

	mu     sync.Mutex
	parsed map[string]*parsed
}

// parsed is a file of the workspace, read once for all units that hold it.
type parsed struct {
	once sync.Once
	rel  string // "" where it is outside the workspace
	data []byte
	file *ast.File
	err  error
}

const metaMode = packages.NeedName | packages.NeedFiles | packages.NeedImports |
	packages.NeedDeps | packages.NeedModule | packages.NeedForTest | packages.NeedTypesSizes

// load type-checks the packages in folders of the workspace, tests included, and
// what they import in it; nil loads all. Packages of others come from what the
// compiler has exported of them.
func (p *Project) load(ctx context.Context, dirs []string) (*program, error) {
	builds, err := p.reaches(ctx)
	if err != nil {
		return nil, err
	}
	prog := &program{p: p, fset: token.NewFileSet(), parsed: map[string]*parsed{}}
	wanted := make([][]string, len(builds))
	for _, dir := range dirs {
		for i, b := range builds {
			if of, ok := moduleOf(builds, dir); ok && of.dir == b.dir {
				wanted[i] = append(wanted[i], dir)
			}
		}
	}
	var first error
	for i, b := range builds {
		if dirs != nil && wanted[i] == nil {
			continue
		}
		if err := prog.add(ctx, b, wanted[i]); err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			prog.broken = append(prog.broken, err.Error())
			if first == nil {
				first = err
			}
		}
	}
	if len(prog.units) == 0 && first != nil {
		return nil, first
	}
	return prog, prog.check(ctx, prog.units)
}

// add finds the packages of a build and how they import each other.
func (prog *program) add(ctx context.Context, b reach, dirs []string) error {
	p := prog.p
	roots, err := packages.Load(&packages.Config{
		Mode: metaMode, Context: ctx, Dir: p.onDisk(b.dir), Env: b.environ, BuildFlags: p.flags(b), Tests: true, Fset: prog.fset,
	}, b.patterns(dirs)...)
	if err != nil {
		return loadFailed(b, err)
	}
	nr := len(prog.outside)
	units := map[*packages.Package]*unit{}
	imported := map[string]bool{}
	graph := map[string]bool{}
	tested := map[string]bool{} // import paths that are also compiled with their tests
	packages.Visit(roots, nil, func(m *packages.Package) {
		graph[m.PkgPath] = true
		u := &unit{meta: m, build: nr}
		own := false
		for _, imp := range m.Imports {
			if in := units[imp]; in != nil {
				u.inner, own = append(u.inner, in), true
			}
		}
		inside := slices.ContainsFunc(m.GoFiles, p.isOwn)
		if !inside && (!own || strings.HasSuffix(m.ID, ".test")) {
			return
		}
		units[m] = u
		if m.ForTest != "" && m.ForTest == m.PkgPath {
			tested[m.PkgPath] = true
		}
		for _, e := range m.Errors {
			if f := p.fault(e.Pos, e.Msg); e.Kind != packages.ParseError { // found again in parsing
				u.errs = append(u.errs, f)
			}
		}
		prog.units = append(prog.units, u)
	})
	asked := map[*packages.Package]bool{}
	for _, m := range roots {
		asked[m] = true
	}
	for m, u := range units {
		variant := m.ForTest != "" && m.ForTest != m.PkgPath && !strings.HasSuffix(m.PkgPath, "_test")
		u.wanted = asked[m]
		u.bodies = u.wanted && !variant && (m.ForTest != "" || !tested[m.PkgPath])
		for path, imp := range m.Imports {
			if units[imp] == nil && path != "C" && path != "unsafe" {
				imported[imp.PkgPath] = true
			}
		}
	}
	prog.graph = append(prog.graph, graph)
	prog.outside = append(prog.outside, nil)
	prog.outside[nr], err = prog.exported(ctx, b, slices.Sorted(maps.Keys(imported)))
	return err
}

// exported are the types of packages outside the workspace.
func (prog *program) exported(ctx context.Context, b reach, paths []string) (map[string]*types.Package, error) {
	found := map[string]*types.Package{"unsafe": types.Unsafe}
	if len(paths) == 0 {
		return found, nil
	}
	roots, err := packages.Load(&packages.Config{
		Mode:    packages.NeedName | packages.NeedTypes | packages.NeedTypesSizes,
		Context: ctx, Dir: prog.p.onDisk(b.dir), Env: b.environ, BuildFlags: prog.p.flags(b), Fset: prog.fset,
	}, paths...)
	if err != nil {
		return found, loadFailed(b, err)
	}
	for _, m := range roots {
		if m.Types != nil {
			found[m.PkgPath] = m.Types
		}
	}
	return found, nil
}

// isOwn reports whether a file is the workspace's own, and not vendored.
func (p *Project) isOwn(file string) bool {
	rel, ok := p.relative(file)
	return ok && !slices.Contains(strings.Split(rel, "/"), "vendor")
}

var errorPlace = lazyregexp.New(`^(.+?):(\d+)(?::\d+)?$`)

// fault makes an error of the go command or the type checker readable.
func (p *Project) fault(pos, text string) fault {
	if m := errorPlace.FindStringSubmatch(pos); m != nil {
		if rel, ok := p.relative(m[1]); ok {
			return fault{place: rel + ":" + m[2], text: firstLine(text)}
		}
	}
	return fault{text: firstLine(text)}
}

// check type-checks units, each after those that it imports.
func (prog *program) check(ctx context.Context, units []*unit) error {
	return inOrder(ctx, units, func(u *unit) {
		for _, name := range u.meta.GoFiles { // as they are written: cgo is not run
			f := prog.parse(name)
			if f.file != nil {
				u.files = append(u.files, f.file)
			}
			if f.err != nil {
				u.errs = append(u.errs, prog.p.syntaxFault(f.err))
			}
		}
		u.pkg, u.info = prog.checkUnit(u, u.files, func(in *unit) *types.Package { return in.pkg }, &u.errs)
	})
}

// inOrder visits units, as many at once as there are processors, and each when
// those that it imports are done. It returns when all visits have.
func inOrder(ctx context.Context, units []*unit, visit func(u *unit)) error {
	done := make(map[*unit]chan struct{}, len(units))
	for _, u := range units {
		done[u] = make(chan struct{})
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0)) // in the order of imports nobody waits for one that has no place
	for _, u := range units {
		g.Go(func() error {
			defer close(done[u])
			for _, in := range u.inner {
				if ready, ok := done[in]; ok {
					<-ready
				}
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			visit(u)
			return nil
		})
	}
	return g.Wait()
}

func (p *Project) syntaxFault(err error) fault {
	text := firstLine(err.Error())
	if file, rest, ok := strings.Cut(text, ".go:"); ok {
		line, message, _ := strings.Cut(rest, ": ")
		return p.fault(file+".go:"+line, message)
	}
	return fault{text: text}
}

// checkUnit type-checks one package from files, which may be changed ones.
func (prog *program) checkUnit(u *unit, files []*ast.File, of func(*unit) *types.Package, errs *[]fault) (*types.Package, *types.Info) {
	info := &types.Info{
		Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
		Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		Types: map[ast.Expr]types.TypeAndValue{}, Instances: map[*ast.Ident]types.Instance{},
		Scopes: map[ast.Node]*types.Scope{}, FileVersions: map[*ast.File]string{},
	}
	conf := types.Config{
		IgnoreFuncBodies: !u.bodies, FakeImportC: true, Sizes: u.meta.TypesSizes,
		Importer: importer(func(path string) (*types.Package, error) { return prog.imported(u, path, of) }),
		Error: func(err error) {
			var e types.Error
			if asTypes(err, &e) {
				at := prog.fset.PositionFor(e.Pos, false)
				*errs = append(*errs, prog.p.fault(at.String(), e.Msg))
			}
		},
	}
	if m := u.meta.Module; m != nil && m.GoVersion != "" {
		conf.GoVersion = "go" + m.GoVersion
	}
	pkg, _ := conf.Check(u.meta.PkgPath, prog.fset, files, info) // its errors went to Error
	return pkg, info
}

func asTypes(err error, to *types.Error) bool {
	e, ok := err.(types.Error) //nolint:errorlint // go/types hands it over bare
	if ok {
		*to = e
	}
	return ok
}

type importer func(path string) (*types.Package, error)

func (f importer) Import(path string) (*types.Package, error) { return f(path) }

func (prog *program) imported(u *unit, path string, of func(*unit) *types.Package) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	m := u.meta.Imports[path]
	switch {
	case m == nil:
		return nil, fmt.Errorf("the package %s was not found", path)
	case m.Name == "" && len(m.Errors) > 0:
		return nil, errors.New(strings.TrimSuffix(firstLine(missing(m.Errors[0].Msg)), ": import lookup disabled by -mod=readonly"))
	}
	for _, in := range u.inner {
		if in.meta == m {
			if pkg := of(in); pkg != nil {
				return pkg, nil
			}
		}
	}
	if pkg := prog.outside[u.build][m.PkgPath]; pkg != nil {
		return pkg, nil
	}
	return nil, fmt.Errorf("the package %s could not be read", path)
}

// parse reads a file once, for all units that hold it.
func (prog *program) parse(name string) *parsed {
	prog.mu.Lock()
	f := prog.parsed[name]
	if f == nil {
		f = &parsed{}
		prog.parsed[name] = f
	}
	prog.mu.Unlock()
	f.once.Do(func() {
		if prog.p.isOwn(name) {
			f.rel, _ = prog.p.relative(name)
		}
		if f.data, f.err = os.ReadFile(name); f.err == nil { // #nosec G304 -- named by the go command
			f.file, f.err = parser.ParseFile(prog.fset, name, f.data, parseMode)
		}
	})
	return f
}

// source is the text of a file that belongs to the program.
func (prog *program) source(name string) (goFile, bool) {
	prog.mu.Lock()
	defer prog.mu.Unlock()
	f := prog.parsed[name]
	if f == nil || f.rel == "" {
		return goFile{}, false
	}
	return goFile{path: f.rel, data: f.data}, true
}

// notes say what the program lacks: packages with errors among those that were
// asked for.
func (prog *program) notes() []string {
	const most = 3
	notes := slices.Clone(prog.broken)
	seen := map[string]bool{}
	for _, u := range prog.units {
		if len(u.errs) == 0 || !u.wanted || seen[u.meta.PkgPath] {
			continue
		}
		seen[u.meta.PkgPath] = true
		if len(seen) <= most {
			notes = append(notes, fmt.Sprintf("%s does not compile (%s), so uses in it may be missing", u.meta.PkgPath, u.errs[0]))
		}
	}
	if more := len(seen) - most; more > 0 {
		notes = append(notes, fmt.Sprintf("%d more packages do not compile", more))
	}
	return notes
}
