package code_test

import (
	"os"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/code/lsp"
	"replan/mcpclient/workspace/workspacetest"
)

// gopls returns a workspace configuration with the real gopls. It skips the test
// if no path is set.
func gopls(t *testing.T) workspace.Config {
	t.Helper()
	path := os.Getenv("REPLAN_GOPLS")
	if path == "" || path == "build" {
		t.Skip("set REPLAN_GOPLS to the path of gopls to test with the real one")
	}
	return workspace.Config{Servers: &lsp.Config{Commands: map[string][]string{"go": {path}}, Trusted: true}}
}

func TestChangeReportsNewDiagnostics(t *testing.T) {
	b := newBench(t, gopls(t))
	b.Write(t, shop)
	type result struct {
		Diagnostics []struct{ Path, Severity, Message string }
	}
	broken := workspacetest.Into[result](t, b.Must(t, "fs.write", args{"path": "cart/more.go", "text": "package cart\n\nvar x = missing\n"}).Data)
	if len(broken.Diagnostics) != 1 || broken.Diagnostics[0].Path != "cart/more.go" || !strings.Contains(broken.Diagnostics[0].Message, "missing") {
		t.Errorf("got %+v", broken)
	}
	fixed := workspacetest.Into[result](t, b.Must(t, "fs.patch", args{"path": "cart/more.go", "old": "missing", "new": "1"}).Data)
	if len(fixed.Diagnostics) != 0 {
		t.Errorf("got %+v", fixed)
	}
}

func TestGoplsAnswersTheOperators(t *testing.T) {
	b := newBench(t, gopls(t))
	b.Write(t, shop)
	refs := b.code(t, "code.references", args{"symbol": "Cart.Total"})
	if refs.By != "types" || len(refs.References) != 2 || refs.References[1].In != "main" {
		t.Errorf("got %+v", refs)
	}
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "Cart.Total", "new_name": "Sum"})
	if change.By != "types" || len(change.Files) != 2 {
		t.Errorf("got %+v", change)
	}
	b.patched(t, change)
	if text := b.Files(t)["main.go"]; !strings.Contains(text, `.Sum(), "Total"`) {
		t.Errorf("got main.go %q", text)
	}
}
