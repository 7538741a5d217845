package keymap_test

import (
	"testing"

	"replan/tui/keymap"
)

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
