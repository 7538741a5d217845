package tomledit_test

import (
	"bytes"
	"testing"

	"github.com/pelletier/go-toml/v2"

	"replan/internal/tomledit"
)

// FuzzSet checks that a value set in any document reads back, that removing it leaves
// a document, and that a refusal leaves the document unread rather than damaged.
func FuzzSet(f *testing.F) {
	for _, text := range []string{
		"", "[screen]\ntheme = \"a\" # c\r\n", "screen = {theme = 'a', x = [1, {b = 2}]}\n", "screen.theme = 1979-05-27T07:32:00Z\nscreen.x = 1", "[[screen]]\ntheme = 1\n", "[screen.theme]\na = 1\n", "screen = 1", "[\"screen\"] # x\n  a = '''\n[screen]\n'''\n",
		"a = \"\"\"\n[screen]\ntheme = 1\n\"\"\"\n[screen]\n", "[screen]\n[other]\n[screen2]\ntheme = 1", "\ufeff[screen]\n", "[screen]\ntheme = inf # \x1b\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		kept := bytes.Clone(document)
		after, err := tomledit.Set(document, "screen", "theme", `"ember"`)
		if !bytes.Equal(kept, document) {
			t.Fatalf("%q was changed in place to %q", kept, document)
		}
		if err != nil {
			return
		}
		var is struct {
			Screen struct {
				Theme string `toml:"theme"`
			} `toml:"screen"`
		}
		if err := toml.Unmarshal(after, &is); err != nil || is.Screen.Theme != "ember" {
			t.Fatalf("%q became %q, which reads %q: %v", document, after, is.Screen.Theme, err)
		}
		if tomledit.Line(after, "screen", "theme") < 1 {
			t.Fatalf("%q has no line of the key", after)
		}
		gone, err := tomledit.Unset(after, "screen", "theme")
		if err != nil {
			return
		}
		var left struct {
			Screen struct {
				Theme *string `toml:"theme"`
			} `toml:"screen"`
		}
		if err := toml.Unmarshal(gone, &left); err != nil || left.Screen.Theme != nil {
			t.Fatalf("%q without the key is %q: %v", after, gone, err)
		}
	})
}
