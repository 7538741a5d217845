package golang

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"go/types"
	"os"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"replan/mcpclient/workspace/code/source"
)

// program is the code of a module with types. It contains each package once
// alone and once with its tests. Their objects always differ, even for the
// same declaration, so compare declarations by place.
type program struct {
	p    *Project
	fset *token.FileSet
	pkgs []*packages.Package // each after its imports
	read map[string][]byte   // files of the workspace, by path
	// outside maps import paths to packages outside the workspace.
	outside map[string]*types.Package
	sizes   types.Sizes // of the system that the module is built for
}

// key is the place of a declaration.
type key struct {
	file   string // on disk; for code outside the workspace, the package and the name
	offset int
}

// parse parses the files of all packages, each once, and type-checks them.
func (prog program) parse(ctx context.Context) error {
	files := map[string]*ast.File{}
	broken := map[string][]packages.Error{}
	for _, pkg := range prog.pkgs {
		pkg.Errors = slices.DeleteFunc(pkg.Errors, func(e packages.Error) bool { return e.Kind == packages.ParseError }) // parsing finds them again
		for _, name := range pkg.GoFiles {                                                                               // the original files, because cgo is not run
			at, inside := prog.p.relative(name)
			if files[name] == nil {
				data, err := os.ReadFile(name) // #nosec G304 -- the go command named it
				if err != nil {
					return fmt.Errorf("reading %s: %w", name, err)
				}
				if inside {
					prog.read[at] = data
				}
				files[name], err = parser.ParseFile(prog.fset, name, data, parseMode)
				if wrong, ok := errors.AsType[scanner.ErrorList](err); ok {
					broken[name] = []packages.Error{{Pos: wrong[0].Pos.String(), Msg: wrong[0].Msg}}
				}
			}
			if files[name] != nil {
				pkg.Syntax = append(pkg.Syntax, files[name])
			}
			pkg.Errors = append(pkg.Errors, broken[name]...)
		}
	}
	c := &checker{program: prog}
	for _, pkg := range prog.pkgs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		now := c.check(pkg)
		pkg.Types, pkg.TypesInfo, pkg.Errors = now.Types, now.TypesInfo, append(pkg.Errors, now.Errors...)
	}
	return nil
}

const parseMode = parser.ParseComments | parser.AllErrors | parser.SkipObjectResolution

// loadFailed explains why the go command failed.
func loadFailed(err error) error {
	if err == nil {
		return nil
	}
	if _, text, ok := strings.Cut(err.Error(), "stderr: "); ok && strings.TrimSpace(text) != "" {
		err = errors.New(strings.Join(strings.Fields(text), " "))
	}
	err = errors.New(missing(err.Error()))
	return fmt.Errorf("asking the go command about the packages: %w", err)
}

// missing returns advice for when the go command lacks modules that it may not
// download.
func missing(message string) string {
	if strings.Contains(message, "disabled by GOPROXY=off") {
		return "modules are missing: run go mod download"
	}
	return message
}

func (prog program) keyOf(o types.Object) key {
	if o == nil || !o.Pos().IsValid() {
		return key{} // nothing, or predeclared
	}
	at := prog.fset.PositionFor(o.Pos(), false)
	if !prog.reads(o.Pos()) { // export data has no exact places
		return key{o.Pkg().Path() + "." + o.Name(), -1}
	}
	return key{at.Filename, at.Offset}
}

// owns reports whether an object is declared in a file that was read.
func (prog program) owns(o types.Object) bool {
	return o.Pos().IsValid() && prog.reads(o.Pos())
}

// origin returns the generic declaration of an instance.
func origin(o types.Object) types.Object {
	switch o := o.(type) {
	case *types.Func:
		return o.Origin()
	case *types.Var:
		return o.Origin()
	}
	return o
}

// meaning returns the object that an identifier uses or else declares.
func meaning(pkg *packages.Package, id *ast.Ident) types.Object {
	if o := pkg.TypesInfo.Uses[id]; o != nil {
		return origin(o)
	}
	if o := pkg.TypesInfo.Defs[id]; o != nil {
		return origin(o)
	}
	for _, o := range pkg.TypesInfo.Implicits { // the variable of a type switch
		if _, isVar := o.(*types.Var); isVar && o.Pos() == id.Pos() {
			return o
		}
	}
	return nil
}

// identifiers calls visit for every identifier of the program.
func (prog program) identifiers(visit func(pkg *packages.Package, id *ast.Ident)) {
	for _, pkg := range prog.pkgs {
		for _, file := range pkg.Syntax {
			for _, id := range identsOf(file) {
				visit(pkg, id)
			}
		}
	}
}

