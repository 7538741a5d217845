package tests_test

import (
	"strings"
	"testing"

	"replan/mcpclient/builtin"
	"replan/mcpclient/workspace"
	"replan/mcpclient/workspace/workspacetest"
)

func TestTestsAreChosenAsTheyAreNamed(t *testing.T) {
	t.Parallel()
	projects := map[string]map[string]string{
		"go": {"go.mod": "module example.test/m\n\ngo 1.24\n", "order/order.go": "package order\n", "order/order_test.go": "package order\n", "cmd/shop/main.go": "package main\n"},
		"py": {"pyproject.toml": "", "notes/book.py": "", "tests/test_book.py": "def test_find(): pass\n"},
	}
	for _, c := range []struct {
		project string
		args    args
		want    string // the end of the command
	}{
		{"go", nil, "./..."},
		{"go", args{"path": "."}, "./..."},
		{"go", args{"path": "./..."}, "./..."},
		{"go", args{"path": "/"}, "./..."},
		{"go", args{"path": "cmd"}, "./cmd/..."},
		{"go", args{"path": "order"}, "go test ./order"},
		{"go", args{"path": "/order"}, "go test ./order"},
		{"go", args{"path": "order/order_test.go"}, "go test ./order"},
		{"go", args{"path": "**/*_test.go"}, "./..."},
		{"go", args{"path": "order/*_test.go"}, "./order/..."},
		{"go", args{"path": "example.test/m/order"}, "example.test/m/order"},
		{"go", args{"run": "order/order_test.go"}, "go test ./order"},
		{"go", args{"run": "TestTotal()"}, "-run=TestTotal ./..."},
		{"go", args{"run": "func TestTotal"}, "-run=TestTotal ./..."},
		{"go", args{"run": "TestTotal, TestDiscount"}, "-run=TestTotal|TestDiscount ./..."},
		{"go", args{"run": "^TestTotal$"}, "-run=^TestTotal$ ./..."},
		{"go", args{"run": "all"}, "go test ./..."},
		{"go", args{"run": "*"}, "go test ./..."},
		{"go", args{"timeout": "60"}, "go test ./..."},
		{"py", args{"path": "tests"}, "pytest ./tests"},
		{"py", args{"path": "tests/test_book.py::test_find"}, "tests/test_book.py::test_find"},
		{"py", args{"run": "tests/test_book.py::test_find"}, "tests/test_book.py::test_find"},
		{"py", args{"run": "test_find"}, "-k test_find"},
		{"py", args{"run": "test_find, test_add"}, "-k test_find or test_add"},
	} {
		b := newBench(t, workspace.Config{})
		b.Write(t, projects[c.project])
		got := b.Ask(t, "test.run", c.args, map[string]any{builtin.MetaPreview: true})
		shown := workspacetest.Into[struct{ Command struct{ Argv []string } }](t, got.Data)
		if command := strings.Join(shown.Command.Argv, " "); got.IsError || !strings.HasSuffix(command, c.want) {
			t.Errorf("%s %v: got %q (%s), want %q", c.project, c.args, command, got.Text, c.want)
		}
	}
	b := newBench(t, workspace.Config{})
	b.Write(t, projects["go"])
	b.Refused(t, "test.run", args{"path": "ordr/order_test.go"}, "similar: order/order_test.go", "leave path out")
	b.Refused(t, "test.lint", args{"path": "missing"}, `no file "missing"`)
	if got := b.Must(t, "test.detect", args{"path": "go.mod"}); !strings.Contains(got.Text, "go test") {
		t.Errorf("got %q", got.Text)
	}
}
