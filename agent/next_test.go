package agent_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"replan/agent"
	"replan/agent/event"
)

// TestNextLeavesTheRunAsItWas folds the events of random runs into two runs that share no
// data. Only one is asked what is next, after each event and as often as drawn.
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
// whose methods could change it, and that no view hands out a pointer to data of the run.
func TestNextReachesPartsOnlyByViews(t *testing.T) {
	for _, fault := range agent.PartsOfNext() {
		t.Error(fault)
	}
}

// TestMethodsOfViewsChangeNothing reads the methods of the parts of a run, of steps and of loops
// that views name: none assigns to a field of what it is called on.
func TestMethodsOfViewsChangeNothing(t *testing.T) {
	views := map[string]bool{}
	for _, name := range agent.ViewMethods() {
		views[name] = true
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	set := token.NewFileSet()
	for _, name := range files {
		file, err := parser.ParseFile(set, name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv == nil || len(f.Recv.List[0].Names) == 0 {
				continue
			}
			of, pointer := f.Recv.List[0].Type.(*ast.StarExpr)
			if !pointer || !views[fmt.Sprint(of.X)+"."+f.Name.Name] {
				continue
			}
			read++
			for _, at := range writesTo(f.Recv.List[0].Names[0].Name, f.Body) {
				t.Errorf("%s: %s, which a view names, changes what it is called on", set.Position(at), f.Name.Name)
			}
		}
	}
	if read < 150 {
		t.Errorf("only %d methods were read", read)
	}
}

// writesTo returns where a body assigns to a field of the variable, or deletes or clears one.
func writesTo(name string, body *ast.BlockStmt) []token.Pos {
	root := func(e ast.Expr) bool {
		for {
			switch in := e.(type) {
			case *ast.SelectorExpr:
				e = in.X
			case *ast.IndexExpr:
				e = in.X
			case *ast.StarExpr:
				e = in.X
			case *ast.Ident:
				return in.Name == name
			default:
				return false
			}
		}
	}
	var out []token.Pos
	ast.Inspect(body, func(n ast.Node) bool {
		var changed []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			changed = n.Lhs
		case *ast.IncDecStmt:
			changed = []ast.Expr{n.X}
		case *ast.CallExpr:
			if f, ok := n.Fun.(*ast.Ident); ok && (f.Name == "delete" || f.Name == "clear") {
				changed = n.Args[:1]
			}
		}
		for _, to := range changed {
			if root(to) {
				out = append(out, to.Pos())
			}
		}
		return true
	})
	return out
}
