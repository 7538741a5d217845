package ask

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"

	"replan/tui/draw"
)

// prepare renders the request for a dialog of width cells, including the border.
func (g *Dialog) prepare(width int) {
	g.reading.prepare(g.styles, width-4, g.viewID(), func(d *draw.Document, details bool) page {
		if g.confirm != nil {
			return g.confirm.write(d)
		}
		return g.current().write(g.styles, d, details)
	})
}

// notesFor returns the reasons for the request that fit beside the call in height
// lines.
func (g *Dialog) notesFor(width, height int) []string {
	if g.editor != nil || g.confirm != nil || g.reading.details {
		return nil
	}
	notes := g.current().notes(g.styles, width)
	if most := max(height/5, 1); len(notes) > most {
		notes = notes[:most]
		notes[most-1] = g.styles.Cut(notes[most-1], width-2) + " " + g.styles.Glyphs.Folded
	}
	return notes
}

// Height returns the preferred height in lines, including the border.
func (g *Dialog) Height(width int) int {
	if !g.Showing() {
		return 0
	}
	g.prepare(width)
	lines := g.reading.lines()
	if g.editor != nil {
		lines = max(lines, g.editor.Wishes(width-4))
	}
	return lines + len(g.notesFor(width-4, lines*5)) + len(g.bar(width-4)) + 3 + g.listHeight()
}

// State is what the dialog needs to know of the rest of the screen.
type State struct {
	Size  draw.Rect // including the border
	Muted bool      // another question has the keys
	Over  bool      // another dialog covers it
}

// SetState tells the dialog about the rest of the screen. It notes which lines of the
// request that brings into view.
func (g *Dialog) SetState(s State) {
	g.muted = s.Muted
	width, height := s.Size.W, s.Size.H
	if !g.Showing() || height == 0 {
		return
	}
	g.prepare(width)
	g.place(width, height)
	switch {
	case g.editor != nil:
		g.editor.SetSize(width-4, g.reading.body)
	case !s.Over && !s.Muted:
		g.reading.note()
	}
}

// place allots the lines of the dialog, including the border. It shortens or omits
// the request list if the call would get too little room.
func (g *Dialog) place(width, height int) {
	const enough = 8 // lines for the call
	g.reading.body = max(height-3-len(g.bar(width-4)), 1)
	g.noted = g.notesFor(width-4, g.reading.body)
	g.reading.body = max(g.reading.body-len(g.noted), 1)
	g.listed = 0
	if g.listHeight() == 0 {
		return
	}
	call := enough
	if g.reading.drawn() {
		call = min(call, g.reading.lines())
	}
	if list := min(g.listHeight(), g.reading.body-call); list > 2 { // two requests and the edge below them
		g.reading.body, g.listed = g.reading.body-list, list-1
	}
}

// View draws the dialog on exactly size.H lines of size.W cells.
func (g *Dialog) View(size draw.Rect) []string {
	l, width, height := g.styles, size.W, size.H
	g.prepare(width)
	g.place(width, height)
	note := ""
	var content []string
	if g.editor != nil {
		content = l.Block(g.editor.Lines(), width-4, g.reading.body)
	} else {
		content, note = g.reading.rows()
	}
	bar, ids, parts := g.barOf(width - 4)
	bar = append(slices.Clone(g.noted), bar...)
	g.buttons = draw.Buttons(bar, parts, ids)
	for i := range g.buttons {
		b := &g.buttons[i]
		b.X, b.Y = b.X+2, b.Y+height-1-len(bar) // offset by the border
	}
	for i, line := range bar {
		bar[i] = l.Fit(line, width-4)
	}
	title, style := g.title()
	var sections []draw.Section
	if g.listed > 0 {
		first, end := g.window()
		sections = append(sections, draw.Section{Title: title, Lines: draw.Padded(g.list(width - 4)), Note: l.Span(first, end, g.queue.count()), Style: style})
		title = ""
	}
	return l.Frame(width, style, append(sections,
		draw.Section{Title: title, Note: note, Lines: draw.Padded(content), Style: style},
		draw.Section{Lines: draw.Padded(bar), Style: style},
	)...)
}

