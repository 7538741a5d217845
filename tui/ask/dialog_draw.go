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
	if g.editor.on() || g.confirm != nil || g.reading.detailed() {
		return nil
	}
	notes := g.current().notes(g.styles, width)
	if most := max(height/5, 1); len(notes) > most {
		notes = notes[:most]
		if more := g.styles.Glyphs.Folded; !strings.HasSuffix(draw.Unstyled(notes[most-1]), more) {
			notes[most-1] = g.styles.Cut(notes[most-1], width-2) + g.styles.Faint.Render(" "+more)
		}
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
	lines = max(lines, g.editor.wishes(width-4))
	return lines + len(g.notesFor(width-4, lines*5)) + len(g.bar(width-4).lines) + 3 + g.listHeight()
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
	case g.editor.on():
		g.editor.setSize(width-4, g.reading.inView())
	case !s.Over && !s.Muted:
		g.reading.note()
	}
}

// place allots the lines of the dialog, including the border. It shortens or omits
// the request list if the call would get too little room.
func (g *Dialog) place(width, height int) {
	const enough = 8 // lines for the call
	body := max(height-3-len(g.bar(width-4).lines), 1)
	g.noted = g.notesFor(width-4, body)
	body = max(body-len(g.noted), 1)
	g.listed = 0
	if wished := g.listHeight(); wished > 0 {
		call := enough
		if g.reading.drawn() {
			call = min(call, g.reading.lines())
		}
		if list := min(wished, body-call); list > 2 { // two requests and the edge below them
			body, g.listed = body-list, list-1
		}
	}
	g.reading.setLines(body)
}

// listHeight returns the height of the list of requests, 0 if none is shown.
func (g *Dialog) listHeight() int {
	if g.editor.on() || g.confirm != nil {
		return 0
	}
	return g.queue.listHeight()
}

// View draws the dialog on exactly size.H lines of size.W cells.
func (g *Dialog) View(size draw.Rect) []string {
	l, width, height := g.styles, size.W, size.H
	g.prepare(width)
	g.place(width, height)
	note := ""
	var content []string
	if g.editor.on() {
		content = l.Block(g.editor.lines(), width-4, g.reading.inView())
	} else {
		content, note = g.reading.rows()
	}
	drawn := g.bar(width - 4)
	drawn.lines = append(slices.Clone(g.noted), drawn.lines...)
	g.refusal.drawnAt(height - 1 - len(drawn.lines) + len(g.noted))
	g.keyBar.place(drawn, height-1-len(drawn.lines))
	bar := drawn.lines
	for i, line := range bar {
		bar[i] = l.Fit(line, width-4)
	}
	title, style := g.title()
	var sections []draw.Section
	if g.listed > 0 {
		first, end := g.queue.window(g.listed)
		sections = append(sections, draw.Section{Title: title, Lines: draw.Padded(g.queue.list(l, g.listed, width-4)), Note: l.Span(first, end, g.queue.count()), Style: style})
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
	case g.editor.on():
		title = "Edit arguments"
		if _, form := ask.(Elicitation); form {
			title = "Answer"
		}
	case g.confirm != nil:
		title, about = g.confirm.heading(about)
	case n > 1:
		title += fmt.Sprintf(" %d of %d", g.queue.place(), n)
	}
	return style.Bold(true).Render(glyph + " " + strings.Join(append([]string{title}, about...), " "+g.styles.Glyphs.Separator+" ")), style
}

// bar draws the keys of the dialog, below what is wrong with edited arguments.
func (g *Dialog) bar(width int) barLines {
	unseen := ""
	if !g.writes() && g.confirm == nil && g.reading.unseenCount() != "" {
		unseen = g.reading.unseenCount() + g.reading.unseenPlace()
	}
	drawn := g.keyBar.draw(g.offered(), g.muted, unseen, len(g.reading.unseen()), width)
	drawn.lines = slices.Concat(g.editor.faultLines(width), g.refusal.lines(width), drawn.lines)
	return drawn
}

// offered returns the choices that the dialog offers now.
func (g *Dialog) offered() []choice {
	leave := choice{id: "dialog.leave", does: "look around", short: "back"}
	switch {
	case g.editor.on():
		leave.does = "discard"
		return []choice{{id: "question.send", does: g.current().resends(), short: g.current().resends()}, leave}
	case g.refusal.on():
		leave.does = "back"
		return []choice{g.refusal.choice(), leave}
	case g.reading.detailed():
		leave.does = "back"
	case g.confirm != nil:
		leave.does = "back"
		return append(g.confirm.choices(), leave)
	}
	return append(g.answers.offered(), leave)
}

// viewID identifies what is in view: a request, or what an answer to it covers.
func (g *Dialog) viewID() string {
	if g.confirm != nil {
		return g.confirm.id()
	}
	return g.current().id()
}

// Cursor returns the text cursor of the argument editor, nil for none.
func (g *Dialog) Cursor() *tea.Cursor {
	if !g.Editing() {
		return nil
	}
	if g.refusal.on() {
		return g.refusal.cursor()
	}
	c := g.editor.cursor()
	if c != nil {
		c.X, c.Y = c.X+2, c.Y+1 // inside the border
	}
	return c
}