func identsOf(file *ast.File) []*ast.Ident {
	var ids []*ast.Ident
	ast.Inspect(file, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			ids = append(ids, id)
		}
		return true
	})
	return ids
}

// objectAt returns the object that the identifier at a place denotes. For an
// embedded field it returns the type if uses is set, or else the field.
func (prog program) objectAt(place source.Place, uses bool) (types.Object, error) {
	if prog.read[place.Path] == nil {
		return nil, refuse("%s is not compiled on this system, so the type checker does not see it", place.Path)
	}
	var found types.Object
	here := false
	prog.identifiers(func(pkg *packages.Package, id *ast.Ident) {
		at := prog.fset.PositionFor(id.Pos(), false)
		if at.Line != place.Line || at.Column > place.Column || place.Column >= at.Column+len(id.Name) {
			return
		}
		if path, _ := prog.p.relative(at.Filename); path == place.Path && found == nil {
			here, found = true, meaning(pkg, id)
			if field, ok := pkg.TypesInfo.Defs[id].(*types.Var); ok && field.Embedded() && !uses {
				found = field
			}
		}
	})
	switch {
	case found != nil:
		return found, nil
	case here && prog.isClause(place):
		return nil, refuse("%s:%d:%d is the name of a package, which its folder and its importers share; name something that the package declares", place.Path, place.Line, place.Column)
	case here:
		return nil, refuse("the type checker does not know what %s:%d:%d means; the package may not compile", place.Path, place.Line, place.Column)
	default:
		return nil, refuse("there is no name at %s:%d:%d", place.Path, place.Line, place.Column)
	}
}

// isClause reports whether a place is in the package clause of its file.
func (prog program) isClause(place source.Place) bool {
	line, _ := strings.CutPrefix(strings.Split(string(prog.read[place.Path]), "\n")[place.Line-1], " ")
	return strings.HasPrefix(line, "package ")
}

// place converts a position to a place.
func (prog program) place(pos token.Pos) source.Place {
	at := prog.fset.PositionFor(pos, false)
	path, _ := prog.p.relative(at.Filename)
	data := prog.read[path]
	start := min(max(at.Offset-at.Column+1, 0), len(data))
	line, _, _ := strings.Cut(string(data[start:]), "\n")
	return source.Place{Path: path, Line: at.Line, Column: at.Column, Text: strings.TrimSpace(strings.ToValidUTF8(line, "\uFFFD"))}
}

// lineOf formats a position for messages.
func (prog program) lineOf(pos token.Pos) string {
	place := prog.place(pos)
	return fmt.Sprintf("%s:%d", place.Path, place.Line)
}

// notes returns which packages do not compile.
func (prog program) notes() []string {
	var notes []string
	for _, pkg := range prog.pkgs {
		if len(pkg.Errors) > 0 {
			notes = append(notes, fmt.Sprintf("%s does not compile (%s), so uses in it may be missing", pkg.PkgPath, prog.fault(pkg.Errors[0])))
		}
	}
	slices.Sort(notes)
	notes = slices.Compact(notes)
	return notes[:min(len(notes), 3)]
}

// fault formats an error of a package with a readable place.
func (prog program) fault(e packages.Error) string {
	message, _, _ := strings.Cut(missing(strings.TrimSpace(e.Msg)), "\n")
	if file, rest, ok := strings.Cut(e.Pos, ".go:"); ok {
		if at, inside := prog.p.relative(file + ".go"); inside {
			line, _, _ := strings.Cut(rest, ":")
			return at + ":" + line + ": " + message
		}
	}
	return message
}

// reads reports whether a position is in a file that was read.
func (prog program) reads(pos token.Pos) bool {
	at, inside := prog.p.relative(prog.fset.PositionFor(pos, false).Filename)
	return inside && prog.read[at] != nil
}

// same reports whether two objects have the same declaration. An object
// without a place is predeclared and equals only itself.
func (prog program) same(a, b types.Object) bool {
	if a == nil || !b.Pos().IsValid() {
		return a == b
	}
	return prog.keyOf(a) == prog.keyOf(b)
}

// phrase returns the name of an object and its place.
func (prog program) phrase(o types.Object) string {
	if o == nil {
		return "nothing"
	}
	kind := "name"
	switch o := o.(type) {
	case *types.Func:
		kind = "function"
	case *types.Var:
		if kind = "variable"; o.IsField() {
			kind = "field"
		}
	case *types.Const:
		kind = "constant"
	case *types.TypeName:
		kind = "type"
	case *types.PkgName:
		kind = "package"
	case *types.Builtin:
		kind = "function"
	}
	s := "the " + kind + " " + o.Name()
	if prog.owns(o) {
		s += " of " + prog.lineOf(o.Pos())
	}
	return s
}
