package markdown_test

import (
	"strings"
	"testing"

	"replan/internal/markdown"
)

func TestTextStaysInSpan(t *testing.T) {
	for text, want := range map[string]string{
		"":             "",
		" \n":          "",
		"a":            "`a`",
		"a\n\tb":       "`a b`",
		"`a`":          "`` `a` ``",
		"a``b":         "```a``b```",
		"\x1b[31m\xff": "`\uFFFD[31m\uFFFD`",
		"\u202ea":      "`\uFFFDa`",
		"abcdefghijkl": "`abcdefghi…`",
	} {
		if got := markdown.Code(text, 10); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestTextStaysInFence(t *testing.T) {
	for text, want := range map[string]string{
		"a\nb\n":                   "```go\na\nb\n```",
		"a\n```\nb":                "````go\na\n```\nb\n````",
		"1\n2\n3\n4\n5":            "```go\n1\n2\n3\n```\n\n… and 2 more lines",
		strings.Repeat("x", 2_000): "```go\n" + strings.Repeat("x", 199) + "…\n```",
	} {
		if got := markdown.Fence("go", text, 3); got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}

func TestFencesEncloseLines(t *testing.T) {
	var fences markdown.Fences
	lines := []string{"a", "  ```go", "# b", "~~~", "```", "c", "~~~", "```", "~~~ x", "d"}
	want := []bool{false, true, true, true, true, false, true, true, true, false}
	for i, line := range lines {
		if got := fences.Encloses(line); got != want[i] {
			t.Errorf("line %d %q: got %t, want %t", i+1, line, got, want[i])
		}
	}
}

func TestTextStaysInBlock(t *testing.T) {
	for text, want := range map[string]string{
		"a":         "```\na\n```",
		"```\nb":    "````\n```\nb\n````",
		"x `` `y` ": "```\nx `` `y` \n```",
	} {
		if got := markdown.Block(text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
