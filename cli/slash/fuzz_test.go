package slash_test

import (
	"strings"
	"testing"

	"replan/cli/slash"
)

// FuzzSplit checks that words in quotes are read as they were written, and that a line
// without quotes is split at its blanks.
func FuzzSplit(f *testing.F) {
	for _, line := range []string{"", "a b", `a "b c" d='e f'`, `it's`, `"\"\\"`, "\u00a0a\u2003b\t", `"`, `a=""`, "\xff 'x\x00'"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ToValidUTF8(line, "")
		words, err := slash.Split(line)
		if err == nil && len(words) == 0 {
			t.Fatalf("%q has no words", line)
		}
		if !strings.ContainsAny(line, `"'`) && strings.TrimSpace(line) != "" && (err != nil || strings.Join(words, " ") != strings.Join(strings.Fields(line), " ")) {
			t.Fatalf("%q is split into %q, %v", line, words, err)
		}
		quoted := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(line) + `" end`
		if got, err := slash.Split(quoted); err != nil || len(got) != 2 || got[0] != line || got[1] != "end" {
			t.Fatalf("%s is split into %q, %v", quoted, got, err)
		}
	})
}
