package keymap_test

import (
	"strings"
	"testing"

	"replan/tui/keymap"
	"replan/tui/panetest"
)

// FuzzKeys checks that a key that the configuration may name is the key that a press
// of it reports, and that a refusal names what is wrong on one line.
func FuzzKeys(f *testing.F) {
	for _, name := range []string{"ctrl+k", "alt+enter", "shift+tab", "G", "f12", "space", "ctrl+", "+", "ctrl++", "é", "\u202e", "\x1b[2J", "shift+ctrl+a", "ctrl+alt+shift+pgdown", "", "ctrl+space", "\u0301", "ctrl+A"} {
		f.Add("plan.open", name)
	}
	f.Add("\x1b]52;c;eA==\a", "x")
	f.Fuzz(func(t *testing.T, action, name string) {
		if err := panetest.Keys().Rebind(keymap.Keys{action: {name}}); err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b\x07") || strings.TrimSpace(err.Error()) == "" {
				t.Fatalf("%q=%q is refused with %q", action, name, err)
			}
			return
		}
		press := keymap.KeyNamed(name)
		again := keymap.KeyNamed(press.Keystroke())
		if again.Code != press.Code || again.Mod != press.Mod {
			t.Fatalf("%q is the key %+v, whose name %q is the key %+v", name, press, press.Keystroke(), again)
		}
	})
}
