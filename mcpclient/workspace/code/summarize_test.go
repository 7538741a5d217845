package code_test

import (
	"os/exec"
	"strings"
	"testing"

	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
	"replan/planning/plan"
)

type summary struct{ Kind, Title, Summary string }

func (b *bench) summary(t *testing.T, a args, parts ...string) summary {
	t.Helper()
	s := workspacetest.Into[summary](t, b.Must(t, "code.summarize", a).Data)
	for _, part := range parts {
		if !strings.Contains(s.Summary, part) {
			t.Errorf("%v: the summary has no %q:\n%s", a, part, s.Summary)
		}
	}
	return s
}

func TestSummaryOfASymbol(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	s := b.summary(t, args{"symbol": "Cart"}, "`Cart` is a struct, declared at `cart/cart.go:5`", "type Cart struct", "Cart is a cart of items.", "Members: `Total`", "- main.go:6 ")
	if s.Kind != "symbol" || s.Title != "Cart is a struct in cart/cart.go:5" {
		t.Errorf("got %+v", s)
	}
	found := b.Must(t, "fs.search", args{"query": "count_all"}).Data
	s = b.summary(t, args{"symbol": "count_all", "matches": found}, "def count_all(items)", "count_all counts.", "Found on 3 lines in 2 files", "- docs/use.md:3 ")
	if s.Title != "count_all is a function in tools/count.py:1" {
		t.Errorf("got %+v", s)
	}
	found = b.Must(t, "fs.search", args{"query": "console"}).Data
	b.summary(t, args{"symbol": "console", "matches": found}, plan.NoDeclaration+"`console` was found", "Found on 1 line in 1 file")
	b.Refused(t, "code.summarize", args{"symbol": "Nothing_like_it"}, "Nothing_like_it")
	b.Refused(t, "code.summarize", args{}, "needs input")
	b.Refused(t, "code.summarize", args{"symbol": "x", "matches": args{"matches": 3}}, "matches")
}

// A search for the name of a method with its type finds no call of it.
func TestSummaryOfAMethodNamesItsCallsWhereTheSearchFoundNone(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"signer.py":      "class Signer:\n    def sign(self, value):\n        return value\n",
		"test_signer.py": "from signer import Signer\n\nassert Signer().sign(1) == 1\n",
	})
	s := b.summary(t, args{"symbol": "Signer.sign", "matches": args{"matches": []any{}, "total": 0}}, "is a method, declared at `signer.py:2`", "Used on 1 line", "test_signer.py:3")
	if strings.Contains(s.Summary, "nowhere else") {
		t.Errorf("got %s", s.Summary)
	}
}

func TestSummaryOfFilesAndFolders(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	s := b.summary(t, args{"path": "cart/cart.go"}, "`cart/cart.go`: Go, 8 lines, package `cart`", "Package cart holds carts.", "- 5: `type Cart struct`")
	if s.Kind != "file" || s.Title != "cart/cart.go: Go, 8 lines" {
		t.Errorf("got %+v", s)
	}
	b.summary(t, args{"path": "docs/use.md", "text": "what was read of it"}, "Call `Total` and `count_all`.", "- 1: `# Use`")
	b.summary(t, args{"text": "One line.\n\nAnother."}, "The text: text, 3 lines", "One line.")
	s = b.summary(t, args{"path": "cart"}, "`cart/` holds 1 file.", "Package cart holds carts.", "- Go: 1 file, 8 lines")
	if s.Kind != "folder" {
		t.Errorf("got %+v", s)
	}
	b.Refused(t, "code.summarize", args{"path": "nothing.go"}, "nothing.go")
}

func TestSummaryOfFailuresListsTheirCommitsFirst(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{"go.mod": "module m\n", "a_test.go": "package m\n", "b.go": "package m\n"})
	git := func(arguments ...string) string {
		t.Helper()
		c := exec.Command("git", arguments...)
		c.Dir = b.Dir
		c.Env = append(c.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "HOME="+b.Dir,
			"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v: %s", arguments, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	git("init", "-q")
	git("add", "a_test.go")
	git("commit", "-qm", "Test it")
	git("add", "b.go")
	git("commit", "-qm", "Add `b`")
	log := b.Must(t, "vcs.log", args{}).Data
	tests := args{
		"passed": false, "summary": "1 failed", "failed": []string{"TestA"}, "total": 3, "command": "go test ./...",
		"failures": []args{{"name": "TestA", "package": "m", "file": "a_test.go", "line": 7, "message": "    a_test.go:7: got 1, want 2\n"}},
	}
	s := b.summary(t, args{"tests": tests, "log": log}, "1 of 3 tests failed in `go test ./...`", "`TestA` of `m` at `a_test.go:7`", "got 1, want 2",
		"those touching `a_test.go` first", " Add `b`, a")
	if s.Kind != "tests+log" || s.Title != "TestA fails" {
		t.Errorf("got %+v", s)
	}
	if first, second := strings.Index(s.Summary, "Test it"), strings.Index(s.Summary, "Add `b`"); first < 0 || first > second {
		t.Errorf("the commit that touched the file is not first:\n%s", s.Summary)
	}
	s = b.summary(t, args{"log": log}, "2 commits", " Test it, a")
	if s.Kind != "log" {
		t.Errorf("got %+v", s)
	}
	s = b.summary(t, args{"tests": args{"passed": true, "summary": "all passed"}}, "The tests pass")
	if s.Kind != "tests" {
		t.Errorf("got %+v", s)
	}
}

func TestSummaryOfARename(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, shop)
	change := b.code(t, "code.transform", args{"kind": "rename", "symbol": "Cart.Total", "new_name": "Sum"})
	s := b.summary(t, args{"diff": change.Diff}, "2 files changed, +3 −3.", "`Total` becomes `Sum` in 3 lines.", "`cart/cart.go`")
	if s.Kind != "diff" || s.Title != "Rename Total to Sum in 2 files" {
		t.Errorf("got %+v", s)
	}
	if s = b.summary(t, args{"diff": ""}, "Nothing is changed."); s.Title != "No changes" {
		t.Errorf("got %+v", s)
	}
	b.Refused(t, "code.summarize", args{"diff": "hello"}, "changes no file")
}
