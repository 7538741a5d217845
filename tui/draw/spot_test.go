package draw

import (
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestRestyleKeepsTheTextAndItsWidth(t *testing.T) {
	line := Restyle("\x1b[31mred and\x1b[m blue", 4, 7, lipgloss.NewStyle().Bold(true))
	if ansi.Strip(line) != "red and blue" || ansi.StringWidth(line) != 12 {
		t.Errorf("%q", line)
	}
}
