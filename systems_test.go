package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// TestTypeChecksOnOtherSystems takes the place of builds for these systems, which need
// minutes where nothing is cached. It checks the module of the working folder: .ci/run
// runs it in distributed/ too.
func TestTypeChecksOnOtherSystems(t *testing.T) {
	if testing.Short() {
		t.Skip("the normal suite runs it")
	}
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	// The declarations of all dependencies stay in memory until the end.
	gc := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(gc) })
	// Of what this module imports only the declarations are needed, and none of SQLite's C as
	// Go, which is half of the syntax and behind a driver.
	parse := func(fset *token.FileSet, name string, src []byte) (*ast.File, error) {
		if strings.Contains(filepath.ToSlash(name), "/modernc.org/") {
			return parser.ParseFile(fset, name, src, parser.PackageClauseOnly)
		}
		file, err := parser.ParseFile(fset, name, src, parser.SkipObjectResolution)
		if path, relErr := filepath.Rel(here, name); file == nil || relErr == nil && filepath.IsLocal(path) {
			return file, err
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
		return file, err
	}
	for _, system := range []string{"darwin", "windows"} {
		t.Run(system, func(t *testing.T) {
			t.Parallel()
			all, err := packages.Load(&packages.Config{
				Mode:      packages.LoadAllSyntax,
				Env:       append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
				ParseFile: parse,
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range all {
				if !strings.HasPrefix(p.PkgPath, "replan") || p.TypesInfo == nil {
					t.Errorf("%s was not checked", p.PkgPath)
				}
				for _, e := range p.Errors {
					t.Error(e)
				}
			}
		})
	}
}
