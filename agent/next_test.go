package agent_test

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"testing"

	"golang.org/x/tools/go/packages"
	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
)

// TestNextLeavesTheRunAsItWas folds the events of random runs into two runs that share no
// data. Only one of them calls Next, a random number of times after each event.
func TestNextLeavesTheRunAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w, start := randomWorld(t, executors)
		times := rapid.IntRange(1, 3).Draw(t, "times")
		asked, left := agent.NewRun(w.planners), agent.NewRun(w.planners)
		w.check = func(e event.Event) {
			for _, run := range []*agent.Run{asked, left} {
				if err := run.Apply(reread(t, e)); err != nil {
					t.Fatal(err)
				}
			}
			for range times {
				asked.Next()
			}
			if !agent.Same(asked, left) {
				t.Fatalf("Next changed the run after\n%s", w.tail())
			}
		}

		w.play(start)
		w.undo(resumed(start))
	})
}

// TestNextReachesPartsOnlyByViews holds that no type behind Next has a part of the run itself,
// whose methods could change it. No view hands out a pointer to data of the run.
func TestNextReachesPartsOnlyByViews(t *testing.T) {
	for _, fault := range agent.PartsOfNext() {
		t.Error(fault)
	}
}

// TestMethodsOfViewsChangeNothing reads the methods that views name: of the parts of a run, of
// steps and their parts, and of loops. None assigns to a field of its receiver or of anything
// that the receiver reaches, and none calls a method that does.
func TestMethodsOfViewsChangeNothing(t *testing.T) {
	const mode = packages.NeedName | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo |
		packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedExportFile
	loaded, err := packages.Load(&packages.Config{Mode: mode}, ".")
	if err != nil {
		t.Fatal(err)
	}
	m := newMethods(loaded[0])
	read := 0
	for _, name := range agent.ViewMethods() {
		if f := m.declared[name]; f != nil {
			read++
			for _, at := range m.changes(f) {
				t.Errorf("%s: %s, which a view names, changes what it is called on", m.of.Fset.Position(at), name)
			}
		}
	}
	if read < 200 {
		t.Errorf("only %d methods were read", read)
	}
}

// methods are the methods on pointers of a package.
type methods struct {
	of       *packages.Package
	declared map[string]*ast.FuncDecl
	found    map[*ast.FuncDecl][]token.Pos // where those that were read change what they are called on
}

func newMethods(of *packages.Package) *methods {
	m := &methods{of, map[string]*ast.FuncDecl{}, map[*ast.FuncDecl][]token.Pos{}}
	for _, file := range of.Syntax {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			if to, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok {
				m.declared[fmt.Sprint(to.X)+"."+f.Name.Name] = f
			}
		}
	}
	return m
}

// changes returns where a method changes what it is called on.
func (m *methods) changes(f *ast.FuncDecl) []token.Pos {
	if out, ok := m.found[f]; ok {
		return out // none yet, if it calls itself
	}
	m.found[f] = nil
	info := m.of.TypesInfo
	reached := map[types.Object]bool{info.Defs[f.Recv.List[0].Names[0]]: true}
	var out []token.Pos
	change := func(to ast.Expr) {
		if _, variable := to.(*ast.Ident); !variable && reached[rootOf(to, info)] {
			out = append(out, to.Pos())
		}
	}
	ast.Inspect(f.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for i, to := range n.Lhs {
				change(to)
				if name, ok := to.(*ast.Ident); ok && len(n.Lhs) == len(n.Rhs) && reached[rootOf(n.Rhs[i], info)] && shares(info.TypeOf(name)) {
					reached[info.ObjectOf(name)] = true
				}
			}
		case *ast.RangeStmt:
			if name, ok := n.Value.(*ast.Ident); ok && reached[rootOf(n.X, info)] && shares(info.TypeOf(name)) {
				reached[info.ObjectOf(name)] = true
			}
		case *ast.IncDecStmt:
			change(n.X)
		case *ast.CallExpr:
			switch called := n.Fun.(type) {
			case *ast.Ident:
				if (called.Name == "delete" || called.Name == "clear") && reached[rootOf(n.Args[0], info)] {
					out = append(out, n.Pos())
				}
			case *ast.SelectorExpr:
				if method := m.called(called); method != nil && reached[rootOf(called.X, info)] && len(m.changes(method)) > 0 {
					out = append(out, n.Pos())
				}
			}
		}
		return true
	})
	m.found[f] = out
	return out
}

// called returns the method on a pointer that a selector names, nil for anything else.
func (m *methods) called(s *ast.SelectorExpr) *ast.FuncDecl {
	method, ok := m.of.TypesInfo.Uses[s.Sel].(*types.Func)
	if !ok || method.Signature().Recv() == nil {
		return nil
	}
	to, ok := method.Signature().Recv().Type().(*types.Pointer)
	if !ok || method.Pkg() != m.of.Types {
		return nil
	}
	return m.declared[to.Elem().(*types.Named).Obj().Name()+"."+method.Name()]
}

// rootOf returns the variable from which an expression reaches what it names; nil for none.
func rootOf(e ast.Expr, info *types.Info) types.Object {
	for {
		switch in := e.(type) {
		case *ast.SelectorExpr:
			e = in.X
		case *ast.IndexExpr:
			e = in.X
		case *ast.StarExpr:
			e = in.X
		case *ast.UnaryExpr:
			e = in.X
		case *ast.ParenExpr:
			e = in.X
		case *ast.CallExpr:
			e = in.Fun
		case *ast.Ident:
			return info.ObjectOf(in)
		default:
			return nil
		}
	}
}

// shares reports whether a copy of such a value shares its data.
func shares(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice:
		return true
	default:
		return false
	}
}
