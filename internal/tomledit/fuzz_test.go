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
		if got, err := theme(after); err != nil || got != "ember" {
			t.Fatalf("%q became %q, which reads %v: %v", document, after, got, err)
		}
		if tomledit.Line(after, "screen", "theme") < 1 {
			t.Fatalf("%q has no line of the key", after)
		}
		gone, err := tomledit.Unset(after, "screen", "theme")
		if err != nil {
			return
		}
		if got, err := theme(gone); err != nil || got != nil {
			t.Fatalf("%q without the key is %q: %v", after, gone, err)
		}
	})
}

// theme reads the key that the target changes, nil if it is not there.
func theme(document []byte) (any, error) {
	var read map[string]any
	err := toml.Unmarshal(document, &read)
	screen, _ := read["screen"].(map[string]any)
	return screen["theme"], err
}
