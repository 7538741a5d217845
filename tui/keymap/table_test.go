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

// rowsOfMode are the rows of a mode: one with words of its own, and one that gives the key
// of another action a meaning.
func rowsOfMode() keymap.Table[*int] {
	return keymap.Table[*int]{
		{ID: "own", Keys: "x", Does: "adds one", Do: keymap.Calls(func(n *int) { *n++ })},
		{ID: "dialog.leave", Refuse: func(*int) string { return "Not now." }},
	}
}

func TestRowWithTheKeyOfAnotherActionHasNoLineInHelp(t *testing.T) {
	lines := rowsOfMode().Lines()
	if len(lines) != 1 || lines[0].ID != "own" {
		t.Errorf("got %v", lines)
	}
	n := 0
	hs := rowsOfMode().For(&n)
	hs.Press("own")
	if got := keymap.First[keymap.Footer](hs.Press("dialog.leave")); got != "Not now." || n != 1 {
		t.Errorf("the footer says %q after %d calls", got, n)
	}
	if rs := hs["dialog.leave"].Do(); rs != nil {
		t.Errorf("a row that only refuses requests %v", rs)
	}
}
