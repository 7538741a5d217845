package code_test

import (
	"strings"
	"testing"

	"replan/mcpclient/workspace"
)

func TestCodeIsFoundByWhatPeopleWrite(t *testing.T) {
	b := newBench(t, workspace.Config{})
	b.Write(t, map[string]string{
		"go.mod": "module example.test/m\n\ngo 1.24\n", "order/order.go": "package order\n\n// IsEmpty is.\nfunc IsEmpty() bool { return true }\n",
		"order/order_test.go": "package order\n\nfunc TestTotal() {}\n", "README.md": "# Shop\n",
	})
	for _, c := range []struct {
		tool string
		args args
		text string
	}{
		{"code.symbols", args{"query": "IsEmpty"}, "order/order.go:4 function IsEmpty"},
		{"code.symbols", args{"path": "order/*_test.go"}, "order/order_test.go:3 function TestTotal"},
		{"code.symbols", args{"path": "**/*.go", "query": "Test*"}, "order/order_test.go:3 function TestTotal"},
		{"code.symbols", args{"path": "/order"}, "IsEmpty"},
		{"code.definition", args{"symbol": "func IsEmpty"}, "order/order.go:4"},
		{"code.definition", args{"symbol": "IsEmpty()"}, "order/order.go:4"},
		{"code.transform", args{"kind": "rename", "pattern": "IsEmpty", "replacement": "Empty"}, "+func Empty()"},
		{"code.transform", args{"kind": "replace", "symbol": "Shop", "new_name": "Store"}, "+# Store"},
	} {
		if got := b.Must(t, c.tool, c.args); !strings.Contains(got.Text, c.text) {
			t.Errorf("%s %v: got %q, want %q in it", c.tool, c.args, got.Text, c.text)
		}
	}
	if got := b.Must(t, "code.symbols", args{"path": "order/*_test.go"}); strings.Contains(got.Text, "IsEmpty") {
		t.Errorf("got %q", got.Text)
	}
	b.Refused(t, "code.symbols", args{"path": "order/ordr.go"}, "similar: order/order.go")
	b.Refused(t, "code.parse", args{"path": "order/*.go"}, "is a pattern", "order/order.go, order/order_test.go")
	b.Refused(t, "code.transform", args{"kind": "rename", "symbol": "A"}, "needs symbol")
}
