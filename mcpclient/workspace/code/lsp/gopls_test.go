package lsp_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/code/source"
)

// goplsVariable names the gopls to test: a path, or "build" to build the pinned
// version of testdata/gopls first.
const goplsVariable = "REPLAN_GOPLS"

// realGopls returns the servers of a workspace with the real gopls. It skips the
// test if none is set.
func realGopls(t *testing.T, dir string) *lsp.Servers {
	t.Helper()
	path := os.Getenv(goplsVariable)
	switch path {
	case "":
		t.Skipf("set %s to build, or to the path of gopls, to test with the real one", goplsVariable)
	case "build":
		path = filepath.Join(os.TempDir(), "replan-"+strings.ReplaceAll(filepath.Base(lsp.Gopls), "@", "-"))
		build := exec.Command("go", "build", "-o", path, "golang.org/x/tools/gopls") // #nosec G204 -- a name of our own
		build.Dir = filepath.Join("testdata", "gopls")
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("building gopls: %v\n%s", err, out)
		}
	}
	return open(t, dir, "plain", func(c *lsp.Config) {
		c.Environ, c.Commands = os.Environ(), map[string][]string{"go": {path}}
	})
}

var module = map[string]string{
	"go.mod": "module example.com/m\n\ngo 1.24\n",
	"run.go": "package m\n\ntype Run struct{}\n\n// Apply applies.\nfunc (Run) Apply() {}\n\ntype Other struct{}\n\nfunc (Other) Apply() {}\n",
	"b/b.go": "package b\n\nimport \"example.com/m\"\n\nfunc Use() { m.Run{}.Apply(); m.Other{}.Apply() }\n",
}

func TestGoplsDistinguishesMethodsOfTheSameName(t *testing.T) {
	s := realGopls(t, workspaceOf(t, module))
	at := source.Place{Path: "run.go", Line: 6, Column: 12}
	refs, err := s.References(t.Context(), at, nil)
	if err != nil || len(refs) != 2 || refs[0].Path != "b/b.go" || refs[1].Line != 6 || !refs[1].Definition {
		t.Errorf("references: %+v, %v", refs, err)
	}
	renamed, err := s.Rename(t.Context(), at, "Fold", nil)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string][]source.Edit{}
	for _, e := range renamed.Edits {
		byPath[e.Path] = append(byPath[e.Path], e)
	}
	text, err := source.Apply(renamed.Read["b/b.go"], byPath["b/b.go"])
	if err != nil || !strings.Contains(text, "m.Run{}.Fold(); m.Other{}.Apply()") {
		t.Errorf("got %q, %v", text, err)
	}
	_, err = s.Rename(t.Context(), at, "not a name", nil)
	if refused := new(lsp.RefusedError); !errors.As(err, &refused) {
		t.Errorf("got %v", err)
	}
}

func TestGoplsReportsBrokenCallers(t *testing.T) {
	dir := workspaceOf(t, module)
	s := realGopls(t, dir)
	found, err := s.Diagnostics(t.Context(), []string{"b/b.go"}, time.Minute)
	if err != nil || len(found) != 0 {
		t.Fatalf("got %+v, %v", found, err)
	}
	write(t, filepath.Join(dir, "run.go"), strings.Replace(module["run.go"], "(Other) Apply", "(Other) Gone", 1))
	found, err = s.Diagnostics(t.Context(), []string{"b/b.go"}, time.Minute)
	if err != nil || len(found) != 1 || !strings.Contains(found[0].Message, "Apply") {
		t.Errorf("got %+v, %v", found, err)
	}
}

func TestGoplsListsSymbols(t *testing.T) {
	s := realGopls(t, workspaceOf(t, module))
	found, err := s.Symbols(t.Context(), "run.go")
	var names []string
	for _, symbol := range found {
		names = append(names, symbol.Kind+" "+symbol.Name)
	}
	if got := strings.Join(names, ", "); err != nil || got != "struct Run, method (Run).Apply, struct Other, method (Other).Apply" {
		t.Errorf("got %s, %v", got, err)
	}
}
