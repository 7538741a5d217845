package ask

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"replan/tui/answerguard"
	"replan/tui/draw"
	"replan/tui/keymap"
)

// keyBar draws the answers and their keys at the bottom of the dialog, faint while they are
// inactive, and knows where it drew them.
type keyBar struct {
	styles  *draw.Styles
	keys    *keymap.Map
	guard   *answerguard.Guard
	buttons []draw.Button // relative to the upper left corner of the dialog
}

// barLines are the lines of a bar, the ids of its actions, and each action as drawn.
type barLines struct{ lines, ids, parts []string }

// draw draws choices. Muted means that another question has the keys. The choice that lets the
// call pass says what the user must still see of it: unseen in words, and how many parts.
func (b *keyBar) draw(choices []choice, muted bool, unseen string, count, width int) barLines {
	parts, lines := b.flow(choices, muted, width)
	if unseen != "" {
		read := len(lines)
		for i := range choices {
			if choices[i].id == "gate.once" {
				choices[i].does += " (" + unseen + ")"
				choices[i].short += fmt.Sprintf(" (%d more)", count)
			}
		}
		// The bar must not grow and cover a line once all lines have been in view.
		for parts, lines = b.flow(choices, muted, width); len(lines) < read; {
			lines = append(lines, "")
		}
	}
	var ids []string
	for _, c := range choices {
		if !c.hidden {
			ids = append(ids, c.id)
		}
	}
	return barLines{lines, ids, parts}
}

// place notes where the keys of a bar are, whose lines begin at a line of the dialog.
func (b *keyBar) place(drawn barLines, at int) {
	b.buttons = draw.Buttons(drawn.lines, drawn.parts, drawn.ids)
	for i := range b.buttons {
		b.buttons[i].X, b.buttons[i].Y = b.buttons[i].X+2, b.buttons[i].Y+at // inside the border
	}
}

// under returns the action whose key is under the pointer.
func (b *keyBar) under(m tea.MouseClickMsg) (id string, found bool) {
	return draw.Pressed(b.buttons, m.X, m.Y)
}

// flow draws choices and the lines that they take, with shorter wording if those
// would be more than two.
func (b *keyBar) flow(choices []choice, muted bool, width int) (parts, lines []string) {
	parts = b.parts(choices, muted, false)
	if lines = draw.Flow(parts, "   ", width); len(lines) > 2 {
		parts = b.parts(choices, muted, true)
		lines = draw.Flow(parts, "  ", width)
	}
	return parts, lines
}

// parts draws choices, with shorter wording if short is set.
func (b *keyBar) parts(choices []choice, muted, short bool) []string {
	l := b.styles
	var parts []string
	for _, c := range choices {
		keyStyle, textStyle := l.Key.Bold(true), l.Text
		if b.guard.Ignores() || muted || c.refuse != "" {
			keyStyle, textStyle = l.Faint, l.Faint
		}
		does := c.does
		if short {
			does = c.short
		}
		does = strings.Replace(does, "…", l.Glyphs.Ellipsis, 1)
		switch {
		case c.hidden:
		case c.id == b.guard.Waiting() && c.refuse == "":
			parts = append(parts, l.ArmedKey(b.keys.Shown(c.id), does))
		default:
			parts = append(parts, keyStyle.Render(b.keys.Shown(c.id))+" "+textStyle.Render(does))
		}
	}
	return parts
}
