package telling_test

import (
	"strings"
	"testing"

	"replan/tui/telling"
)

func TestWhatIsApprovedHidesNothingBehindBlanks(t *testing.T) {
	for text, want := range map[string]string{
		"echo ok": "echo ok",
		"echo ok" + strings.Repeat(" ", 6000) + "; touch x": "echo ok [6000 blanks] ; touch x",
		"echo ok" + strings.Repeat("\n", 6000) + "touch x":  "echo ok\n[6000 line ends]\ntouch x",
		"echo ok" + strings.Repeat("\t", 60) + "touch x":    "echo ok [60 blanks] touch x",
		"one\ntwo\n":                  "one\ntwo",
		"one\n\n\n":                   "one\n[3 line ends]",
		"\n":                          "\n[1 line end]",
		"one\r\ntwo":                  "one^M\ntwo",
		"one ":                        "one [blank at the end]",
		"func f() {\n\treturn\n}":     "func f() {\n\treturn\n}",
		"        indented\n\n\nparts": "        indented\n\n\nparts",
	} {
		if got := telling.Marked(text); got != want {
			t.Errorf("%.40q: got %q, want %q", text, got, want)
		}
	}
}
