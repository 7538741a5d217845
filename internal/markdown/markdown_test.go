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

func TestLegibleTextStaysAsItIs(t *testing.T) {
	for text, want := range map[string]string{
		"chore(deps): bump x from 5 to 6 (#824)": "chore(deps): bump x from 5 to 6 (#824)",
		"fix: use `shell.Fields` (#922)":         "fix: use `shell.Fields` (#922)",
		"dependabot[bot]":                        "dependabot[bot]",
		"config_cmd.go:20":                       "config_cmd.go:20",
		"__init__.py:3":                          "`__init__.py:3`",
		"see [here](x)":                          "`see [here](x)`",
		"one ` tick":                             "``one ` tick``",
		"a `` b `` c":                            "```a `` b `` c```",
		"https://x":                              "`https://x`",
		"a *b*":                                  "`a *b*`",
		"a\nb":                                   "`a b`",
		"# a":                                    "`# a`",
		"a `\x1b[31m` b":                         "``a `\uFFFD[31m` b``",
		"":                                       "",
	} {
		if got := markdown.Legible(text, 60); got != want {
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
