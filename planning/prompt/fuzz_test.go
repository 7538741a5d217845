package prompt_test

import (
	"strings"
	"testing"

	"replan/planning/prompt"
)

// FuzzNamings checks the positions and the order of the names in a message, and that a
// name that is written for a message is read from it.
func FuzzNamings(f *testing.F) {
	for _, text := range []string{
		"see @a.go, (@\"b c.go\") and \\@d", "@\"x\n\" @", "a@b @@c @\u202e", "@\"", strings.Repeat("@\"", 50), "[@a]]]'\"!", "@é\xff. @\u00a0x", "\\\\@a",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		for _, n := range prompt.Namings(text) {
			if n.Start < at || n.End <= n.Start || n.End > len(text) || text[n.Start] != '@' || !strings.Contains(text[n.Start:n.End], n.Name) {
				t.Fatalf("%q: %+v after %d", text, n, at)
			}
			at = n.End
		}
		if text != "" && !strings.ContainsAny(text, "\"\n") {
			if n := prompt.Namings("see " + prompt.NameOf(text)); len(n) != 1 || n[0].Name != text {
				t.Fatalf("%q is written %s and read as %+v", text, prompt.NameOf(text), n)
			}
		}
		if plain := prompt.Unescaped(text); len(plain) > len(text) || strings.Contains(text, `\@`) == false && plain != text {
			t.Fatalf("%q without its backslashes is %q", text, plain)
		}
	})
}
