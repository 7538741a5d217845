package dialog

import (
	"slices"
	"strings"

	"replan/tui/draw"
	"replan/tui/keymap"

	tea "charm.land/bubbletea/v2"
)

// Help lists every key, generated from the actions. Keys for the place it was
// opened from come first.
type Help struct {
	Look   *draw.Look
	Keys   *keymap.Map
	Groups []keymap.Group
	Here   keymap.Place  // where it was opened from
	Now    []keymap.Hint // keys of the dialog below it
	Replay bool          // opened from a replay

	Commands keymap.Group // chat commands

	Open bool
	Top  int
	body int

	Version string // program version
}

// Clicked handles a mouse click.
func (h *Help) Clicked(int) {}

// Wheeled scrolls by a turn of the mouse wheel.
func (h *Help) Wheeled(lines int) { h.Top += lines }

// Handlers returns the actions of the help dialog.
func (h *Help) Handlers() keymap.Handlers {
	shut := func() { h.Open, h.Top = false, 0 }
	return keymap.Handlers{"dialog.leave": {Do: keymap.Just(shut)}}.With(keymap.Scrolling(h.body, func(lines int) { h.Top += lines }))
}

// Typed closes help on any other key.
func (h *Help) Typed(tea.KeyPressMsg) keymap.Wanted {
	h.Open, h.Top = false, 0
	return keymap.Wanted{}
}

// Shown reports whether the dialog is open.
func (h *Help) Shown() bool { return h.Open }

// Hints lists the keys that are active now.
func (h *Help) Hints() []keymap.Hint {
	return []keymap.Hint{h.Keys.Hint("close", "dialog.leave"), h.Keys.Hint("scroll", "move.up", "move.down"), h.Keys.Hint("top, end", "move.first", "move.last")}
}

// ordered returns the groups with those for the current place first. In a replay,
// groups that need a live session come last.
func (h *Help) ordered() []keymap.Group {
	var here, first, rest, idle []keymap.Group
	for _, g := range h.Groups {
		switch g.Place {
		case h.Here:
			here = append(here, g)
		case keymap.PlaceReplay:
			if h.Replay {
				first = append(first, g)
			} else {
				rest = append(rest, g)
			}
		case keymap.PlaceChat, keymap.PlaceWriting, keymap.PlaceGate, keymap.PlaceQuestion, keymap.PlaceReview, keymap.PlaceQuit:
			if h.Replay {
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

// Draw draws help centered in exactly height lines of width cells.
func (h *Help) Draw(screenWidth, height int) []string {
	l := h.Look
	const column, oneColumn, twoColumns = 46, 64, 100 // cells
	groups := h.ordered()
	width := min(screenWidth, oneColumn)
	if screenWidth >= twoColumns {
		width = twoColumns
	}
	doc := &draw.Document{Look: l, Width: width - 4}
	doc.Heading("Signs")
	doc.Lines = append(doc.Lines, draw.Flow(h.signs(), "   ", doc.Width)...)
	if len(h.Now) > 0 {
		doc.Heading("In the dialog behind this")
		for _, k := range h.Now {
			doc.Lines = append(doc.Lines, "  "+l.Key.Render(k.Label)+"  "+k.Does)
		}
	}
	doc.Blank()
	if width == twoColumns {
		left, right := h.columns(column, groups)
		for i := range max(len(left), len(right)) {
			doc.Lines = append(doc.Lines, l.Fit(draw.At(left, i), column+2)+draw.At(right, i))
		}
	} else {
		doc.Lines = append(doc.Lines, h.column(doc.Width, groups)...)
	}
	if commands := h.commandLines(doc.Width); len(commands) > 0 {
		doc.Blank()
		doc.Lines = append(doc.Lines, commands...)
	}
	h.body = max(min(len(doc.Lines), height-2), 1)
	title := l.Strong.Render(strings.TrimSpace("replan " + h.Version))
	lines := l.Frame(width, l.Focus, draw.Section{
		Title: title, Lines: draw.Padded(doc.Rows(&h.Top, h.body)), Note: doc.Place(h.Top, h.body), Style: l.Focus,
	})
	return l.Middle(lines, width, screenWidth, height)
}

// columns splits groups, in order, into two columns of similar length.
func (h *Help) columns(width int, groups []keymap.Group) (left, right []string) {
	all := 0
	for _, g := range groups {
		all += len(g.Actions) + 2
	}
	n := 0
	for i, lines := 0, 0; i < len(groups) && lines < all/2; i++ {
		lines += len(groups[i].Actions) + 2
		n = i + 1
	}
	return h.column(width, groups[:n]), h.column(width, groups[n:])
}

// column draws groups of keys in one column.
func (h *Help) column(width int, groups []keymap.Group) []string {
	l := h.Look
	doc := &draw.Document{Look: l, Width: width}
	names := 0
	for _, g := range h.Groups {
		for _, a := range g.Actions {
			names = max(names, draw.VisibleWidth(a.Key.Help().Key))
		}
	}
	for _, g := range groups {
		doc.Heading(g.Title)
		for _, a := range g.Actions {
			name := a.Key.Help().Key
			for _, line := range draw.Wrap(a.Key.Help().Desc, width-names-4) {
				doc.Lines = append(doc.Lines, "  "+l.Key.Render(l.Fit(name, names))+"  "+line)
				name = ""
			}
		}
	}
	return doc.Lines
}

// signs explains the glyphs.
func (h *Help) signs() []string {
	l, g := h.Look, h.Look.Glyphs
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
