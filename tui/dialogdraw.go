package tui

import (
	"fmt"
	"strings"

	"charm.land/lipgloss/v2"
)

// prepare writes what is asked for a dialog of that width, its border included.
func (g *askDialog) prepare(width int) {
	if g.doc == nil || g.doc.width != width-4 {
		g.doc = &document{look: g.look, width: width - 4}
		if g.confirm != nil {
			g.confirm.write(g.doc)
			return
		}
		g.current().write(g.look, g.doc)
	}
}

// height is how many lines the dialog would like, its border included.
func (g *askDialog) height(width int) int {
	if !g.showing() {
		return 0
	}
	g.prepare(width)
	lines := len(g.doc.lines)
	if g.editor != nil {
		lines = max(lines, g.editor.wishes(width-4))
	}
	return lines + len(g.bar(width-4)) + 3 + g.listHeight()
}

// setSize gives the dialog its place, its border included.
func (g *askDialog) setSize(width, height int) {
	if !g.showing() || height == 0 {
		return
	}
	g.place(width, height)
	if g.editor != nil {
		g.editor.setSize(width-4, g.body)
	}
}

// place shares out the lines of the dialog, its border included: the list of
// what waits is short, or left out, where the call would have too little room.
func (g *askDialog) place(width, height int) {
	const enough = 8 // lines of the call
	g.body = max(height-3-len(g.bar(width-4)), 1)
	g.listed = 0
	if g.listHeight() == 0 {
		return
	}
	call := enough
	if g.doc != nil {
		call = min(call, len(g.doc.lines))
	}
	if list := min(g.listHeight(), g.body-call); list > 2 { // two calls, and the edge below them
		g.body, g.listed = g.body-list, list-1
	}
}

// draw draws the dialog in exactly height lines of exactly width cells.
func (g *askDialog) draw(width, height int) []string {
	l := g.look
	g.prepare(width)
	g.place(width, height)
	note := ""
	var content []string
	if g.editor != nil {
		content = l.block(g.editor.lines(), width-4, g.body)
	} else {
		content = g.doc.rows(&g.top, g.body)
		g.read = max(g.read, g.top+g.body)
		note = g.doc.place(g.top, g.body)
	}
	bar, ids, parts := g.barOf(width - 4)
	g.buttons = buttons(bar, parts, ids)
	for i := range g.buttons {
		b := &g.buttons[i]
		b.x, b.y = b.x+2, b.y+height-1-len(bar) // beside and over the border
	}
	for i, line := range bar {
		bar[i] = l.fit(line, width-4)
	}
	title, style := g.title()
	var sections []section
	if g.listed > 0 {
		sections = append(sections, section{title: title, lines: padded(g.list(width - 4)), style: style})
		title = ""
	}
	return l.frame(width, style, append(sections,
		section{title: title, note: note, lines: padded(content), style: style},
		section{lines: padded(bar), style: style},
	)...)
}

func (g *askDialog) title() (string, lipgloss.Style) {
	ask := g.current()
	glyph, style := ask.sign(g.look)
	title := ask.name()
	about := ask.about()
	switch n := len(g.queue); {
	case g.editor != nil:
		title = "Edit arguments"
	case g.confirm != nil:
		title = g.confirm.title
		if g.confirm.about != nil {
			about = g.confirm.about
		}
	case n > 1:
		title += fmt.Sprintf(" %d of %d", g.at+1, n)
	}
	return style.Bold(true).Render(glyph + " " + strings.Join(append([]string{title}, about...), " "+g.look.glyphs.Separator+" ")), style
}

// bar is the keys of the dialog, faint while they do nothing yet.
func (g *askDialog) bar(width int) []string {
	lines, _, _ := g.barOf(width)
	return lines
}

// barOf is the bar with the actions in it, and each as it is drawn there.
func (g *askDialog) barOf(width int) (lines, ids, parts []string) {
	l := g.look
	if g.grace && g.early {
		return []string{l.Warning.Render(l.cut("That key came too early to be an answer. Press it again.", width))}, nil, nil
	}
	choices := g.current().choices(g.keys)
	leave := choice{id: "dialog.leave", key: g.keys.Away, does: "look around", short: "back"}
	switch {
	case g.editor != nil:
		if g.editor.fault != "" {
			lines = paint(l.Warning, wrap(g.editor.fault, width))
			lines = lines[:min(len(lines), 3)]
		}
		choices = []choice{{id: "question.send", key: g.keys.SendArgs, does: g.current().resends(), short: "send"}}
		leave.does = "leave them as they were"
	case g.confirm != nil:
		choices = []choice{{id: "gate.once", key: g.keys.Once, does: g.confirm.does, short: g.confirm.short}}
		leave.does = "back"
	default:
		if len(g.like()) > 1 {
			choices = append(choices, choice{id: "gate.all", key: g.keys.ApproveAll, does: "all like this…", short: "all"})
		}
		if len(g.queue) > 1 {
			choices = append(choices, choice{id: "gate.next", key: g.keys.NextAsk, does: "next", short: "next"})
		}
	}
	choices = append(choices, leave)
	parts = g.draws(choices, false)
	keys := flow(parts, "   ", width)
	if len(keys) > 2 {
		parts = g.draws(choices, true)
		keys = flow(parts, "  ", width)
	}
	for _, c := range choices {
		if !c.hidden {
			ids = append(ids, c.id)
		}
	}
	return append(lines, keys...), ids, parts
}

// draws draws choices, in few words or in fewer.
func (g *askDialog) draws(choices []choice, short bool) []string {
	l := g.look
	var parts []string
	for _, c := range choices {
		keyStyle, textStyle := l.Key.Bold(true), l.Text
		if g.grace || g.mute || c.refuse != "" {
			keyStyle, textStyle = l.Faint, l.Faint
		}
		does := c.does
		if short {
			does = c.short
		}
		does = strings.Replace(does, "…", l.glyphs.Ellipsis, 1)
		if !c.hidden {
			parts = append(parts, keyStyle.Render(c.key.Help().Key)+" "+textStyle.Render(does))
		}
	}
	return parts
}