func (g *Dialog) title() (string, lipgloss.Style) {
	ask := g.current()
	glyph, style := ask.sign(g.styles)
	title := ask.Name()
	about := ask.about()
	switch n := g.queue.count(); {
	case g.editor != nil:
		title = "Edit arguments"
		if _, form := ask.(Elicitation); form {
			title = "Answer"
		}
	case g.confirm != nil:
		title = g.confirm.title
		if g.confirm.about != nil {
			about = g.confirm.about
		}
	case n > 1:
		title += fmt.Sprintf(" %d of %d", g.queue.at+1, n)
	}
	return style.Bold(true).Render(glyph + " " + strings.Join(append([]string{title}, about...), " "+g.styles.Glyphs.Separator+" ")), style
}

// bar draws the keys of the dialog, faint while they are inactive.
func (g *Dialog) bar(width int) []string {
	lines, _, _ := g.barOf(width)
	return lines
}

// barOf returns the lines of the bar, the ids of its actions, and each action as
// drawn.
func (g *Dialog) barOf(width int) (lines, ids, parts []string) {
	l := g.styles
	choices := g.current().choices(g.keys)
	leave := choice{id: "dialog.leave", does: "look around", short: "back"}
	switch {
	case g.editor != nil:
		if g.editor.Fault != "" {
			lines = draw.Paint(l.Warning, draw.Wrap(g.editor.Fault, width))
			lines = lines[:min(len(lines), 3)]
		}
		choices = []choice{{id: "question.send", does: g.current().resends(), short: g.current().resends()}}
		leave.does = "discard"
	case g.confirm != nil:
		choices = []choice{{id: "gate.once", does: g.confirm.does, short: g.confirm.short}}
		if g.confirm.refuse != nil {
			choices = append(choices, choice{id: "gate.deny", does: "no to all", short: "no to all"})
		}
		if other := g.confirm.other; other != nil {
			choices = append(choices, choice{id: "gate.always", does: other.offers + " instead", short: other.offers})
		}
		leave.does = "back"
	default:
		if like := g.queue.like(); len(like) > 1 {
			all := "all similar…"
			if like[0].Session {
				all = "all of them…"
			}
			choices = append(choices, choice{id: "gate.all", does: all, short: "all"})
		}
		if g.queue.count() > 1 {
			choices = append(choices, choice{id: "gate.next", does: "next", short: "next"})
		}
	}
	choices = append(choices, leave)
	parts, keys := g.flow(choices, width)
	if unseen := g.reading.unseenCount(); unseen != "" && g.editor == nil && g.confirm == nil {
		read := len(keys)
		for i := range choices {
			if choices[i].id == "gate.once" {
				choices[i].does += " (" + unseen + g.reading.unseenPlace() + ")"
				choices[i].short += fmt.Sprintf(" (%d more)", len(g.reading.unseen()))
			}
		}
		// The bar must not grow and cover a line once all lines have been in view.
		for parts, keys = g.flow(choices, width); len(keys) < read; {
			keys = append(keys, "")
		}
	}
	for _, c := range choices {
		if !c.hidden {
			ids = append(ids, c.id)
		}
	}
	return append(lines, keys...), ids, parts
}

// flow draws choices and the lines that they take, with shorter wording if those
// would be more than two.
func (g *Dialog) flow(choices []choice, width int) (parts, lines []string) {
	parts = g.draws(choices, false)
	if lines = draw.Flow(parts, "   ", width); len(lines) > 2 {
		parts = g.draws(choices, true)
		lines = draw.Flow(parts, "  ", width)
	}
	return parts, lines
}

// draws draws choices, with shorter wording if short is set.
func (g *Dialog) draws(choices []choice, short bool) []string {
	l := g.styles
	var parts []string
	for _, c := range choices {
		keyStyle, textStyle := l.Key.Bold(true), l.Text
		if g.guard.Ignores() || g.muted || c.refuse != "" {
			keyStyle, textStyle = l.Faint, l.Faint
		}
		does := c.does
		if short {
			does = c.short
		}
		does = strings.Replace(does, "…", l.Glyphs.Ellipsis, 1)
		switch {
		case c.hidden:
		case c.id == g.guard.Waiting() && c.refuse == "":
			parts = append(parts, l.ArmedKey(g.keys.Shown(c.id), does))
		default:
			parts = append(parts, keyStyle.Render(g.keys.Shown(c.id))+" "+textStyle.Render(does))
		}
	}
	return parts
}

// Cursor returns the text cursor of the argument editor, nil for none.
func (g *Dialog) Cursor() *tea.Cursor {
	if !g.Editing() {
		return nil
	}
	c := g.editor.Cursor()
	if c != nil {
		c.X, c.Y = c.X+2, c.Y+1 // inside the border
	}
	return c
}
