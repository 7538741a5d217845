package wording_test

import (
	"strings"
	"testing"

	"replan/tui/wording"
)

func TestWhatIsApprovedHidesNothingBehindBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"echo ok": "echo ok",
		"echo ok" + strings.Repeat(" ", 6000) + "; touch x": "echo ok [6000 blanks] ; touch x",
		"echo ok" + strings.Repeat("\n", 6000) + "touch x":  "echo ok\n[6000 line ends]\ntouch x",
		"echo ok" + strings.Repeat("\t", 60) + "touch x":    "echo ok [60 blanks] touch x",
		"one\ntwo\n":                  "one\ntwo\n[1 line end]",
		"one \\ \n\ttwo":              "one \\ [blank at the end]\n\ttwo",
		"a\u00a0b\u2800c\u3000d":      "a<U+00A0>b<U+2800>c<U+3000>d",
		"a\u2003b\u205fc":             "a<U+2003>b<U+205F>c",
		"one\n\n\n":                   "one\n[3 line ends]",
		"\n":                          "\n[1 line end]",
		"one\r\ntwo":                  "one^M\ntwo",
		"one ":                        "one [blank at the end]",
		"func f() {\n\treturn\n}":     "func f() {\n\treturn\n}",
		"        indented\n\n\nparts": "        indented\n\n\nparts",
	} {
		if got := wording.Marked(text); got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}

func TestValuesThatAreApprovedHideNothing(t *testing.T) {
	blanks := strings.Repeat(" ", 50)
	for _, c := range []struct {
		value any
		want  string
	}{
		{"echo ok" + blanks + "; touch x", `"echo ok [50 blanks] ; touch x"`},
		{map[string]any{"body": "a" + blanks + "b", "to": "x\u00a0y"}, `{
  "body": "a [50 blanks] b",
  "to": "x<U+00A0>y"
}`},
		{[]any{"one\n", "two "}, `["one\n","two "]`},
		{"one\ntwo\n\n", "one\ntwo\n[2 line ends]"},
		{true, "true"},
	} {
		if got, _ := wording.MarkedValue(c.value); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}
