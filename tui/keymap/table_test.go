package keymap_test

import (
	"slices"
	"strings"
	"testing"

	"replan/tui/keymap"
)

// TestLinesAreNotPlacedByAnUnknownAction checks that a wrong id stops the program. Lines
// that only moved would go unnoticed.
func TestLinesAreNotPlacedByAnUnknownAction(t *testing.T) {
	lines := keymap.Lines{{ID: "a"}, {ID: "b"}}
	for name, place := range map[string]func(id string){
		"After": func(id string) { lines.After(id, keymap.Lines{{ID: "c"}}) },
		"Cut":   func(id string) { lines.Cut(id) },
	} {
		t.Run(name, func(t *testing.T) {
			place("b")
			defer func() {
				if got, ok := recover().(string); !ok || !strings.Contains(got, `"typo"`) {
					t.Errorf("got the panic %q, want one that names the id", got)
				}
			}()
			place("typo")
		})
	}
	if got := lines.After("a", keymap.Lines{{ID: "c"}}); !slices.Equal(got, keymap.Lines{{ID: "a"}, {ID: "c"}, {ID: "b"}}) {
		t.Errorf("got %v", got)
	}
}
