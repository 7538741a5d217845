package draw_test

import (
	"testing"

	"github.com/charmbracelet/x/ansi/kitty"

	"replan/tui/draw"
)

func TestCopiedLineHasNoStylesAndPictures(t *testing.T) {
	cell := string([]rune{kitty.Placeholder, kitty.Diacritic(0), kitty.Diacritic(0)})
	for line, want := range map[string]string{
		"\x1b[1mbold\x1b[m  ":                     "bold",
		"at \x1b[0;38;5;16m" + cell + "\x1b[m   ": "at",
		cell + cell: "",
	} {
		if got := draw.Unstyled(line); got != want {
			t.Errorf("%q is copied as %q, want %q", line, got, want)
		}
	}
}
