package op_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"replan/mcpclient/workspace/op"
)

func TestNameOfAPathIsTextThatSaysItsBytes(t *testing.T) {
	for path, want := range map[string]string{
		"a/b.go":          "a/b.go",
		"café":            "café",
		"caf\xe9.txt":     `caf\xe9.txt`,
		"a\\b":            `a\b`,
		`caf\xe9.txt`:     `caf\x5cxe9.txt`,
		`caf\x41`:         `caf\x41`,
		"\ufffd":          "\ufffd",
		"\xff/\xc3\x28/é": `\xff/\xc3(/é`,
	} {
		if got := op.Name(path); got != want || op.PathOf(got) != path {
			t.Errorf("%q has the name %q, want %q; its path is %q", path, got, want, op.PathOf(got))
		}
	}
	for _, name := range []string{`\x2e\x2e\x2fa`, `a\x00`, `\xE9`, `\xe`, `\x`} {
		if got := op.PathOf(name); got != name {
			t.Errorf("%q is the path %q", name, got)
		}
	}
}

func TestNamesOfPathsSurviveJSON(t *testing.T) {
	part := rapid.SampledFrom([]string{"a", "/", `\`, "x", "e9", "5c", "\xe9", "\xff", "é", "\xc3", "\ufffd", `\xe9`, `\x5c`, ".."})
	rapid.Check(t, func(t *rapid.T) {
		path := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "path"), "")
		text, err := json.Marshal(op.Name(path))
		if err != nil {
			t.Fatal(err)
		}
		var name string
		if err := json.Unmarshal(text, &name); err != nil || op.PathOf(name) != path {
			t.Fatalf("%q came back as %q, %v", path, op.PathOf(name), err)
		}
		if at := op.PathOf(path); filepath.IsLocal(path) && !filepath.IsLocal(at) {
			t.Fatalf("%q leads out as %q", path, at)
		}
	})
}
