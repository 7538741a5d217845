package agent_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// TestCoreHasNoGoroutinesOrChannels reads the sources of the core and of
// planning. The order in which goroutines run is no event, so folding a run again
// could give another state. The linter forbids clocks and randomness.
func TestCoreHasNoGoroutinesOrChannels(t *testing.T) {
	files := 0
	check := func(path string) {
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Error(err)
			return
		}
		ast.Inspect(file, func(n ast.Node) bool {
			found := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				found = "a goroutine"
			case *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
				found = "a channel"
			case *ast.UnaryExpr:
				if n.Op == token.ARROW {
					found = "a channel"
				}
			}
			if found != "" {
				t.Errorf("%s: %s in the core", set.Position(n.Pos()), found)
			}
			return true
		})
	}
	for _, room := range []struct {
		dir  string
		deep bool // includes the packages below
	}{{".", false}, {"event", true}, {"rule", true}, {"session", true}, {"../planning", true}} {
		err := filepath.WalkDir(room.dir, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (d.Name() == "testdata" || path != room.dir && !room.deep):
				return filepath.SkipDir
			case !d.IsDir() && strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
				check(path)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if files < 80 {
		t.Errorf("only %d files were read", files)
	}
}
