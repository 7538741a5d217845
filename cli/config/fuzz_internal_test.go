package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzConfig checks that a configuration is read, or refused with a reason that holds
// the file's name and nothing that a terminal obeys.
func FuzzConfig(f *testing.F) {
	for _, text := range []string{
		"[model]\nname = \"a\"\n[gates]\nallow = [\"fs.*\"]\n[limits]\nsteps = 3\n", "[screen]\nchat_width = 99999999999999999999\n", "[keys]\n\"plan.open\" = [\"x\", 1]\nnosuch = \"y\"\n", "x = 1\n[nosuch]\ny = 2\n", "[model]\nname = 1979-05-27\n", "[profiles.a.model]\nname = \"b\"\n",
		"[model\n", "\"\\u001b[2J\" = 1\n", "[[gates.rules]]\ntool = \"\u202e\"\nargs = {a = 1}\n", "[limits]\ntime = \"10x\"\n", "a.b.c.d = [[[{e = 1}]]]\n",
	} {
		f.Add([]byte(text))
	}
	name := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := readConfig(name); err != nil && !strings.Contains(err.Error(), name) {
			t.Fatalf("%q is refused with %q", text, err)
		}
	})
}
