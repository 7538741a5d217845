package tui

import (
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// helpDialog shows every key there is, made from the actions, with those first
// that act where it was opened.
type helpDialog struct {
	look   *look
	keys   *keyMap
	groups []group
	here   place  // where it was opened
	now    []hint // the keys of the dialog that it was opened over
	replay bool   // and it was a replay

	commands group // of the chat

	open bool
	top  int
	body int

	version string // of the program
}

func (h *helpDialog) clicked(int)       {}
func (h *helpDialog) wheeled(lines int) { h.top += lines }

// handlers are the actions of help.
func (h *helpDialog) handlers() handlers {
	shut := func() { h.open, h.top = false, 0 }
	return handlers{"dialog.leave": {do: just(shut)}}.with(scrolling(h.body, func(lines int) { h.top += lines }))
}

// typed closes help: every other key does.
func (h *helpDialog) typed(tea.KeyPressMsg) wanted {
	h.open, h.top = false, 0
	return wanted{}
}

func (h *helpDialog) shown() bool { return h.open }

func (h *helpDialog) hints() []hint {
	return []hint{h.keys.hint("close", "dialog.leave"), h.keys.hint("scroll", "move.up", "move.down"), h.keys.hint("top, end", "move.first", "move.last")}
}

// openHelp opens help on the keys that act now.
func (m *Model) openHelp() {
	h := m.help
	h.now, h.here, h.replay = nil, m.topic(), m.options.Replay
	if over := m.over(); over != nil {
		h.now = over.hints()
	}
	h.commands = m.commandGroup()
	h.open, h.top = true, 0
}

// topic is the place that help is wanted of.
func (m *Model) topic() place {
	switch over := m.over(); {
	case over == overlay(m.review):
		return placeReview
	case over != nil:
		return placeDialog
	case m.control != nil && m.focus == paneChat:
		return placeReplay
	}
	return m.here()
}

// ordered is the groups with those that act here first. In a replay those come
// last that ask something of a session or answer it.
func (h *helpDialog) ordered() []group {
	var here, first, rest, idle []group
	for _, g := range h.groups {
		switch g.place {
		case h.here:
			here = append(here, g)
		case placeReplay:
			if h.replay {
				first = append(first, g)
			} else {
				rest = append(rest, g)
			}
		case placeChat, placeWriting, placeGate, placeQuestion, placeReview, placeQuit:
			if h.replay {
				idle = append(idle, g)
			} else {
				rest = append(rest, g)
			}
		default:
			rest = append(rest, g)
		}
	}
	return slices.Concat(first, here, rest, idle)
}

// draw draws help in the middle of exactly height lines of width cells.
func (h *helpDialog) draw(screenWidth, height int) []string {
	l := h.look
	const column, oneColumn, twoColumns = 46, 64, 100 // cells
	groups := h.ordered()
	width := min(screenWidth, oneColumn)
	if screenWidth >= twoColumns {
		width = twoColumns
	}
	doc := &document{look: l, width: width - 4}
	doc.heading("Signs")
	doc.lines = append(doc.lines, flow(h.signs(), "   ", doc.width)...)
	if len(h.now) > 0 {
		doc.heading("In the dialog behind this")
		for _, k := range h.now {
			doc.lines = append(doc.lines, "  "+l.Key.Render(k.label)+"  "+k.does)
		}
	}
	doc.blank()
	if width == twoColumns {
		left, right := h.columns(column, groups)
		for i := range max(len(left), len(right)) {
			doc.lines = append(doc.lines, l.fit(at(left, i), column+2)+at(right, i))
		}
	} else {
		doc.lines = append(doc.lines, h.column(doc.width, groups)...)
	}
	if commands := h.commandLines(doc.width); len(commands) > 0 {
		doc.blank()
		doc.lines = append(doc.lines, commands...)
	}
	h.body = max(min(len(doc.lines), height-2), 1)
	title := l.Strong.Render(strings.TrimSpace("replan " + h.version))
	lines := l.frame(width, l.Focus, section{
		title: title, lines: padded(doc.rows(&h.top, h.body)), note: doc.place(h.top, h.body), style: l.Focus,
	})
	return l.middle(lines, width, screenWidth, height)
}

// columns draws groups in two columns of about the same length, in their order.
func (h *helpDialog) columns(width int, groups []group) (left, right []string) {
	all := 0
	for _, g := range groups {
		all += len(g.actions) + 2
	}
	n := 0
	for i, lines := 0, 0; i < len(groups) && lines < all/2; i++ {
		lines += len(groups[i].actions) + 2
		n = i + 1
	}
	return h.column(width, groups[:n]), h.column(width, groups[n:])
}

// column draws groups of keys below each other.
func (h *helpDialog) column(width int, groups []group) []string {
	l := h.look
	doc := &document{look: l, width: width}
	names := 0
	for _, g := range h.groups {
		for _, a := range g.actions {
			names = max(names, visibleWidth(a.key.Help().Key))
		}
	}
	for _, g := range groups {
		doc.heading(g.title)
		for _, a := range g.actions {
			name := a.key.Help().Key
			for _, line := range wrap(a.key.Help().Desc, width-names-4) {
				doc.lines = append(doc.lines, "  "+l.Key.Render(l.fit(name, names))+"  "+line)
				name = ""
			}
		}
	}
	return doc.lines
}

// signs explains the glyphs.
func (h *helpDialog) signs() []string {
	l, g := h.look, h.look.glyphs
	return []string{
		l.Muted.Render(g.Draft) + " drafting",
		l.Muted.Render(g.Pending) + " waits",
		l.Text.Render(g.Ready) + " ready",
		l.Running.Render(g.Spinner[0]) + " runs",
		l.Warning.Render(g.Gate) + " asks you",
		l.Success.Render(g.Done) + " done",
		l.Danger.Render(g.Failed) + " failed",
		l.Warning.Render(g.Retry) + " retry",
		l.Faint.Render(g.Skipped) + " skipped",
		l.Warning.Render(g.Doubt) + " in doubt",
		l.Warning.Render(g.Stopped) + " stopped",
		l.Added.Render(g.Added) + " added",
		l.Removed.Render(g.Removed) + " removed",
		l.Warning.Render(g.Revised) + " revised",
		l.Faint.Render(g.Blocker+"5") + " waits for 5",
		l.Muted.Render(g.Folded) + " folded",
	}
}
