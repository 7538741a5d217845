package draw

import (
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

func TestRestyleMarksCellsAndKeepsTheOthers(t *testing.T) {
	bold := lipgloss.NewStyle().Bold(true)
	mark := func(from, to int) Mark { return Mark{From: from, To: to, Style: bold} }
	for _, c := range []struct {
		name, line, want string
		marks            []Mark
	}{
		{"no mark", "\x1b[31mred\x1b[m", "\x1b[31mred\x1b[m", nil},
		{"an empty mark", "red", "red", []Mark{mark(2, 2)}},
		{"plain text", "red and blue", "red \x1b[1mand\x1b[m blue", []Mark{mark(4, 7)}},
		{"the style returns behind the mark", "\x1b[31mred and blue\x1b[m", "\x1b[31mred \x1b[m\x1b[1mand\x1b[m\x1b[31m blue\x1b[m", []Mark{mark(4, 7)}},
		{"a style that begins inside", "red \x1b[31mand\x1b[m", "re\x1b[1md \x1b[m\x1b[31m\x1b[m\x1b[1man\x1b[m\x1b[31md\x1b[m", []Mark{mark(2, 6)}},
		{"several marks", "red and blue", "\x1b[1mred\x1b[m and \x1b[1mblue\x1b[m", []Mark{mark(0, 3), mark(8, 12)}},
		{"marks side by side", "red", "\x1b[1mr\x1b[m\x1b[1me\x1b[md", []Mark{mark(0, 1), mark(1, 2)}},
		{"a mark beyond both ends", "red", "\x1b[1mred\x1b[m", []Mark{mark(-3, 9)}},
		{"wide and joined characters", "日本e\u0301!", "日\x1b[1m本e\u0301\x1b[m!", []Mark{mark(2, 5)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Restyle(c.line, c.marks...)
			if got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if ansi.Strip(got) != ansi.Strip(c.line) {
				t.Errorf("the text became %q", ansi.Strip(got))
			}
		})
	}
}
